"""What pages are made from: the configured monitors, the ledger, the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.kept import Kept
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Monitors whose pages are shown.

    Attributes
    ----------
    monitors : mapping of str to Monitor
    ledger : Ledger
    clock : Clock
    kept : Kept
        What has been computed from stored revisions.
    """

    monitors: Mapping[str, Monitor]
    ledger: Ledger
    clock: Clock
    kept: Kept = field(default_factory=Kept)

    @contextmanager
    def at_once(self) -> Iterator[Ledger]:
        """The ledger as it is at one moment, so that a page shows one revision of everything."""
        with self.ledger.database.snapshot() as database:
            yield Ledger(database)

    def zone(self, monitor: str) -> ZoneInfo:
        """The zone in which a monitor's windows begin, and in which its pages show times."""
        return ZoneInfo(self.monitors[monitor].zone)
