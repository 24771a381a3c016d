"""Segments of windows by the cases of an audit that fall into them."""

import pytest

from tests.monitor.windows.audited_weeks import FIRST, WEEK, draw, review, write_weeks
from tests.monitor.windows.test_audited_windows import jobs_of, newest

pytestmark = pytest.mark.usefixtures("unsearched_labels")

WEEKS = 5


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Twice as many positives in one of two countries; an audit of week 2, one of weeks 3 and 4."""
    truth = write_weeks(
        tmp_path_factory.mktemp("weeks"),
        weeks=WEEKS,
        more_in_germany=2.0,
        favoured=4.0,
        reference=2,
        more="    class_prior: 0.15\n",
        segments=", segments: [country]",
    )
    with jobs_of(truth, FIRST + (WEEKS + 3) * WEEK) as jobs:
        assert jobs.run().failures == []
        review(jobs.ledger, draw(jobs.ledger, truth, "a1", weeks=(2,), with_segments=True))
        assert jobs.run().failures == []
        yield truth, jobs


def evaluation(jobs, week, country):
    found = jobs.ledger.evaluations("weekly", start=FIRST + week * WEEK)
    return [one for one in found if one.segment == f"country={country}"][-1].evaluation


@pytest.mark.parametrize("country", ["DE", "FR"])
def test_estimates_of_a_segment_come_from_its_cases_and_hold(reviewed, country):
    truth, jobs = reviewed
    rows = newest(jobs.ledger, f"country={country}")
    held = {"f1": 0, "class_prior": 0}
    for week in range(WEEKS):
        method = "audit" if week == 2 else "audit carried"
        assert evaluation(jobs, week, country)["class_prior"]["method"] == method
        for metric, value in (
            ("f1", truth.f1(week, country)),
            ("class_prior", truth.class_prior(week, country)),
        ):
            row = rows[week, metric]
            held[metric] += row.low <= value <= row.high
    assert min(held.values()) >= WEEKS - 1
    # Rules with evidence: audited are about all rows.
    assert (2, "audited_share") not in rows
    assert newest(jobs.ledger)[2, "audited_share"].value == 1.0


def test_segments_are_told_apart(reviewed):
    _, jobs = reviewed
    rows = {one: newest(jobs.ledger, f"country={one}")[2, "class_prior"] for one in ("DE", "FR")}
    assert rows["DE"].low > rows["FR"].high


def test_an_audit_with_few_verdicts_in_a_segment_says_so(tmp_path):
    truth = write_weeks(
        tmp_path,
        weeks=2,
        reference=1,
        more="    class_prior: 0.06\n",
        segments=", segments: [country]",
    )
    with jobs_of(truth, FIRST + 5 * WEEK) as jobs:
        jobs.run()
        drawn = draw(jobs.ledger, truth, "a1", weeks=(0,), cases=60, with_segments=True)
        review(jobs.ledger, drawn, until=0.2)
        jobs.run()
        whole = newest(jobs.ledger)[0, "audited_share"]
        found = evaluation(jobs, 0, "DE")
    assert whole.value == pytest.approx(0.2, abs=0.02)
    assert found["class_prior"]["method"] == "given"
    (said,) = [one["sentence"] for one in found["warnings"] if one["name"] == "auditnot_used"]
    assert "of the cases of audit a1 with a verdict" in said
    assert said.endswith("of this segment, and 10 must be.")
