"""A rule over the windows: evidence for and against it, and the states of its alerts."""
