"""From the counts of a window to its results, and to its differences from the reference."""
