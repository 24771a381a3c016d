"""How a window differs from the windows of its reference, and what the difference is made of."""
