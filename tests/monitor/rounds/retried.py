"""A round that tries again what failed, and what is recorded after it."""

from __future__ import annotations

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import recorded

__all__ = ["run_again"]


def run_again(path, now):
    """The round, the newest results, and the states of alerts by rule."""
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: now, deliver=False
    ) as jobs:
        keys = [window.window_key for window in jobs.ledger.windows("card-fraud")]
        jobs.ledger.reopen(keys, which="failed", actor="test")
        done = jobs.run()
        alerts = {alert.rule: alert.state for alert in jobs.ledger.alerts.current("card-fraud")}
        return done, recorded(jobs.ledger, revisions="latest"), alerts
