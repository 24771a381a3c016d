"""The report of a period: what a monitor's windows said in a month, a quarter or other dates."""
