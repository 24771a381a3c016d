"""Collect a window: its counts for each pane that is due, and findings from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane
from pumonitor.monitor.rules.windows.losses import SeriesCount
from pumonitor.monitor.windows.evaluation.class_priors import (
    class_prior_to_json,
    estimated_together,
    own_class_prior,
)
from pumonitor.monitor.windows.evaluation.entity_rows import with_entities
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.seeds import seed_of
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable, pane_digest, tables_of
from pumonitor.monitor.windows.losses import check_losses
from pumonitor.ports import CountRequest, Pane, PredictionSource, Window, WindowCounts

__all__ = ["DELAY_STEPS", "collected_panes", "count_claimed", "delay_edges", "request_at"]

DELAY_STEPS: Final = 24
"""Steps of the maturity in which delays of labels are counted."""


def collected_panes(
    monitor: Monitor,
    claim: Claim,
    counts: WindowCounts,
    *,
    known: Sequence[SeriesCount] = (),
    source: PredictionSource | None = None,
    now: datetime,
) -> list[CollectedPane]:
    """The claimed panes of a window, from its counts at all moments up to the last due one.

    Parameters
    ----------
    monitor : Monitor
    claim : Claim
    counts : WindowCounts
    known : sequence of SeriesCount
        What earlier looks counted, to which this one is held.
    source : PredictionSource, optional
        Needed where the monitor names entities: it is asked for those of labeled rows.
    now : datetime

    Raises
    ------
    LostRowsError
        If too much of that is gone.
    """
    panes = _panes(monitor, claim, now)
    reviews = HowReviewed.of(monitor)
    tables = tables_of(counts, panes, threshold=monitor.threshold, reviews=reviews)
    check_losses(monitor, claim, known, tables, panes)
    wanted = {one.pane.number for one in claim.panes}
    if monitor.predictions.entity is not None and source is not None:
        tables = with_entities(
            tables,
            [pane for pane in panes if pane.number in wanted],
            claim.window,
            source,
            reviews,
        )
    if not monitor.reviews:
        estimated_together(
            [one.table for one in tables if one.table is not None and one.pane in wanted],
            monitor.assumed_prior,
            label_purity=monitor.label_purity,
        )
    return [
        _collected(
            monitor,
            claim,
            pane,
            counts,
            [one for one in tables if one.pane == pane.number],
            labels=None if reviews is None else reviews.label_counts(counts, moment),
        )
        for moment, pane in enumerate(panes)
        if pane.number in wanted
    ]


def count_claimed(
    monitor: Monitor, claims: Sequence[Claim], source: PredictionSource, *, now: datetime
) -> Iterator[WindowCounts | Exception]:
    """Count claimed windows, in their order; in place of one that cannot be counted comes why.

    Each is counted at all moments up to its last due one. Moments that were collected before are
    counted again, so that the findings of a pane do not depend on which other panes were due.
    """
    return source.counts_of_many(
        [_request(monitor, claim.window, _panes(monitor, claim, now)) for claim in claims]
    )


def _panes(monitor: Monitor, claim: Claim, now: datetime) -> list[Pane]:
    claimed = [one.pane for one in claim.panes]
    panes = {pane.number: pane for pane in monitor.pane_schedule.due(claim.window, now)}
    # A claimed one may be planned no more, since the source keeps rows for a shorter time.
    panes |= {pane.number: pane for pane in claimed}
    return [panes[number] for number in sorted(panes) if panes[number].as_of <= claimed[-1].as_of]


def counted(
    monitor: Monitor, source: PredictionSource, window: Window, panes: Sequence[Pane]
) -> WindowCounts:
    """A window's counts at the moments of its panes."""
    return source.counts(_request(monitor, window, panes))


def request_at(monitor: Monitor, window: Window, now: datetime) -> CountRequest:
    """What is asked of a window at a moment: all its moments up to then."""
    return _request(monitor, window, monitor.pane_schedule.due(window, now))


def _request(monitor: Monitor, window: Window, panes: Sequence[Pane]) -> CountRequest:
    return CountRequest(
        window=window,
        as_of=tuple(pane.as_of for pane in panes),
        threshold=monitor.threshold,
        delay_edges=tuple(edge.total_seconds() for edge in delay_edges(monitor)),
    )


def delay_edges(monitor: Monitor) -> tuple[timedelta, ...]:
    """Ages at which the share of arrived labels is stored; the last is the maturity."""
    if not monitor.maturity:
        return ()
    return tuple(monitor.maturity * step / DELAY_STEPS for step in range(1, DELAY_STEPS + 1))


def _collected(
    monitor: Monitor,
    claim: Claim,
    pane: Pane,
    counts: WindowCounts,
    tables: Sequence[SeriesTable],
    *,
    labels: Mapping[str, Any] | None,
) -> CollectedPane:
    # Row k of the delays: labels that first counted at moment k, which is pane k's.
    arrived = counts.delays[: pane.number + 1]
    schedule = monitor.pane_schedule
    late = int(counts.delays[schedule.mature + 1 : pane.number + 1].sum())
    found = replace(counts.found, late_labels=late)
    return CollectedPane(
        number=pane.number,
        digest=pane_digest(tables, counts.found),
        counts={
            **asdict(found),
            "arrivals": np.sum(arrived, axis=0, dtype=int).tolist(),
            **({} if labels is None else labels),
            **({"versions": counts.versions} if counts.versions else {}),
            **({"unmatched": asdict(counts.unmatched)} if counts.unmatched else {}),
        },
        series=[
            one.collected(
                None
                if monitor.reviews
                else class_prior_to_json(
                    own_class_prior(
                        one.table,
                        monitor.assumed_prior,
                        label_purity=monitor.label_purity,
                        rng=seed_of(
                            claim.window, model_version=one.model_version, segment=one.segment
                        ),
                    )
                )
            )
            for one in tables
        ],
    )
