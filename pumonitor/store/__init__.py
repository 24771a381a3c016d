"""The state database: windows, results and what is still to be sent."""
