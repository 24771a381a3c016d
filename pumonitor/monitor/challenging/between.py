"""Audits between two models: cases among the rows that one of them alone flags."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.drawn import audit_name
from pumonitor.audit.ordering import draw_key
from pumonitor.errors import InputError
from pumonitor.gate import AuditedBetween, Side
from pumonitor.monitor.challenging.challengers import Challenger
from pumonitor.monitor.challenging.seen import JudgedSince
from pumonitor.monitor.challenging.shadow import scored_rows
from pumonitor.monitor.config.sections.challengers import Gate
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.audits import (
    BETWEEN,
    DrawnWindow,
    ReviewCase,
    StoredAudit,
)
from pumonitor.monitor.ledger.records.challengers import ChallengerSeries
from pumonitor.ports import Pane, PredictionSource

_CHAMPION: Final = 0
_CHALLENGER: Final = 1
_BOTH: Final = 2
_KNOWN_NEGATIVE: Final = 3
"""Bins of such an audit: who flags the row. Confirmed negatives that one model alone flags come
after: no case is drawn of them, and there is no positive among them."""
_BINS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBetween:
    """An audit between two models with the lines of the file for its reviewers.

    Attributes
    ----------
    audit : StoredAudit
        As it is to be stored.
    cases : tuple of ReviewCase
        In the order of the file.
    shown : mapping of int to tuple of str
        Number of a line to the columns that reviewers see.
    """

    audit: StoredAudit
    cases: tuple[ReviewCase, ...]
    shown: Mapping[int, tuple[str, ...]]

    @property
    def flagged(self) -> tuple[int, int, int]:
        """Rows that the champion alone flags, the challenger alone, and both."""
        return _by_model(self.audit)


class _Row(NamedTuple):
    """A row that one model alone flags."""

    key: str
    id: str
    side: int
    window: datetime
    shown: tuple[str, ...]


def draw_between(
    monitor: Monitor,
    challenger: Challenger,
    series: ChallengerSeries,
    panes: Sequence[Pane],
    *,
    cases: int,
    actor: str,
    open_source: Callable[[Monitor], PredictionSource],
    seed: str | None = None,
    on_window: Callable[[datetime], None] = lambda start: None,
) -> DrawnBetween:
    """Draw cases among the rows of some windows that one model flags and the other does not.

    Both flag the share of the rows that the gate names. Half of the cases are of each side, each
    unlabeled row of a side with the same chance. Where confirmations were chosen by one of the
    models, these cases alone can tell which finds more: recall at equal capacity differs only
    there.

    Parameters
    ----------
    monitor : Monitor
    challenger : Challenger
    series : ChallengerSeries
    panes : sequence of Pane
        Mature ones.
    cases : int
    actor : str
    open_source : callable
    seed : str, optional
        A random one unless given.
    on_window : callable
        Called with the start of each window before it is scored.

    Raises
    ------
    InputError
        If the two models flag the same rows, rows cannot be scored, or the monitor has reviews.
    SourceError
        If a table cannot be read.
    """
    if monitor.reviews:
        msg = (
            f"{monitor.name} has reviews, by which challengers are judged without an audit between "
            "models; to know more of them review rows drawn at random, chosen_by: random"
        )
        raise InputError(msg)
    seed = seed or secrets.token_hex(16)
    columns = () if monitor.audits is None else monitor.audits.columns
    gate = monitor.challengers.gate if monitor.challengers is not None else Gate()
    windows, rows = [], list[_Row]()
    for pane in panes:
        on_window(pane.window.start)
        window, alone = _flagged(
            monitor, challenger, pane, columns, gate.capacity, seed, open_source
        )
        windows.append(window)
        rows += alone
    sides = [sorted(one for one in rows if one.side == side) for side in (_CHAMPION, _CHALLENGER)]
    each = min(cases // 2, *(len(side) for side in sides))
    if each == 0:
        msg = (
            f"among {sum(map(len, sides))} rows that one of the models alone flags, one side has "
            "no unlabeled row: choose more windows, or another challenger"
        )
        raise InputError(msg)
    chosen = [one for side in sides for one in side[:each]]
    chosen.sort(key=lambda one: draw_key(f"{seed} order", one.id))
    audit = StoredAudit(
        name=audit_name(seed, [one.id for one in chosen]),
        monitor=monitor.name,
        configuration=f"{BETWEEN}{series.digest}",
        model_version=f"{challenger.name}: {challenger.scored_by}",
        windows=tuple(windows),
        drawn_at=max(one.as_of for one in panes),
        actor=actor,
        threshold=monitor.threshold,
        fair="assume",
        seed=seed,
        edges=(),
        planned=(each, each, 0),
    )
    lines = [
        ReviewCase(
            number=number,
            keyed=one.key,
            id=one.id,
            bin=one.side,
            inclusion=each / len(sides[one.side]),
            kind="case",
            window_start=one.window,
        )
        for number, one in enumerate(chosen, start=1)
    ]
    return DrawnBetween(
        audit=audit,
        cases=tuple(lines),
        shown={number: one.shown for number, one in enumerate(chosen, start=1)},
    )


def audits_between(
    ledger: Ledger, series: ChallengerSeries, *, since: JudgedSince | None = None
) -> list[AuditedBetween]:
    """What reviewers said of the cases drawn for a challenger, audit by audit.

    An audit with a window that does not count says nothing of these two models. Undecided
    cases and those with verdicts that contradict each other count as not reviewed.
    """
    found = []
    for audit in ledger.reviews.all(series.monitor, between=True):
        if audit.configuration != f"{BETWEEN}{series.digest}" or (
            since is not None
            and not all(since.counts(window.start, window.end) for window in audit.windows)
        ):
            continue
        verdicts: dict[int, list[int]] = {_CHAMPION: [], _CHALLENGER: []}
        # In the order of the keys, which is that of the draw.
        for place, said in ledger.verdicts_in_order(audit.name):
            if isinstance(said, int):
                verdicts[place].append(said)
        rows, labeled = audit.rows, audit.labeled
        champion, challenger = (
            Side(
                unlabeled=rows[side] - labeled[side],
                confirmed=labeled[side],
                verdicts=tuple(verdicts[side]),
            )
            for side in (_CHAMPION, _CHALLENGER)
        )
        *alone, both = _by_model(audit)
        flagged = max(alone) + both
        found.append(AuditedBetween(flagged=flagged, challenger=challenger, champion=champion))
    return found


def _by_model(audit: StoredAudit) -> tuple[int, int, int]:
    champion, challenger = (
        sum(audit.rows[side::_KNOWN_NEGATIVE]) for side in (_CHAMPION, _CHALLENGER)
    )
    return champion, challenger, audit.rows[_BOTH]


def _flagged(
    monitor: Monitor,
    challenger: Challenger,
    pane: Pane,
    columns: Sequence[str],
    capacity: float,
    seed: str,
    open_source: Callable[[Monitor], PredictionSource],
) -> tuple[DrawnWindow, list[_Row]]:
    """Rows of a window by who flags them, and those that one model alone flags, unlabeled."""
    found = scored_rows(monitor, challenger, pane, also=columns, open_source=open_source)
    stands = np.flatnonzero(found.is_sampled)
    keys = np.array([draw_key(seed, str(found.id[row])) for row in stands])
    flagged = [
        _highest(scores[stands], keys, capacity) for scores in (found.champion, found.challenger)
    ]
    side = np.full(len(stands), -1)
    side[flagged[0] & ~flagged[1]] = _CHAMPION
    side[flagged[1] & ~flagged[0]] = _CHALLENGER
    side[flagged[0] & flagged[1]] = _BOTH
    labels = found.labels[stands]
    is_alone = (side == _CHAMPION) | (side == _CHALLENGER)
    side[is_alone & (labels == -1)] += _KNOWN_NEGATIVE
    window = DrawnWindow(
        start=pane.window.start,
        end=pane.window.end,
        as_of=pane.as_of,
        rows=_counted(side),
        labeled=_counted(side[labels == 1]),
    )
    drawn_from = np.flatnonzero(is_alone & (labels == 0))
    rows = [
        _Row(
            key=str(keys[at]),
            id=str(found.id[stands[at]]),
            side=int(side[at]),
            window=pane.window.start,
            shown=tuple(_text(found.columns[name][stands[at]]) for name in columns),
        )
        for at in drawn_from
    ]
    return window, rows


def _highest(scores: NDArray[np.float64], keys: NDArray[Any], capacity: float) -> NDArray[np.bool_]:
    """The highest rows, a share of all; of those alike at the cut, by the key."""
    found = np.zeros(len(scores), dtype=bool)
    found[np.lexsort([keys, -scores])[: round(capacity * len(scores))]] = True
    return found


def _counted(side: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(np.bincount(side[side >= 0], minlength=_BINS).tolist())


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)
