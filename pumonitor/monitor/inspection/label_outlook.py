"""What a monitor takes for granted of its labels: said of a window's results, and by `check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.sensitivity.label_preference import (
    label_assumption,
    why_labels_of_a_queue_do_not_tell,
)


def assumption_of_window(
    monitor: Monitor, evaluation: Mapping[str, Any], rows: Iterable[PublishedResult]
) -> str:
    """What results of a window take for granted of its labels; "" where audit or reviews tell.

    Parameters
    ----------
    monitor : Monitor
        As it is configured now.
    evaluation : mapping
        Of one series, as the ledger has it.
    rows : iterable of PublishedResult
        Results of that series.
    """
    made_with = evaluation.get("made_with", {})
    if "audit" in made_with or "reviews" in made_with or monitor.labels_are_chosen:
        return ""
    assumption = label_assumption(
        {row.metric: row.value for row in rows},
        origin=monitor.label_origin,
        propensities=monitor.positives.propensity is not None,
    )
    return "" if assumption is None else assumption.sentence


def label_warnings(monitor: Monitor) -> Iterator[str]:
    """Warnings about where labels come from, whatever the tables hold."""
    if monitor.labels_are_chosen:
        why = why_labels_of_a_queue_do_not_tell(monitor.label_origin)
        yield f"{why}; until then only predicted_positive_rate and counts have values"
    if (upgrade := upgrade_warning(monitor)) is not None:
        yield upgrade


def upgrade_warning(monitor: Monitor) -> str | None:
    """That reviews would say more than what stands in for them; None where nothing does."""
    # It reads tables, which whoever only shows results does without.
    from pumonitor.monitor.onboarding.upgrade import stands_in_for_reviews

    stands_in = stands_in_for_reviews(monitor)
    if not stands_in or monitor.label_origin in {"complaints", "random"}:
        return None
    return (
        f"positives have {' and '.join(stands_in)} in place of the verdicts of a review queue "
        "(cleared cases as -1, chances of review as propensity): recall, F1 and AUC come out wrong "
        "where the queue takes the highest scores. Results stay as they are; pumonitor init "
        "--upgrade pumonitor.yaml proposes reviews"
    )


def label_notes(monitor: Monitor) -> Iterator[str]:
    """The assumption, before there is a number that it moves."""
    if monitor.reviews or monitor.audits is not None or monitor.labels_are_chosen:
        return
    assumption = label_assumption(
        {}, origin=monitor.label_origin, propensities=monitor.positives.propensity is not None
    )
    if assumption is not None:
        yield assumption.sentence
