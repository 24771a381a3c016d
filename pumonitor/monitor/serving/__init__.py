"""`pumonitor serve`: the schedule, the health server, a state database that is not there yet."""
