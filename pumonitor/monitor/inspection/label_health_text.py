"""Facts about labels in words: for the page and `pumonitor insights`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.views.labels import LabelsView
from pumonitor.plain_text import one_line
from pumonitor.text import count_text, moment_text, number_text, percent_text

WHERE_WORDS: Final = {
    "below the cut": "just below the cut of the queue",
    "random": "at random among all rows that nobody reviewed",
    "at the threshold": "beside the threshold",
}
"""Where cases are taken."""
_FEW_SHARED: Final = 20
"""Cases that two decided, below which how often they differ is no number."""


def label_health_sentences(health: LabelsView) -> Iterator[str]:
    """The facts in words, the most important first."""
    if health.window_start is None:
        yield "No window is mature yet, so nothing is known of its labels."
        return
    yield from _positives_in_words(health)
    yield from _unseen_in_words(health)
    yield from _lateness_in_words(health)
    yield from _agreement_in_words(health)
    yield from _worth_in_words(health)


def _positives_in_words(health: LabelsView) -> Iterator[str]:
    by_review = sum(
        origin.positive for origin in health.origins if origin.name.startswith("Reviewed")
    )
    alone = health.known_positives - by_review
    known = f"{health.known_positives:,} positives are known"
    # Windows that were counted before verdicts were told apart say positives alone.
    if health.not_reviewed is not None:
        known += f", {by_review:,} by review and {alone:,} by complaint alone"
    positives = health.positives
    if positives.value is None:
        yield f"{known}."
    elif positives.low is None or positives.high is None:
        yield f"{known}, of some {count_text(positives.value)}."
    else:
        ends = f"{count_text(positives.low)} to {count_text(positives.high)}"
        yield f"{known}, of some {count_text(positives.value)} ({ends})."


def _unseen_in_words(health: LabelsView) -> Iterator[str]:
    if health.not_reviewed is None or health.stopped is None:
        return
    yield (
        f"Nobody reviewed {percent_text(health.not_reviewed)} of the rows, and "
        f"{percent_text(health.stopped)} were declined outright without a verdict: nobody will "
        "know what these were."
    )


def _lateness_in_words(health: LabelsView) -> Iterator[str]:
    words = "verdicts" if health.has_reviews else ""
    for arrival in health.arrivals[:1]:
        parts = []
        if words and arrival.verdicts.value is not None:
            parts.append(f"{percent_text(arrival.verdicts.value)} of the verdicts")
        if arrival.complaints.value is not None:
            what = "complaints" if health.has_reviews else "labels"
            parts.append(f"{percent_text(arrival.complaints.value)} of the {what}")
        if parts:
            age = shown_duration(timedelta(days=arrival.age_days))
            when = "By the end of a window" if not arrival.age_days else f"{age} after its end"
            yield f"{when} {' and '.join(parts)} have come that come by the maturity."
    newest = next((window for window in reversed(health.windows) if window.to_come), None)
    if newest is not None and newest.to_come is not None:
        yield f"Window of {moment_text(newest.start)}: {newest.to_come.sentence}"


def _agreement_in_words(health: LabelsView) -> Iterator[str]:
    shared = sum(reviewer.shared for reviewer in health.reviewers)
    differ = sum(reviewer.differ for reviewer in health.reviewers)
    if not health.reviewers:
        return
    if shared < _FEW_SHARED:
        yield (
            "Hardly any case was decided by two reviewers, so nothing is known of how often they "
            "are wrong: have some cases decided twice."
        )
        return
    most = max(health.reviewers, key=lambda reviewer: reviewer.differ / max(reviewer.shared, 1))
    yield (
        f"Reviewers differ on {percent_text(differ / shared)} of the verdicts on cases that two of "
        f"them decided; most often {one_line(most.name)}, on {most.differ} of {most.shared}."
    )


def _worth_in_words(health: LabelsView) -> Iterator[str]:
    worths = [worth for worth in health.next_reviews if "recall" in worth.width_now]
    if not worths:
        return
    useful = [worth for worth in worths if worth.cases and not worth.hardly_anything]
    if not useful:
        yield "100 reviews more of these rows would tell hardly anything of recall and F1."
        return
    best = max(useful, key=lambda worth: worth.narrower["recall"])
    yield (
        f"{best.cases} reviews more tell most {WHERE_WORDS[best.where]}: recall is known to "
        f"±{number_text(best.width_now['recall'] / 2)} now, and would be to about "
        f"±{number_text(best.width_then['recall'] / 2)}."
    )
