"""`pumonitor serve`: the schedule, the health server, and waiting for the state database."""
