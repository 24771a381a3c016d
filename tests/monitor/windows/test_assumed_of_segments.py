"""A class prior that is given for all rows is used for each segment, and each of them says so."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.prior_outlook import prior_notes
from pumonitor.monitor.rules.labels.confirmed_share import ConfirmedShare
from pumonitor.monitor.windows.class_prior.assumed_of_segments import (
    FINDING_OF_SEGMENT,
    if_confirmed_equally,
    segment_finding,
)
from pumonitor.monitor.windows.class_prior.stored_findings import stored_findings
from pumonitor.results import ClassPriorEstimate, Finding
from tests.monitor.windows.test_given_priors import CONFIGURATION, FIRST, SETTLED, write_days

ALL = ConfirmedShare(labeled=100, rows=10_000)
GIVEN = ClassPriorEstimate.given(0.03)
INSTEAD = (
    "Write class_prior: auto, which estimates that of each segment, or a monitor of the segment's "
    "rows alone with a class_prior of its own."
)


def found(labeled: int, rows: int, prior: ClassPriorEstimate = GIVEN) -> Finding:
    return segment_finding(prior, ConfirmedShare(labeled=labeled, rows=rows), ALL)


def test_a_segment_like_all_rows_has_a_note_of_what_is_assumed() -> None:
    said = found(12, 1000)
    assert said.severity == "note"
    assert said.sentence == (
        "The class prior of 0.03 is assumed for all rows and used for this segment, whose own is "
        f"not known. {INSTEAD}"
    )


def test_a_segment_confirmed_more_often_has_a_warning_with_a_prior_that_fits() -> None:
    said = found(40, 1000)
    assert said.severity == "warning"
    assert said.sentence == (
        "The class prior of 0.03 is assumed for all rows and used for this segment, whose own is "
        "not known: 4% of its rows are confirmed, and 1% of all; if its positives are "
        "confirmed as often as all, its class prior is 0.120 (0.0924 to 0.149), and every estimate "
        f"computed with 0.03 is wrong. {INSTEAD}"
    )
    assert found(0, 3000).severity == "warning"


def test_a_prior_above_one_is_not_named() -> None:
    said = found(40, 1000, ClassPriorEstimate.given(0.4)).sentence
    assert "its positives are confirmed more often than all" in said
    assert "1.6" not in said


@pytest.mark.parametrize(("labeled", "rows"), [(0, 0), (100, 10_000)])
def test_an_empty_segment_and_one_of_all_rows_differ_from_nothing(labeled: int, rows: int) -> None:
    assert found(labeled, rows).severity == "note"
    nothing = ConfirmedShare(labeled=0, rows=10_000)
    empty = segment_finding(GIVEN, ConfirmedShare(labeled=0, rows=50), nothing)
    assert empty.severity == "note"


def test_chance_warns_of_fewer_than_one_segment_in_a_thousand() -> None:
    rng = np.random.default_rng(1)
    labeled = rng.binomial([20] * 2000 + [500] * 2000, [0.02, 0.2] * 2000)
    shares = [ConfirmedShare(labeled=n, rows=10_000) for n in (20, 500)]
    warned = sum(
        segment_finding(
            GIVEN,
            ConfirmedShare(labeled=int(one), rows=200 if place % 2 == 0 else 2000),
            shares[place // 2000],
        ).severity
        == "warning"
        for place, one in enumerate(labeled)
    )
    assert warned <= 8


def test_the_prior_of_a_segment_is_held_if_positives_are_confirmed_equally_often() -> None:
    """A prior of all rows that is off by as much as its interval says."""
    rng, runs, held = np.random.default_rng(2), 1000, 0
    for _ in range(runs):
        own = rng.binomial(1000, 0.2 * 0.3)
        others = rng.binomial(9000, 0.02 * 0.3)
        true = (0.2 * 1000 + 0.02 * 9000) / 10_000
        middle = true * np.exp(0.1 * rng.standard_normal())
        given = ClassPriorEstimate.given((middle, middle / 1.2165, middle * 1.2165))
        _, low, high = if_confirmed_equally(
            given,
            ConfirmedShare(labeled=own, rows=1000),
            ConfirmedShare(labeled=own + others, rows=10_000),
        )
        held += low <= 0.2 <= high
    assert 0.93 <= held / runs <= 0.97


@pytest.mark.slow
def test_results_of_a_segment_say_that_its_prior_is_that_of_all_rows(tmp_path: Path) -> None:
    write_days(tmp_path)
    path = tmp_path / "pumonitor.yaml"
    path.write_text(CONFIGURATION.format(class_prior="{assumed: 0.1}", segments="country"))
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: SETTLED, deliver=False
    ) as jobs:
        day = FIRST + timedelta(days=7)
        jobs.plan("shop", start=day, end=day + timedelta(days=1))
        assert jobs.drain().failures == []
        rows = {one.segment: one for one in jobs.ledger.evaluations("shop", start=day)}
    names = {
        segment: [one["name"] for one in row.evaluation["warnings"]]
        for segment, row in rows.items()
    }
    assert names[""].count(FINDING_OF_SEGMENT) == 0
    for segment in ("country=DE", "country=FR"):
        assert names[segment].count(FINDING_OF_SEGMENT) == 1
    # Three in ten of the rows of DE are positive, and one in twenty of those of FR.
    told = stored_findings(rows["country=DE"].evaluation)
    assert any("of its rows are confirmed" in one.sentence for one in told)


@pytest.mark.parametrize(("segments", "notes"), [("", 1), ("country", 2)])
def test_check_says_that_segments_share_the_assumed_prior(
    tmp_path: Path, segments: str, notes: int
) -> None:
    path = tmp_path / "pumonitor.yaml"
    path.write_text(CONFIGURATION.format(class_prior="{assumed: 0.1}", segments=segments))
    (monitor,) = read_configuration(path).configuration.monitors.values()
    found = list(prior_notes(monitor))
    assert len(found) == notes
    assert ("used for each segment" in found[-1]) == (notes == 2)
