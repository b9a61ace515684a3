"""What a compiler makes of a kernel (`cuda`: PTX, registers) and of a loop (`cpu`: vectors)."""
