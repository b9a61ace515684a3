"""How GPUs accelerate deep learning, and when they don't: answered by measurement."""
