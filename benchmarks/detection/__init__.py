"""How soon changes are seen, how often without cause, and whether the cause is named right."""
