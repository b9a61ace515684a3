"""What notebooks train, `digits` and `letters`, with their data; and an `index` kept in a file."""
