"""The two tables of a monitor to the counts of a window, in the engine that holds them."""
