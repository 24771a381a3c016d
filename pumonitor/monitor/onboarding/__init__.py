"""`pumonitor init`: from two tables to a configuration, with questions where they do not tell."""
