"""Columns of all engines: their types, their times, and the SQL in which engines differ."""
