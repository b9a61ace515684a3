"""One file per op, every version of it side by side. Start with activations.py."""
