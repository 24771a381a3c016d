"""Rows of a monitor's windows that a challenger learns from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.monitor.challenging.seen import mature_panes
from pumonitor.monitor.challenging.shadow import feature_rows
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.ports import Pane, PredictionSource

if TYPE_CHECKING:
    import pandas as pd

TrainedOn = Literal["all", "recent", "weighted"]


_MOST_ROWS: Final = 1_000_000
_FEWEST_LABELS: Final = 20
_RECENT_SHARE: Final = 1 / 3
_HALF_LIFE: Final = 1 / 4
"""Of all windows: after so many a row counts half, where rows are weighted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingRows:
    """Rows to learn from.

    Attributes
    ----------
    features : pandas.DataFrame
        Numbers, and text as categories.
    labels : ndarray of int, shape (rows,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    weights : ndarray of float, shape (rows,)
    entity, id : ndarray of str, shape (rows,)
    time : ndarray of int, shape (rows,)
        Number of the window of each.
    first, until : datetime
        Start of the first window and end of the last.
    windows : int
    """

    features: pd.DataFrame
    labels: NDArray[np.int8]
    weights: FloatArray
    entity: NDArray[np.str_]
    id: NDArray[np.str_]
    time: NDArray[np.int64]
    first: datetime
    until: datetime
    windows: int

    @property
    def digest(self) -> str:
        """Hash of the ids and labels of the rows."""
        found = hashlib.sha256()
        order = np.argsort(self.id, kind="stable")
        found.update("\n".join(self.id[order].tolist()).encode())
        found.update(self.labels[order].tobytes())
        return found.hexdigest()


def training_rows(
    ledger: Ledger,
    monitor: Monitor,
    trained_on: TrainedOn,
    *,
    open_source: Callable[[Monitor], PredictionSource],
    hold_out: int = 0,
    on_window: Callable[[datetime], None] = lambda start: None,
) -> TrainingRows:
    """Read the rows of mature windows with their features and labels.

    Parameters
    ----------
    ledger : Ledger
    monitor : Monitor
    trained_on : {"all", "recent", "weighted"}
        Of all mature windows; of those since the last alert began, or of the newest third; or of
        all, where a row counts half as much as one that is a quarter of all windows newer.
    open_source : callable
    hold_out : int
        How many of the newest windows are left to judge by.
    on_window : callable
        Called with the start of each window before it is read.

    Raises
    ------
    InputError
        If no features are named, there are no windows or too few confirmed positives, or the
        monitor has reviews.
    SourceError
        If a table cannot be read.
    """
    if monitor.reviews:
        msg = (
            f"{monitor.name} has reviews, which favour what the deployed score is sure of: a "
            "challenger trained here would learn whom it reviews; train it where you correct for "
            "that, and register it"
        )
        raise InputError(msg)
    columns = _columns(monitor)
    panes = mature_panes(ledger, monitor, configuration=configuration_hash(monitor))
    panes = panes[: max(len(panes) - hold_out, 0)]
    if trained_on == "recent":
        panes = _recent(ledger, monitor, panes)
    if not panes:
        msg = (
            f"{monitor.name} has no mature window to train on"
            + (f" beside the {hold_out} that are held out" if hold_out else "")
            + ": run pumonitor run or pumonitor backfill first"
        )
        raise InputError(msg)
    most = max(_MOST_ROWS // len(panes), 1000)
    parts: dict[str, list[NDArray[Any]]] = {}
    for number, pane in enumerate(panes):
        on_window(pane.window.start)
        rows, found = feature_rows(
            monitor, pane, columns, open_source=open_source, rows=most, labels=most
        )
        age = len(panes) - 1 - number
        weight = 0.5 ** (age / max(_HALF_LIFE * len(panes), 1.0)) if trained_on == "weighted" else 1
        of_window: Mapping[str, NDArray[Any]] = {
            "id": rows.id,
            "entity": rows.key,
            "label": (rows.history % 3 - 1).astype(np.int8),
            "weight": np.full(len(rows.id), float(weight)),
            "time": np.full(len(rows.id), number),
            **{f"feature {one}": found[one] for one in columns},
        }
        for name, values in of_window.items():
            parts.setdefault(name, []).append(values)
    together = {name: np.concatenate(values) for name, values in parts.items()}
    confirmed = int((together["label"] == 1).sum())
    if confirmed < _FEWEST_LABELS:
        msg = (
            f"{len(panes)} windows have {confirmed} confirmed positives, too few to train on "
            f"(at least {_FEWEST_LABELS}): train on more windows, or wait"
        )
        raise TooFewPositivesError(msg)
    import pandas as pd

    return TrainingRows(
        features=pd.DataFrame({one: together[f"feature {one}"] for one in columns}),
        labels=together["label"],
        weights=together["weight"],
        entity=together["entity"],
        id=together["id"],
        time=together["time"],
        first=panes[0].window.start,
        until=panes[-1].window.end,
        windows=len(panes),
    )


def _columns(monitor: Monitor) -> tuple[str, ...]:
    """Columns that somebody has named: a table may have one that is known only afterwards."""
    settings = monitor.challengers.features if monitor.challengers is not None else None
    if settings is not None and settings.columns:
        return settings.columns
    if settings is not None and settings.source is not None:
        from pumonitor.monitor.windows.opening import place_of
        from pumonitor.sources.rows_by_id import column_names

        others = {settings.id or monitor.predictions.id, settings.known_at}
        known = [
            name for name in column_names(str(place_of(settings.source))) if name not in others
        ]
        msg = (
            f"{monitor.name} names no features to train on: name those that were known when the "
            f"prediction was made under challengers: features: columns, of {settings.source.name} "
            f"some of {', '.join(known)}"
        )
        raise InputError(msg)
    if monitor.predictions.features:
        return monitor.predictions.features
    msg = (
        f"{monitor.name} names no features to train on: give challengers: features: with a source "
        "and columns, or with columns of the predictions"
    )
    raise InputError(msg)


def _recent(ledger: Ledger, monitor: Monitor, panes: Sequence[Pane]) -> list[Pane]:
    """Windows since the last alert began; without any the newest third."""
    begun = [
        one.firing_since
        for one in ledger.alerts.current(monitor.name, firing=True)
        if one.firing_since is not None
    ]
    if begun:
        since = [one for one in panes if one.window.start >= max(begun)]
        if since:
            return since
    return list(panes[-max(round(_RECENT_SHARE * len(panes)), 1) :]) if panes else []
