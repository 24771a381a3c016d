"""Differences between models by reviews and complaints, over several windows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pumonitor.gate import GateSettings, ReviewedPair, evidence_of, judge, window_from_bytes


def pair(mean, *, sd=0.02, total=100.0, undecided=0.0, positives=50):
    """A window whose difference is normal; undecided rows move it by so much."""
    drawn = stats.norm.ppf((np.arange(2000) + 0.5) / 2000, mean, sd)
    readings = [drawn] if not undecided else [drawn, drawn - undecided, drawn + undecided]
    return ReviewedPair.of_draws(
        {"recall": readings, "aul": [each / 10 for each in readings]},
        positives=positives,
        total=total,
        rows=1000,
    )


NONE_KNOWN = ReviewedPair.of_draws({}, positives=1, total=0, rows=1000)


def test_ends_are_the_means_of_those_of_the_windows_by_their_positives():
    evidence = evidence_of([pair(0.1), pair(0.2, sd=0.04, total=300.0)], "recall")

    assert evidence.mean == pytest.approx(0.175, abs=1e-4)
    assert evidence.lower(error=0.025) == pytest.approx(0.175 - 1.96 * 0.035, abs=1e-3)
    assert evidence.upper(error=0.025) == pytest.approx(0.175 + 1.96 * 0.035, abs=1e-3)


def test_more_windows_alike_do_not_narrow_it():
    one, many = (evidence_of([pair(0.1)] * number, "recall") for number in (1, 20))

    assert many.lower(error=0.025) == pytest.approx(one.lower(error=0.025))


def test_it_holds_whatever_undecided_rows_are():
    evidence = evidence_of([pair(0.1, undecided=0.05), pair(0.1)], "recall")

    assert evidence.mean == pytest.approx(0.1, abs=1e-4)
    assert evidence.lower(error=0.025) == pytest.approx(0.075 - 1.96 * 0.02, abs=1e-3)
    assert evidence.upper(error=0.025) == pytest.approx(0.125 + 1.96 * 0.02, abs=1e-3)


def test_capital_orders_challengers_as_the_least_errors_do():
    strong, weak = (evidence_of([pair(mean)], "recall") for mean in (0.05, 0.03))

    assert 1 / weak.capital() == pytest.approx(stats.norm.sf(1.5), abs=2e-3)
    assert strong.capital() > weak.capital()


def test_stored_windows_come_back():
    for window in (pair(0.1, undecided=0.05), NONE_KNOWN):
        again = window_from_bytes(window.to_bytes())
        assert isinstance(again, ReviewedPair)
        assert np.array_equal(again.recall, window.recall)
        assert (again.positives, again.total, again.rows) == (
            window.positives,
            window.total,
            window.rows,
        )


@pytest.mark.parametrize(
    ("mean", "windows", "verdict"),
    [(0.1, 5, "better"), (-0.1, 5, "worse"), (0.01, 40, "not yet"), (0.1, 4, "not yet")],
)
def test_verdicts(mean, windows, verdict):
    seen = [pair(mean)] * windows + [NONE_KNOWN]
    judgement = judge({"v8": seen}, GateSettings())["v8"]

    assert judgement.verdict == verdict
    assert judgement.labels == 50 * windows + 1
    assert judgement.possible_review is None


def test_a_challenger_may_not_be_worse_in_ranking():
    windows = [pair(0.1)] * 6
    assert judge({"v8": windows}, GateSettings(not_worse={"aul": 0.01}))["v8"].verdict == "better"
    bent = [
        ReviewedPair.of_draws(
            {"recall": [np.full(99, 0.1)], "aul": [np.full(99, -0.05)]},
            positives=50,
            total=100,
            rows=1000,
        )
    ] * 6
    assert judge({"v8": bent}, GateSettings(not_worse={"aul": 0.01}))["v8"].verdict == "worse"


def test_without_a_positive_there_is_nothing_to_say():
    judgement = judge({"v8": [NONE_KNOWN]}, GateSettings())["v8"]

    assert judgement.verdict == "not yet"
    assert "no confirmed positives yet" in judgement.reason


def test_of_several_the_error_is_shared():
    seen = {"v8": [pair(0.042)] * 5, "v9": [pair(0.042)] * 5}

    assert judge({"v8": seen["v8"]}, GateSettings())["v8"].verdict == "better"
    assert {one.verdict for one in judge(seen, GateSettings()).values()} == {"not yet"}
