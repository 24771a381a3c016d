"""Find windows that were evaluated under another configuration, and what has changed since."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pumonitor.monitor.config.changes import changes_in, unidentified
from pumonitor.monitor.config.file import configuration_hash, configuration_meaning
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import EvaluatedWindow
from pumonitor.text import day_text


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherConfiguration:
    """Windows of a monitor that were evaluated under another configuration than the file's.

    Attributes
    ----------
    monitor : str
    windows : int
    first, last : datetime
        Start of the first of them and end of the last.
    changes : tuple of str
        Differences of the present configuration: "threshold was 0.5 and is now 0.8".
    """

    monitor: str
    windows: int
    first: datetime
    last: datetime
    changes: tuple[str, ...]

    @property
    def from_day(self) -> str:
        """Day in UTC on which the first of these windows starts."""
        return day_text(self.first)

    @property
    def to_day(self) -> str:
        """Day in UTC after the last of these windows."""
        return day_text(self.last + timedelta(days=1) - timedelta.resolution)

    def said(self) -> str:
        """One sentence: how many windows, from when to when, and which keys changed."""
        one = self.windows == 1
        return (
            f"{self.monitor}: {self.windows} window{'' if one else 's'} from {self.from_day} to "
            f"{day_text(self.last)} {'was' if one else 'were'} evaluated under another "
            f"configuration ({'; '.join(self.changes)})"
        )

    def command(self, path: Path) -> str:
        """Command that evaluates these windows under the file's configuration."""
        config = "" if path == Path("pumonitor.yaml") else f" --config {path}"
        return (
            f"pumonitor backfill {self.monitor} --from {self.from_day} --to {self.to_day}{config}"
        )


def other_configurations(
    ledger: LedgerReader, monitors: Iterable[Monitor]
) -> list[OtherConfiguration]:
    """`other_configuration` of many monitors, whose configurations are read at once."""
    stored = ledger.configurations_of()
    found = [other_configuration(ledger, one, stored.get(one.name, {})) for one in monitors]
    return [one for one in found if one is not None]


def other_configuration(
    ledger: LedgerReader,
    monitor: Monitor,
    stored: Mapping[str, Mapping[str, Any]] | None = None,
) -> OtherConfiguration | None:
    """Windows evaluated under another configuration and not under this one; None without any.

    Sources whose address cannot be read count as unchanged. `stored` are the monitor's stored
    configurations, where they have been read already.
    """
    now = configuration_meaning(monitor)
    ignored = unidentified(monitor)
    if stored is None:
        stored = ledger.configurations(monitor.name)
    same = _same(stored, monitor)
    if set(stored) <= same:
        return None
    done = ledger.evaluated_windows(monitor.name)
    covered = _Covered([one for one in done if one.configuration in same])
    others = [one for one in done if one.configuration not in same and one.start not in covered]
    if not others:
        return None
    # Configurations are in the order in which they were used; the last of them is the one known.
    last = max(others, key=lambda one: list(stored).index(one.configuration))
    return OtherConfiguration(
        monitor=monitor.name,
        windows=len({one.start for one in others}),
        first=min(one.start for one in others),
        last=max(one.end for one in others),
        changes=tuple(changes_in(stored[last.configuration], now, ignored)),
    )


def stored_hash(ledger: LedgerReader, monitor: Monitor) -> str:
    """Hash of a monitor's stored results, also when the address of a table is not set."""
    same = _same(ledger.configurations(monitor.name), monitor)
    mine, current = configuration_hash(monitor), ledger.configuration(monitor.name)
    return current if mine not in same and current in same else mine


def _same(stored: Mapping[str, Mapping[str, Any]], monitor: Monitor) -> set[str]:
    """Stored configurations that equal the file's in all parts that can be read."""
    mine = configuration_hash(monitor)
    ignored = unidentified(monitor)
    if not ignored:
        return {mine} & set(stored)
    now = configuration_meaning(monitor)
    return {key for key, meaning in stored.items() if not any(changes_in(meaning, now, ignored))}


class _Covered:
    """Set of moments: those inside any of the given windows."""

    def __init__(self, windows: Sequence[EvaluatedWindow]) -> None:
        in_order = sorted(windows, key=lambda one: one.start)
        self._starts = [one.start for one in in_order]
        self._ends = [one.end for one in in_order]

    def __contains__(self, moment: datetime) -> bool:
        place = bisect_right(self._starts, moment)
        return place > 0 and moment < self._ends[place - 1]
