"""The state database: windows, results, alerts and messages that are still to be sent."""
