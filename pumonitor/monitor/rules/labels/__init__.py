"""Label maturity and label delay of a window, and its expected estimates at maturity."""
