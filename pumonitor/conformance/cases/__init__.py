"""Generated rows in which engines are known to differ."""

from __future__ import annotations

from pumonitor.conformance.cases.case import Case
from pumonitor.conformance.cases.ids import cases_of_ids
from pumonitor.conformance.cases.labels import cases_of_labels
from pumonitor.conformance.cases.reviews import cases_of_reviews
from pumonitor.conformance.cases.scores import cases_of_scores
from pumonitor.conformance.cases.times import cases_of_times

__all__ = ["all_cases"]


def all_cases() -> list[Case]:
    """Every case, in the order in which they are shown."""
    return [
        *cases_of_labels(),
        *cases_of_reviews(),
        *cases_of_scores(),
        *cases_of_times(),
        *cases_of_ids(),
    ]
