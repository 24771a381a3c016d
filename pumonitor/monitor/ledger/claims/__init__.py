"""Claims of processes on windows: owners, leases and fencing tokens."""
