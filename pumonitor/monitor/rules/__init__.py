"""Decisions without input or output: numpy and scipy only, no clock, file or database."""
