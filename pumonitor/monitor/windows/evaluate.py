"""Evaluate a window: each of its collected panes, with what earlier windows provide."""

from __future__ import annotations

from collections.abc import Sequence

from pumonitor.monitor.config.sections.destinations import SegmentMetrics
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.records.results import EvaluatedPane, EvaluatedSeries
from pumonitor.monitor.views.labels import LabelsToCome
from pumonitor.monitor.windows.class_prior.assumed import findings_of
from pumonitor.monitor.windows.class_prior.followed import (
    FollowedPriors,
    PanePriors,
    find_levels_together,
)
from pumonitor.monitor.windows.evaluation.earlier_windows import earlier_windows
from pumonitor.monitor.windows.evaluation.evaluated_tables import EvaluatedTables
from pumonitor.monitor.windows.evaluation.references import Reference, References
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.monitor.windows.evaluation.window_evaluation import evaluate_window
from pumonitor.monitor.windows.labels_to_come import labels_to_come
from pumonitor.monitor.windows.messages.summaries import summary_of_month
from pumonitor.monitor.windows.messages.superseded_versions import ends_of_superseded
from pumonitor.monitor.windows.messages.window_messages import messages_of
from pumonitor.ports import Pane
from pumonitor.prior.labels.label_noise import search_together
from pumonitor.results import Finding

__all__ = ["evaluate", "evaluated_series", "references_in"]


def evaluate(
    monitor: Monitor,
    claim: Claim,
    ledger: LedgerReader,
    references: References,
    priors: FollowedPriors,
    *,
    segment_metrics: SegmentMetrics | None,
) -> list[EvaluatedPane]:
    """Evaluate all collected panes of a claimed window.

    Only data known at the pane's moment are used, whenever this runs.
    """
    collected = {
        one.pane.number: ledger.series(claim.window_key, one.pane.number) for one in claim.panes
    }
    stored_tables = [stored.table() for pane in collected.values() for stored in pane]
    search_together([table for table in stored_tables if table is not None])
    tables, found = _tables_of(monitor), []
    of_panes = {
        one.pane.number: priors.of_pane(monitor, claim.configuration, one.pane)
        for one in claim.panes
    }
    find_levels_together(
        monitor, [(of_pane, collected[number]) for number, of_pane in of_panes.items()]
    )
    for claimed in claim.panes:
        of_pane = of_panes[claimed.pane.number]
        series = evaluated_series(
            of_pane,
            ledger,
            collected[claimed.pane.number],
            tables=tables,
            reference=references.of(monitor, claim.configuration, as_of=claimed.pane.as_of),
            to_come=labels_to_come(monitor, claim.configuration, ledger, claimed.pane),
        )
        found.append(
            EvaluatedPane(
                number=claimed.pane.number,
                series=series,
                messages=[
                    *messages_of(monitor, claim, claimed, series, segment_metrics=segment_metrics),
                    *ends_of_superseded(monitor, claim, claimed, series, ledger),
                    *summary_of_month(monitor, claim, claimed, series, ledger),
                ]
                if segment_metrics is not None
                else (),
                prior_states=of_pane.states,
            )
        )
    return found


def references_in(ledger: LedgerReader, priors: FollowedPriors) -> References:
    """Access to the references of the monitors in a ledger."""

    def evaluated(
        monitor: Monitor, configuration: str, window_key: str, pane: Pane
    ) -> list[EvaluatedSeries]:
        of_pane = priors.of_pane(monitor, configuration, pane)
        # Its windows are compared with nothing.
        collected = ledger.series(window_key, pane.number)
        return evaluated_series(
            of_pane, ledger, collected, tables=_tables_of(monitor), reference=None
        )

    return References(ledger, evaluated, read_with=priors.audits.digests)


def evaluated_series(
    priors: PanePriors,
    ledger: LedgerReader,
    collected: Sequence[StoredSeries],
    *,
    tables: EvaluatedTables,
    reference: Reference | None,
    to_come: LabelsToCome | None = None,
) -> list[EvaluatedSeries]:
    """Results of the series of a pane; they depend only on what was known at its moment."""
    return [
        _evaluated(
            priors,
            stored,
            ledger,
            together=collected,
            tables=tables,
            reference=reference,
            # Counted of all rows: how many are of a segment nobody knows.
            to_come=None if stored.segment else to_come,
        )
        for stored in collected
    ]


def _tables_of(monitor: Monitor) -> EvaluatedTables:
    return EvaluatedTables(
        threshold=monitor.threshold,
        label_purity=monitor.label_purity,
        label_origin=monitor.label_origin if monitor.labels_are_chosen else None,
        reviews=HowReviewed.of(monitor),
        value=monitor.predictions.value_column,
        value_unit=monitor.predictions.value_unit,
    )


def _evaluated(
    priors: PanePriors,
    stored: StoredSeries,
    ledger: LedgerReader,
    *,
    together: Sequence[StoredSeries],
    tables: EvaluatedTables,
    reference: Reference | None,
    to_come: LabelsToCome | None,
) -> EvaluatedSeries:
    monitor, pane = priors.monitor, priors.pane
    compared_with = None
    if reference is not None and not reference.holds_back(pane):
        compared_with = reference.windows_for(stored.model_version, stored.segment)
    class_prior = priors.of(stored)
    audits = priors.audited(stored, class_prior)
    findings: Sequence[Finding] = ()
    if audits.reading is None:  # an audited class prior is not the assumed one
        findings = findings_of(
            ledger, monitor, priors.configuration, stored, pane, together=together
        )
    if to_come is not None:
        findings = [*findings, to_come.as_finding()]
    return evaluate_window(
        SeriesTable.stored(stored),
        state=pane.state,
        window=stored.window,
        tables=tables,
        class_prior=class_prior,
        audits=audits,
        reference=compared_with,
        maturity=priors.arrivals.share_known(stored.model_version, stored.segment),
        findings=findings,
        labels_to_come=None if to_come is None else to_come.to_dict(),
        earlier=earlier_windows(ledger, monitor, priors.configuration, stored, pane),
    )
