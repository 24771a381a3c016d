"""How many verdicts and complaints of a window are still to come, from earlier windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import PaneCounts
from pumonitor.monitor.rules.labels.expected import expected_positives
from pumonitor.monitor.rules.labels.maturity import LabelMaturity, label_maturity
from pumonitor.monitor.views.labels import LabelsToCome
from pumonitor.monitor.windows.class_prior.arrivals import since_when_labels_tell
from pumonitor.monitor.windows.known_labels import known_labels
from pumonitor.ports import Pane


def arrival_of(
    panes: Sequence[tuple[datetime, timedelta, float]], ages: Sequence[timedelta]
) -> LabelMaturity:
    """How a kind of labels arrives, from windows with the number known at their panes.

    Parameters
    ----------
    panes : sequence of (datetime, timedelta, float)
        Start of the window, age of the pane, and how many were known.
    ages : sequence of timedelta
        Ascending; the last one is the maturity.
    """
    places = {age: at for at, age in enumerate(ages)}
    windows: dict[datetime, list[float]] = {}
    for start, age, number in panes:
        if age in places:
            windows.setdefault(start, [math.nan] * len(ages))[places[age]] = number
    known = np.array(list(windows.values()), dtype=np.float64).reshape(len(windows), len(ages))
    missed = np.cumsum(np.isnan(known), axis=1) > 0
    return label_maturity(np.where(missed, math.nan, known), ages=ages)


def labels_to_come(
    monitor: Monitor, configuration: str, ledger: LedgerReader, pane: Pane
) -> LabelsToCome | None:
    """What the window of a pane waits for, as it was known at the pane's moment.

    None for panes that are mature, and where there are no reviews. Wrong where complaints come
    later than they did for earlier windows.
    """
    if pane.state != "provisional" or not monitor.reviews:
        return None
    schedule = monitor.pane_schedule
    ages = schedule.ages[: schedule.mature + 1]
    counted = ledger.pane_counts_before(
        monitor.name,
        configuration,
        start=pane.window.start + timedelta.resolution,
        as_of=pane.as_of,
        since=since_when_labels_tell(monitor, pane),
        every_pane=True,
    )
    known = [(row, known_labels(row.counts)) for row in counted]
    own = next(
        (labels for row, labels in known if (row.window, row.as_of) == (pane.window, pane.as_of)),
        None,
    )
    if own is None:
        return None
    earlier = [
        (row.window.start, _age(row), float(labels.complaints))
        for row, labels in known
        if labels is not None and row.window.start < pane.window.start
    ]
    share = arrival_of(earlier, ages).share_known(schedule.ages[pane.number])
    total = None
    if share.undefined_reason is None and share.value > 0:
        total = expected_positives(own.complaints, share, rng=0)

    def left(number: float) -> float:
        return max(number - own.complaints, 0.0)

    return LabelsToCome(
        waiting=own.waiting if any(queue.queued_at for queue in monitor.reviews) else None,
        complaints=own.complaints,
        expected=None if total is None else left(total.value),
        low=None if total is None else left(total.low),
        high=None if total is None else left(total.high),
    )


def _age(row: PaneCounts) -> timedelta:
    return row.as_of - row.window.end
