"""`pumonitor init`: write a configuration from two tables, asking what they leave open."""
