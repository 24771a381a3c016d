"""The monitor: configuration, jobs, schedule and what people read of it."""
