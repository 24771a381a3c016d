"""Which windows are due, and whether a monitor has anything to do at all."""
