"""The second step of a window: each of its panes among the windows before it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import numpy as np

from pumonitor.monitoring.maturity import LabelMaturity, ShareKnown, known_by_delay, label_maturity
from pumonitor.monitoring.pooling import EarlierPrior, pooled_class_prior
from pumonitor.ports import Pane
from pumonitor.results import ClassPriorEstimate
from pumonitor.service.class_priors import class_prior_from_json
from pumonitor.service.collecting import delay_edges
from pumonitor.service.config import Monitor
from pumonitor.service.references import Reference, References
from pumonitor.service.series_tables import SeriesTable
from pumonitor.service.window_evaluation import evaluate_window
from pumonitor.service.window_messages import messages_of
from pumonitor.store.ledger import Ledger
from pumonitor.store.records import Claim, EvaluatedPane, EvaluatedSeries, StoredSeries

__all__ = ["evaluate"]

_WINDOWS_POOLED: Final = 25
_MATURITIES_BACK: Final = 3
"""Labels of windows longer ago say nothing of how they arrive now."""


def evaluate(
    monitor: Monitor,
    claim: Claim,
    ledger: Ledger,
    references: References,
    *,
    tell: bool = True,
) -> list[EvaluatedPane]:
    """Evaluate all collected panes of a claimed window.

    Everything that is read was known as of the pane's moment, whenever this runs.
    """
    found = []
    for claimed in claim.panes:
        pane = claimed.pane
        arrivals = _arrivals(monitor, claim, ledger, as_of=pane.as_of)
        share = _share_known(monitor, pane, arrivals)
        reference = references.of(monitor, claim.configuration, as_of=pane.as_of)
        series = [
            _evaluated(monitor, claim, pane, stored, ledger, share=share, reference=reference)
            for stored in ledger.series(claim.window_key, pane.number)
        ]
        found.append(
            EvaluatedPane(
                number=pane.number,
                series=series,
                messages=messages_of(monitor, claim, claimed, series) if tell else (),
            )
        )
    return found


def _evaluated(
    monitor: Monitor,
    claim: Claim,
    pane: Pane,
    stored: StoredSeries,
    ledger: Ledger,
    *,
    share: ShareKnown,
    reference: Reference | None,
) -> EvaluatedSeries:
    table = SeriesTable.stored(stored)
    prior = pooled_class_prior(
        class_prior_from_json(stored.class_prior),
        index=pane.window.index,
        earlier=_earlier_priors(claim, pane, stored, ledger),
    )
    version = None
    if reference is not None:
        version = reference.version_for(stored.model_version, stored.segment)
    return evaluate_window(
        table,
        state=pane.state,
        key=claim.window_key,
        threshold=monitor.threshold,
        class_prior=prior,
        reference=None
        if reference is None or version is None
        else reference.known(version, stored.segment),
        maturity=share,
        label_purity=monitor.label_purity,
    )


def _earlier_priors(
    claim: Claim, pane: Pane, stored: StoredSeries, ledger: Ledger
) -> list[EarlierPrior]:
    earlier = ledger.series_before(
        claim.monitor,
        claim.configuration,
        model_version=stored.model_version,
        segment=stored.segment,
        start=pane.window.start,
        as_of=pane.as_of,
        limit=_WINDOWS_POOLED,
    )
    priors: list[tuple[int, ClassPriorEstimate | None]] = [
        (one.window.index, class_prior_from_json(one.class_prior)) for one in earlier
    ]
    return [
        EarlierPrior(index=index, estimate=prior) for index, prior in priors if prior is not None
    ]


def _arrivals(
    monitor: Monitor, claim: Claim, ledger: Ledger, *, as_of: datetime
) -> LabelMaturity | None:
    """How labels have arrived in earlier windows; None where they are known at once."""
    edges = delay_edges(monitor)
    if not edges:
        return None
    earlier = ledger.pane_counts_before(
        claim.monitor,
        claim.configuration,
        start=claim.window.start,
        since=as_of - _MATURITIES_BACK * monitor.maturity,
        as_of=as_of,
    )
    return label_maturity(
        known_by_delay(
            np.array([one.counts["arrivals"] for one in earlier]).reshape(-1, len(edges) + 1),
            edges=edges,
            seen_for=[one.as_of - one.window.end for one in earlier],
        ),
        ages=edges,
    )


def _share_known(monitor: Monitor, pane: Pane, arrivals: LabelMaturity | None) -> ShareKnown:
    if arrivals is None or pane.state != "provisional":
        return ShareKnown.all_known()
    length: timedelta = pane.window.end - pane.window.start
    return arrivals.share_known(pane.as_of - pane.window.end, over=length)
