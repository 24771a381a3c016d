"""The second step of a window: each of its panes among the windows before it."""

from __future__ import annotations

from typing import Final

from pumonitor.monitoring.maturity import ShareKnown
from pumonitor.monitoring.pooling import EarlierPrior, pooled_class_prior
from pumonitor.ports import Pane, State
from pumonitor.results import ClassPriorEstimate
from pumonitor.service.arrivals import Arrivals
from pumonitor.service.assumed_prior import findings_of
from pumonitor.service.class_priors import class_prior_from_json
from pumonitor.service.config import Monitor
from pumonitor.service.references import Reference, References
from pumonitor.service.series_tables import SeriesTable
from pumonitor.service.superseded_versions import ends_of_superseded
from pumonitor.service.window_evaluation import evaluate_window
from pumonitor.service.window_messages import messages_of
from pumonitor.store.reader import LedgerReader
from pumonitor.store.records import Claim, EvaluatedPane, EvaluatedSeries, StoredSeries

__all__ = ["evaluate", "evaluated_series", "references_in"]

_WINDOWS_POOLED: Final = 25


def evaluate(
    monitor: Monitor,
    claim: Claim,
    ledger: LedgerReader,
    references: References,
    *,
    tell: bool = True,
) -> list[EvaluatedPane]:
    """Evaluate all collected panes of a claimed window.

    Everything that is read was known as of the pane's moment, whenever this runs.
    """
    found = []
    for claimed in claim.panes:
        series = evaluated_series(
            monitor,
            claim.configuration,
            claim.window_key,
            claimed.pane,
            ledger,
            reference=references.of(monitor, claim.configuration, as_of=claimed.pane.as_of),
        )
        found.append(
            EvaluatedPane(
                number=claimed.pane.number,
                series=series,
                messages=[
                    *messages_of(monitor, claim, claimed, series),
                    *ends_of_superseded(monitor, claim, claimed, series, ledger),
                ]
                if tell
                else (),
            )
        )
    return found


def references_in(ledger: LedgerReader) -> References:
    """The references of monitors that keep their windows there."""

    def evaluated(
        monitor: Monitor, configuration: str, window_key: str, pane: Pane
    ) -> list[EvaluatedSeries]:
        # Its windows are compared with nothing.
        return evaluated_series(monitor, configuration, window_key, pane, ledger, reference=None)

    return References(ledger, evaluated)


def evaluated_series(
    monitor: Monitor,
    configuration: str,
    window_key: str,
    pane: Pane,
    ledger: LedgerReader,
    *,
    reference: Reference | None,
) -> list[EvaluatedSeries]:
    """What a collected pane comes to, a function of what was known as of its moment."""
    arrivals = Arrivals.as_of(monitor, configuration, ledger, pane)
    return [
        _evaluated(
            monitor,
            configuration,
            window_key,
            pane,
            stored,
            ledger,
            share=arrivals.share_known(stored.model_version, stored.segment),
            reference=reference,
        )
        for stored in ledger.series(window_key, pane.number)
    ]


def _evaluated(
    monitor: Monitor,
    configuration: str,
    window_key: str,
    pane: Pane,
    stored: StoredSeries,
    ledger: LedgerReader,
    *,
    share: ShareKnown,
    reference: Reference | None,
) -> EvaluatedSeries:
    table = SeriesTable.stored(stored)
    own = class_prior_from_json(stored.class_prior)
    if _counts_labels_to_come(monitor, pane.state):
        own = None
    prior = pooled_class_prior(
        own,
        index=pane.window.index,
        earlier=_earlier_priors(monitor, configuration, pane, stored, ledger),
    )
    compared_with = None
    if reference is not None and not reference.holds_back(pane):
        compared_with = reference.windows_for(stored.model_version, stored.segment)
    return evaluate_window(
        table,
        state=pane.state,
        key=window_key,
        threshold=monitor.threshold,
        class_prior=prior,
        reference=compared_with,
        maturity=share,
        findings=findings_of(ledger, monitor, configuration, stored, pane),
        label_purity=monitor.label_purity,
    )


def _counts_labels_to_come(monitor: Monitor, state: State) -> bool:
    """Whether a window's own class prior is too low for the labels that have not arrived.

    Propensities are chances to be confirmed in the end.
    """
    return monitor.class_prior == "propensity" and state == "provisional"


def _earlier_priors(
    monitor: Monitor, configuration: str, pane: Pane, stored: StoredSeries, ledger: LedgerReader
) -> list[EarlierPrior]:
    earlier = ledger.series_before(
        monitor.name,
        configuration,
        model_version=stored.model_version,
        segment=stored.segment,
        start=pane.window.start,
        as_of=pane.as_of,
        limit=_WINDOWS_POOLED,
    )
    priors: list[tuple[int, ClassPriorEstimate | None]] = [
        (one.window.index, class_prior_from_json(one.class_prior))
        for one in earlier
        if not _counts_labels_to_come(monitor, one.state)
    ]
    return [
        EarlierPrior(index=index, estimate=prior) for index, prior in priors if prior is not None
    ]
