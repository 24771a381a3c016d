"""YAML with its line numbers, and the list of what is wrong in it."""
