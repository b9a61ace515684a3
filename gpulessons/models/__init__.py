"""The networks that notebooks train with the course's ops: `digits`, `letters`, and their data."""
