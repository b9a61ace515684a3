"""The networks that notebooks train with the course's own ops: `digits`, `letters`, and their data."""
