"""The steps of a window: planned, collected, evaluated."""
