"""Tracks of monitors kept in memory, in step with the progress stored in the ledger.

Other workers fold too: before a worker continues, it folds the panes that others have folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

from pumonitor.monitor.alerts.alert_inputs import AlertInputs
from pumonitor.monitor.alerts.track import Track
from pumonitor.monitor.ledger.alerts.alerts import AlertTables
from pumonitor.monitor.ledger.alerts.panes import Position, panes_until, with_results
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Progress, RecordedPane
from pumonitor.monitor.rules.alerts.rule import KnownReference

Placed = tuple[Progress, Track]
"""A track, and how far its rules have been folded."""

_REMEMBERED: Final = 8
"""Most monitors whose tracks are kept in memory, as each holds all of its history."""


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
        """Drop the tracks of a monitor; the next transaction loads them again."""
        self._kept.pop(name, None)

    def of(
        self,
        inputs: AlertInputs,
        tables: AlertTables,
        *,
        known_reference: KnownReference | None,
        left_out: Set[str],
    ) -> list[Placed]:
        """The tracks of a monitor, at the progress stored in the ledger.

        Parameters
        ----------
        inputs : AlertInputs
        tables : AlertTables
        known_reference : KnownReference or None
            The monitor's reference.
        left_out : set of str
            Keys of rules that cannot be evaluated.

        Returns
        -------
        list of (Progress, Track)
            Rules with equal progress share a track. The list is the one in memory: a caller that
            folds more panes must update the progress in it.
        """
        stored = tables.progress(inputs.name)
        wanted = {
            rule.key: replace(stored.get(rule.key, Progress()), last_error=None)
            for rule in inputs.rules
            if rule.key not in left_out and not rule.goes_by_the_clock
        }
        kept = self._kept.get(inputs.name)
        if kept is None or not _can_catch_up(kept, wanted):
            for other in [name for name in self._kept if name != inputs.name][:-_REMEMBERED]:
                self.forget(other)
            kept = self._kept[inputs.name] = self._loaded(inputs, tables, wanted, known_reference)
        else:
            self._catch_up(kept, inputs, tables, wanted, known_reference)
        return kept

    def _loaded(
        self,
        inputs: AlertInputs,
        tables: AlertTables,
        wanted: Mapping[str, Progress],
        known_reference: KnownReference | None,
    ) -> list[Placed]:
        """Load tracks from all panes folded so far."""
        placed = []
        for progress in sorted(set(wanted.values()), key=_order):
            together = [rule for rule in inputs.rules if wanted.get(rule.key) == progress]
            track = Track(together, known_reference=known_reference, scores_of=inputs.scores_of)
            if progress.position is not None:
                panes = track.that_count(self.panes_until(inputs, tables, progress.position))
                track.load(with_results(tables.connection, panes, metrics=track.metrics))
            placed.append((progress, track))
        return placed

    def _catch_up(
        self,
        kept: list[Placed],
        inputs: AlertInputs,
        tables: AlertTables,
        wanted: Mapping[str, Progress],
        known_reference: KnownReference | None,
    ) -> None:
        """Fold the panes that other workers have folded since."""
        for place, (at, track) in enumerate(kept):
            track.set_known_reference(known_reference)
            progress = wanted[next(iter(track.folds))]
            if progress != at and progress.position is not None:
                panes = self.panes_until(inputs, tables, progress.position, after=at.position)
                for pane in with_results(tables.connection, panes, metrics=track.metrics):
                    track.take(pane)
                kept[place] = (progress, track)

    def panes_until(
        self,
        inputs: AlertInputs,
        tables: AlertTables,
        until: Position,
        *,
        after: Position | None = None,
    ) -> list[RecordedPane]:
        """Panes of a monitor up to a position: all, or those after another position."""
        return panes_until(
            tables.connection,
            monitor=inputs.name,
            configuration=inputs.configuration,
            until=until,
            after=after,
            attempts_allowed=self._ledger.rules.attempts_allowed,
        )


def _can_catch_up(kept: Sequence[Placed], wanted: Mapping[str, Progress]) -> bool:
    """Whether each track's rules still share one progress, which is not behind the track's."""
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
