"""Tracks of monitors in memory, brought to the panes up to which the ledger says they are folded.

Others fold as well: before a worker goes on it takes in what they have taken in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

from pumonitor.monitor.alerts.track import Track
from pumonitor.monitor.alerts.watched import Watched
from pumonitor.monitor.ledger.alerts.alerts import AlertTables
from pumonitor.monitor.ledger.alerts.panes import Position, panes_until, with_results
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import PaneSeen, Progress
from pumonitor.monitor.rules.alerts.rule import Baseline

__all__ = ["KeptTracks", "Placed"]

Placed = tuple[Progress, Track]
"""A track and how far its rules are folded."""

_REMEMBERED: Final = 8
"""Monitors whose tracks are kept in memory: those of all would grow with all history."""


class KeptTracks:
    """The tracks of each monitor, kept from one transaction to the next.

    Parameters
    ----------
    ledger : Ledger
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._kept: dict[str, list[Placed]] = {}

    def forget(self, name: str) -> None:
        """Drop the tracks of a monitor: the next transaction reads them anew."""
        self._kept.pop(name, None)

    def of(
        self,
        watched: Watched,
        tables: AlertTables,
        *,
        baseline: Baseline | None,
        left_out: Set[str],
    ) -> list[Placed]:
        """The tracks of a monitor where the ledger says its rules are.

        Parameters
        ----------
        watched : Watched
        tables : AlertTables
        baseline : Baseline or None
            Of the monitor's reference.
        left_out : set of str
            Keys of rules that cannot be evaluated.

        Returns
        -------
        list of (Progress, Track)
            Rules folded equally far share a track. The list is the one kept: whoever takes in more
            panes writes into it how far the track is then.
        """
        stored = tables.progress(watched.name)
        wanted = {
            rule.key: replace(stored.get(rule.key, Progress()), last_error=None)
            for rule in watched.rules
            if rule.key not in left_out and not rule.goes_by_the_clock
        }
        kept = self._kept.get(watched.name)
        if kept is None or not _can_catch_up(kept, wanted):
            for other in [name for name in self._kept if name != watched.name][:-_REMEMBERED]:
                self.forget(other)
            kept = self._kept[watched.name] = self._loaded(watched, tables, wanted, baseline)
        else:
            self._catch_up(kept, watched, tables, wanted, baseline)
        return kept

    def _loaded(
        self,
        watched: Watched,
        tables: AlertTables,
        wanted: Mapping[str, Progress],
        baseline: Baseline | None,
    ) -> list[Placed]:
        """From all panes that were taken in so far."""
        placed = []
        for progress in sorted(set(wanted.values()), key=_order):
            together = [rule for rule in watched.rules if wanted.get(rule.key) == progress]
            track = Track(together, baseline=baseline, scores_of=watched.scores_of)
            if progress.position is not None:
                panes = track.that_count(self.panes_until(watched, tables, progress.position))
                track.load(with_results(tables.connection, panes, metrics=track.metrics))
            placed.append((progress, track))
        return placed

    def _catch_up(
        self,
        kept: list[Placed],
        watched: Watched,
        tables: AlertTables,
        wanted: Mapping[str, Progress],
        baseline: Baseline | None,
    ) -> None:
        """Take in the panes that others have taken in since."""
        for place, (at, track) in enumerate(kept):
            track.set_baseline(baseline)
            progress = wanted[next(iter(track.folds))]
            if progress != at and progress.position is not None:
                panes = self.panes_until(watched, tables, progress.position, after=at.position)
                for pane in with_results(tables.connection, panes, metrics=track.metrics):
                    track.take(pane)
                kept[place] = (progress, track)

    def panes_until(
        self,
        watched: Watched,
        tables: AlertTables,
        until: Position,
        *,
        after: Position | None = None,
    ) -> list[PaneSeen]:
        """Panes of a monitor that were known by a position, all or those after another."""
        return panes_until(
            tables.connection,
            monitor=watched.name,
            configuration=watched.configuration,
            until=until,
            after=after,
            attempts_allowed=self._ledger.rules.attempts_allowed,
        )


def _can_catch_up(kept: Sequence[Placed], wanted: Mapping[str, Progress]) -> bool:
    """Whether each track's rules are still those asked for, together, at its place or later."""
    keys: set[str] = set()
    for at, track in kept:
        places = {wanted.get(key) for key in track.folds}
        if len(places) != 1:
            return False
        (place,) = places
        if place is None or place.generation != at.generation or _order(place) < _order(at):
            return False
        keys |= set(track.folds)
    return keys == set(wanted)


def _order(progress: Progress) -> tuple[int, str, int]:
    if progress.position is None:
        return 0, "", progress.generation
    as_of, start = progress.position
    return 1, f"{as_of.isoformat()} {start.isoformat()}", progress.generation
