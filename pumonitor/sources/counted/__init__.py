"""Counts that somebody else has made, in a small table: its schema, and how it is read."""
