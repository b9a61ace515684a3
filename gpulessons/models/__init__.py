"""What notebooks train with the course's ops: `digits`, `letters`, and output layers: `outputs`."""
