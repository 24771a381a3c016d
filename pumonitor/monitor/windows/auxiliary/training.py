"""Choose the windows to train a monitor's auxiliary score on, and train it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.results.auxiliary import StoredAuxiliary, TrainingPane, training_panes
from pumonitor.monitor.windows.auxiliary.rows import table_of
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.monitor.windows.evaluation.sampled_series import state_at
from pumonitor.plain_values import finite_or_none
from pumonitor.ports import Pane, PredictionSource, SampledRows, SampleRequest
from pumonitor.prior.auxiliary import LEAST_LABELED, train_auxiliary

_FEWEST_WINDOWS: Final = 10
_MOST_WINDOWS: Final = 120
_MOST_ROWS: Final = 100_000
"""Sampled of all windows together."""

_LEAST_ROWS: Final = 6000
_ROWS_PER_LABELED: Final = 12


@dataclass(frozen=True, slots=True)
class Training:
    """The windows to train on.

    Attributes
    ----------
    panes : sequence of TrainingPane
        In order of time.
    """

    panes: Sequence[TrainingPane]

    @property
    def as_of(self) -> datetime:
        """Latest moment of the windows used for training: labels known by then are used."""
        return max(one.as_of for one in self.panes)

    @property
    def confirmed(self) -> int:
        """Number of confirmed positives in all windows."""
        return sum(one.confirmed for one in self.panes)

    @property
    def rows(self) -> int:
        """Number of predictions in all windows."""
        return sum(one.rows for one in self.panes)


def training_windows(panes: Sequence[TrainingPane], *, at_least: int = 0) -> int | None:
    """Number of windows, counted from the first, that the auxiliary score is trained on.

    At least ten windows with 150 confirmed positives, as for the start of a followed class prior.

    Parameters
    ----------
    panes : sequence of TrainingPane
        In order of time.
    at_least : int
        Number of windows in the monitor's reference, all of which are used.

    Returns
    -------
    int or None
        None if there are too few.

    Examples
    --------
    >>> from datetime import timedelta
    >>> from pumonitor.ports import Window
    >>> day = datetime(2026, 3, 1)
    >>> window = Window(start=day, end=day + timedelta(days=1), index=0)
    >>> def days(confirmed):
    ...     return [TrainingPane(window=window, as_of=day, rows=1000, confirmed=confirmed)] * 20
    >>> training_windows(days(12)), training_windows(days(40)), training_windows(days(7))
    (13, 10, None)
    """
    total = np.cumsum([one.confirmed for one in panes])
    number = np.arange(1, len(panes) + 1)
    enough = (number >= max(_FEWEST_WINDOWS, at_least)) & (total >= LEAST_LABELED)
    return int(number[enough][0]) if enough.any() else None


def training_of(
    monitor: Monitor, configuration: str, pane: Pane, ledger: LedgerReader
) -> Training | str:
    """Windows to train on, among those known at a pane's moment; or the reason to wait."""
    period = baseline_period(monitor)
    if period.end is not None and pane.as_of < period.end + monitor.maturity:
        return "it is trained once the labels of the reference are mature"
    panes: list[TrainingPane] = []
    at_least = 0
    for since in dict.fromkeys([period.start, None]):
        with ledger.database.reading() as connection:
            panes = training_panes(
                connection,
                monitor.name,
                configuration,
                mature=monitor.pane_schedule.mature,
                since=since,
                through=pane.window.start,
                as_of=pane.as_of,
                most=_MOST_WINDOWS,
            )
        if period.end is not None and since is not None:
            at_least = sum(one.window.end <= period.end for one in panes)
        if at_least:
            break  # a reference without any window is none
    number = training_windows(panes, at_least=at_least)
    if number is None:
        return (
            f"it needs {max(_FEWEST_WINDOWS, at_least)} windows or more with {LEAST_LABELED} "
            f"confirmed positives, and there are {len(panes)} windows with "
            f"{sum(one.confirmed for one in panes)}"
        )
    return Training(panes[:number])


def trained(training: Training, source: PredictionSource) -> StoredAuxiliary:
    """Train it.

    Parameters
    ----------
    training : Training
    source : PredictionSource
        The rows for training are read from it: the same share of each window, and all labeled rows.

    Raises
    ------
    InputError
        If features cannot be read or used.
    ExtraMissingError
        If scikit-learn is not installed.
    SourceError
        If a table cannot be read now.
    """
    wanted = min(max(_ROWS_PER_LABELED * training.confirmed, _LEAST_ROWS), _MOST_ROWS)
    share = min(1.0, wanted / max(training.rows, 1))
    parts = [
        source.sample(
            SampleRequest(
                window=one.window,
                as_of=(one.as_of,),
                rows=math.ceil(share * one.rows),
                labels=math.ceil(2 * _MOST_ROWS / len(training.panes)),
            )
        )
        for one in training.panes
    ]
    state = np.concatenate([state_at(part, 0) for part in parts])
    is_labeled = state == 1
    is_sampled = np.concatenate([part.is_sampled for part in parts])
    # Labeled rows stand there for their label; of the others those that were drawn.
    counts = is_sampled != is_labeled
    keys = np.concatenate([part.key for part in parts])[counts]
    raw = {name: values[counts] for name, values in _together(parts).items()}
    is_labeled = is_labeled[counts]
    score = train_auxiliary(raw, is_labeled, keys)
    first, last = training.panes[0].window, training.panes[-1].window
    return StoredAuxiliary(
        hash=score.hash,
        as_of=training.as_of,
        first_start=first.start,
        last_start=last.start,
        facts={
            **score.facts,
            "auc": _auc(score.of(raw, keys), is_labeled, training),
            "windows": len(training.panes),
            "start": first.start.isoformat(),
            "end": last.end.isoformat(),
            "confirmed": training.confirmed,
            "rows": training.rows,
            "columns": {one.name: one.kind for one in score.columns.columns},
        },
        score=score.to_bytes(),
    )


def _together(parts: Sequence[SampledRows]) -> dict[str, Any]:
    """Concatenate the columns of all windows."""
    found: dict[str, Any] = {}
    for name in parts[0].features:
        columns = [part.features[name] for part in parts if len(part.key)]
        if len({one.dtype.kind for one in columns}) > 1:
            msg = f"feature column '{name}' holds numbers in some windows and text in others"
            raise InputError(msg)
        found[name] = np.concatenate(columns or [part.features[name] for part in parts])
    return found


def _auc(scores: Any, is_labeled: Any, training: Training) -> Mapping[str, float | None]:
    """Cross-fitted AUC, corrected for the positives among the unlabeled rows."""
    from pumonitor.evaluation import evaluate_table

    table = table_of(
        is_labeled.astype(np.int64),
        scores,
        ~is_labeled,
        np.full(len(scores), np.nan),
        totals={1: training.confirmed, 0: training.rows - training.confirmed},
    )
    found = evaluate_table(table, threshold=float(table.lower[0]), curves=False)["auc"].displayed
    return {
        name: finite_or_none(one) for name, one in zip(("value", "low", "high"), found, strict=True)
    }
