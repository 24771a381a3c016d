"""Which series are called higher or lower, and which not for want of a class prior of their own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pumonitor.monitor.dashboard.address import SeriesAddress
from pumonitor.monitor.dashboard.pages.side_by_side import OfWindow, versions_beside
from pumonitor.monitor.reports.paired_windows import WindowValue
from tests.monitor.dashboard.shop_pages import monitors

START = datetime(2026, 1, 1, tzinfo=UTC)


def said_of_versions(metric, *, class_prior, rows=(20, 980), segment=""):
    """What is said of version 2, whose values are higher by 0.2 in every window."""
    monitor = monitors()["card-fraud"].model_copy(update={"class_prior": class_prior})
    values = {
        (version, segment): {
            START + timedelta(days=day): OfWindow(WindowValue(at, at - 0.03, at + 0.03), counted)
            for day in range(first, 6)
        }
        for version, at, counted, first in (("1", 0.5, (20, 980), 0), ("2", 0.7, rows, 1))
    }
    at = SeriesAddress(metric=metric, segment=segment)
    [found] = versions_beside(values, at, monitor)
    assert found.difference == "+0.200"
    return found.said


@pytest.mark.parametrize("rows", [(20, 980), (3, 97), (None, None)])
def test_under_an_assumed_prior_only_versions_of_the_same_rows_are_told_apart(rows):
    said = said_of_versions("precision", class_prior=0.05, rows=rows)
    same = rows == (20, 980)
    assert said == (
        "higher"
        if same
        else "the class prior is assumed, and the versions did not predict the same rows"
    )
    # Recall, the ranking of confirmed cases and the share flagged need no class prior.
    for metric in ("recall", "aul", "predicted_positive_rate", "f1_pu"):
        assert said_of_versions(metric, class_prior=0.05, rows=rows) == "higher"
    assert said_of_versions("precision", class_prior="auto", rows=rows) == "higher"


def test_an_assumed_prior_tells_no_versions_apart_in_a_segment():
    said = said_of_versions("precision", class_prior=0.05, segment="country=DE")
    assert said.startswith("the class prior is assumed for all rows")
