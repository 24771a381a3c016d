"""Whether a monitor is configured to train an auxiliary score."""

from __future__ import annotations

from pumonitor.monitor.config.sections.monitor import Monitor


def has_auxiliary(monitor: Monitor) -> bool:
    """Whether the class prior of a monitor is followed by a score of configured features."""
    return bool(monitor.predictions.features) and monitor.is_prior_followed
