"""Weekly windows before and after an audit: what becomes of their numbers."""

import json

import numpy as np
import pytest

from pumonitor import audit_plan
from pumonitor.errors import InputError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.audits.status import audits_view
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.insights import prior_said
from pumonitor.monitor.ledger.results.review_verdicts import configurations_of
from pumonitor.monitor.reports.window_curves import window_curves
from pumonitor.monitor.reports.window_files import window_files_of
from pumonitor.monitor.reports.window_problem import window_problem
from tests.monitor.windows.audited_weeks import FIRST, WEEK, draw, review, write_weeks

pytestmark = pytest.mark.usefixtures("unsearched_labels")

AUDITED_ONES = {"class_prior", "label_frequency", "aul", "auc", "f1", "precision", "recall"}
WEEKS = 7
NOW = FIRST + (WEEKS + 3) * WEEK


def jobs_of(truth, now=NOW):
    return open_jobs(read_configuration(truth.path).configuration, clock=lambda: now, deliver=False)


def newest(ledger, segment=""):
    """Results of each window's newest pane, by week and metric."""
    return {
        ((row.window_start - FIRST) // WEEK, row.metric): row
        for row in ledger.results("weekly", segment=segment)
    }


def evaluations(ledger, weeks=range(WEEKS), **asked):
    """Those of all rows, by week."""
    return {
        week: [
            one
            for one in ledger.evaluations("weekly", start=FIRST + week * WEEK, **asked)
            if one.segment == ""
        ][-1]
        for week in weeks
    }


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Unfair labels and a class prior that is given too high; week 3 is audited."""
    folder = tmp_path_factory.mktemp("weeks")
    truth = write_weeks(
        folder,
        weeks=WEEKS,
        favoured=8.0,
        more="    class_prior: 0.1\n",
        segments=", segments: [country]",
    )
    with jobs_of(truth) as jobs:
        assert jobs.run().failures == []
        before, segment = newest(jobs.ledger), newest(jobs.ledger, "country=DE")
        review(jobs.ledger, draw(jobs.ledger, truth, "a1", weeks=(3,)))
        done = jobs.run()
        assert done.failures == []
        yield truth, jobs, before, segment, newest(jobs.ledger)


def test_estimates_of_all_windows_come_from_the_audit_and_hold(reviewed):
    truth, jobs, before, _, after = reviewed
    held = {"f1": 0, "class_prior": 0}
    for week in range(WEEKS):
        known = {"f1": truth.f1(week), "class_prior": truth.class_prior(week)}
        for metric, value in known.items():
            row = after[week, metric]
            held[metric] += row.low <= value <= row.high
        assert before[week, "f1"].low > known["f1"]
        assert before[week, "class_prior"].assumed
        assert not after[week, "class_prior"].assumed
    assert min(held.values()) >= WEEKS - 1
    for week, one in evaluations(jobs.ledger).items():
        method = "audit" if week == 3 else "audit carried"
        estimates = one.evaluation["estimates"]
        assert {estimates[name]["method"] for name in AUDITED_ONES} == {method}
        assert estimates["average_precision"]["method"] == method
        assert one.evaluation["class_prior"]["method"] == method
        assert [used["audit"] for used in one.evaluation["made_with"]["audits"]] == ["a1"]
        names = {finding["name"] for finding in one.evaluation["warnings"]}
        assert "assumed_prior" not in names
        assert "prior_is_upper_bound" not in names


def test_segments_stay_as_they_were_where_those_of_the_cases_are_not_known(reviewed):
    _, jobs, _, segment, _ = reviewed
    now = newest(jobs.ledger, "country=DE")
    for key, row in segment.items():
        assert (now[key].value, now[key].low) == (row.value, row.low), key
    found = [one for one in jobs.ledger.evaluations("weekly", start=FIRST) if one.segment]
    said = {one["sentence"] for one in found[-1].evaluation["warnings"]}
    assert (
        "Audits are not used in this window: audit a1 was drawn without the segments of its cases."
        in said
    )


def test_reference_and_later_windows_rest_on_the_same_method(reviewed):
    _, _, before, _, after = reviewed
    for week in range(4, WEEKS):
        row = after[week, "f1_change"]
        assert row.low < 0 < row.high
        usual = sum(after[one, "f1"].value for one in range(4)) / 4
        assert row.value == pytest.approx(after[week, "f1"].value - usual, abs=0.02)
        assert before[week, "class_prior_change"].value is None
        assert abs(after[week, "class_prior_change"].value) < 0.03


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [
        (("class_prior: 0.1", "class_prior: 0.2"), True),
        (("threshold: 0.5", "threshold: 0.4"), False),
        pytest.param(("end: 2026-01-19", "end: 2026-01-12"), True, marks=pytest.mark.slow),
        pytest.param(("maturity: 14d", "maturity: 7d"), False, marks=pytest.mark.slow),
    ],
)
def test_a_new_configuration_keeps_audits_of_the_same_scores(tmp_path, change, is_kept):
    truth = write_weeks(tmp_path, weeks=4, reference=2, more="    class_prior: 0.1\n")
    with jobs_of(truth) as jobs:
        jobs.run()
        review(jobs.ledger, draw(jobs.ledger, truth, "a1", weeks=(1,)))
        jobs.run()
    text = truth.path.read_text()
    assert change[0] in text
    truth.path.write_text(text.replace(*change))
    with jobs_of(truth) as jobs:
        assert jobs.run().failures == []
        found = evaluations(jobs.ledger, weeks=(0, 2))
        monitor = read_configuration(truth.path).configuration.monitors["weekly"]
        (status,) = audits_view(jobs.ledger, monitor).audits
    methods = {one.evaluation["class_prior"]["method"] for one in found.values()}
    assert methods == ({"audit carried"} if is_kept else {"given"})
    assert status.is_current is is_kept


def test_each_window_of_an_audit_over_several_counts_as_audited(tmp_path, monkeypatch):
    monkeypatch.setattr(audit_plan, "AUDITS", 2)
    truth = write_weeks(tmp_path, weeks=3, reference=1, more="    class_prior: 0.1\n")
    with jobs_of(truth) as jobs:
        jobs.run()
        review(jobs.ledger, draw(jobs.ledger, truth, "a1", weeks=(0, 1)), until=0.5)
        jobs.run()
        rows = newest(jobs.ledger)
        said = {
            week: prior_said(jobs.ledger, one)
            for week, one in evaluations(jobs.ledger, range(3)).items()
        }
        among, _ = decided((truth, jobs), 1, "&value=50&cost=4")
        apart, _ = decided((truth, jobs), 2, "&value=50&cost=4")
    shares = {week: row.value for (week, metric), row in rows.items() if metric == "audited_share"}
    assert shares == {0: pytest.approx(0.5, abs=0.01), 1: pytest.approx(0.5, abs=0.01)}
    assert said[0] == said[1]
    assert "audit a1 of several windows, this one among them, and the confirmations" in said[0]
    assert "audit a1 of other windows and the confirmations" in said[2]
    assert ">by audit a1 of several windows, this one among them<" in among
    assert ">by audit a1 of other windows<" in apart
    # Windows that an audit was drawn from get more cases of it, and no audit of their own.
    assert "audit draw</code> <code>--more" in among
    assert "audit draw</code> <code>--more" not in apart


def test_verdicts_on_a_kept_audit_make_windows_of_both_configurations_due(tmp_path):
    truth = write_weeks(tmp_path, weeks=2, reference=1, more="    class_prior: 0.1\n")
    with jobs_of(truth) as jobs:
        jobs.run()
        drawn = draw(jobs.ledger, truth, "a1", weeks=(1,))
        before = jobs.ledger.configuration("weekly")
    truth.path.write_text(truth.path.read_text().replace("class_prior: 0.1", "class_prior: 0.2"))
    with jobs_of(truth) as jobs:
        jobs.run()
        after = jobs.ledger.configuration("weekly")
        assert after != before
        with jobs.ledger.database.reading() as connection:
            found = configurations_of(connection, [drawn.name], monitor="weekly")
        assert found == sorted([before, after])
        assert [one.name for one in jobs.ledger.reviews.all("weekly", configuration=after)] == [
            "a1"
        ]
        with pytest.raises(InputError, match="audit a1, drawn on"):
            jobs.ledger.reviews.refuse_drawn(
                "weekly", after, model_version="", starts=[FIRST + WEEK]
            )


@pytest.mark.slow
def test_evaluation_is_made_again_from_what_is_stored(reviewed):
    _, jobs, _, _, _ = reviewed
    for one in evaluations(jobs.ledger, weeks=(1,)).values():
        problem = window_problem(one, jobs.ledger)
        stored = one.evaluation["class_prior"]
        assert problem is not None
        prior = problem.evidence.reading.class_prior
        assert (prior.value, prior.low) == (stored["value"], stored["low"])
        asked = {
            "window_key": one.window_key,
            "revision": one.revision,
            "model_version": "",
            "segment": "",
        }
        monitors = read_configuration(reviewed[0].path).configuration.monitors
        files = window_files_of(monitors, jobs.ledger, asked)
        again = json.loads(files["evaluation.json"])
        assert again["estimates"]["f1"] == one.evaluation["estimates"]["f1"]
        assert "an audit" in files["report.html"]


@pytest.mark.parametrize(("week", "is_carried"), [(3, False), (5, True)])
def test_the_report_of_a_window_says_what_the_audit_assumes_and_found(reviewed, week, is_carried):
    truth, jobs, *_ = reviewed
    [one] = evaluations(jobs.ledger, weeks=(week,)).values()
    asked = {
        "window_key": one.window_key,
        "revision": one.revision,
        "model_version": "",
        "segment": "",
    }
    monitors = read_configuration(truth.path).configuration.monitors
    files = window_files_of(monitors, jobs.ledger, asked)
    again = json.loads(files["evaluation.json"])
    assert again["settings"]["target"] == "window"
    found = {finding["name"]: finding["sentence"] for finding in again["warnings"]}
    assert "times as often as those" in found["unfair_labels_by_audit"]
    page = " ".join(files["report.html"].split())
    assert "It is not assumed that the confirmed positives are a fair sample" in page
    assert "The audit found that positives" in page
    assert ("The audit is not of these cases alone." in page) is is_carried
    assert "has nothing to do with its score" not in page


def test_reading_again_what_is_known_makes_no_revision(reviewed):
    truth, jobs, _, _, after = reviewed
    review(jobs.ledger, draw(jobs.ledger, truth, "a2", weeks=(2,)), until=0.0)
    assert jobs.run().evaluated >= WEEKS
    assert {key: row.revision for key, row in newest(jobs.ledger).items()} == {
        key: row.revision for key, row in after.items()
    }


def content(ledger):
    """What the newest revision of each pane holds."""
    found = {}
    for row in ledger.results("weekly", revisions="all"):  # in the order of revisions
        key = (row.window_start, row.as_of, row.segment, row.metric)
        found[key] = (row.value, row.low, row.high, row.undefined_reason)
    for week in range(WEEKS):
        for one in ledger.evaluations("weekly", start=FIRST + week * WEEK, revisions="all"):
            found[week, one.as_of, one.segment] = json.dumps(one.evaluation, sort_keys=True)
    return found


@pytest.mark.slow
def test_backfill_with_all_verdicts_equals_a_live_monitor_that_read_them_in_two_portions(tmp_path):
    common = {"weeks": WEEKS, "rows": 2500, "panes": "[7d]"}
    truth = write_weeks(tmp_path, state="live.db", **common)
    drawn = None
    for week in range(4, WEEKS + 4):
        with jobs_of(truth, now=FIRST + week * WEEK) as jobs:
            assert jobs.run().failures == []
            if week == 5:
                drawn = draw(jobs.ledger, truth, "a1", weeks=(1, 2))
                review(jobs.ledger, drawn, until=0.4)
            if week == 8:
                review(jobs.ledger, drawn, since=0.4)
    with jobs_of(truth) as jobs:
        assert jobs.run().failures == []
        live = content(jobs.ledger)
    again = write_weeks(tmp_path, state="again.db", **common)
    with jobs_of(again) as jobs:
        assert jobs.run().failures == []
        review(jobs.ledger, draw(jobs.ledger, again, "a1", weeks=(1, 2)))
        assert jobs.run().failures == []
        backfilled = content(jobs.ledger)
    assert live.keys() == backfilled.keys()
    assert [key for key, one in live.items() if one != backfilled[key]] == []
    carried = [one for key, one in live.items() if len(key) == 3 and "audit carried" in one]
    assert len(carried) > WEEKS


def test_curves_of_an_audited_window_show_its_numbers(reviewed):
    _, jobs, _, _, after = reviewed
    for week, one in evaluations(jobs.ledger, weeks=(3, 5)).items():
        found = window_problem(one, jobs.ledger)
        drawn = window_curves(found)
        for name in ("f1", "precision", "recall"):
            by = drawn.curves[f"{name}_by_threshold"]
            at = np.searchsorted(by.x, found.threshold)
            assert by.y[at] == pytest.approx(after[week, name].value, abs=0.02)
        assert drawn.sensitivities == {}
        assert not [name for name in drawn.curves if name.endswith("_bounds")]
        assert one.evaluation["bounds"] == {}
        assert not drawn.cells.impossible.any()


def test_a_page_has_no_bounds_where_an_audit_tests_the_labels(reviewed):
    truth, jobs, *_ = reviewed
    monitors = read_configuration(truth.path).configuration.monitors
    site = Site(monitors=monitors, ledger=jobs.ledger, clock=lambda: NOW)
    client = make_app(site, is_host=lambda _: True).test_client()
    for week in (3, 5):
        start = FIRST + week * WEEK
        page = client.get(f"/monitors/weekly/windows/{start:%Y-%m-%dT%H:%M:%SZ}").text
        assert "<figcaption>ROC</figcaption>" in page
        assert "ounds" not in page


def decided(reviewed, week, more=""):
    """Page and answer of the API from a week, as its address says."""
    monitors = read_configuration(reviewed[0].path).configuration.monitors
    site = Site(monitors=monitors, ledger=reviewed[1].ledger, clock=lambda: NOW)
    client = make_app(site, is_host=lambda _: True).test_client()
    until = (FIRST + week * WEEK + WEEK / 7).isoformat().replace("+00:00", "Z")
    page = client.get(f"/monitors/weekly/decide?until={until}{more}")
    answer = client.get(f"/api/v1/monitors/weekly/decide?until={until}{more}")
    assert page.status_code == answer.status_code == 200
    return " ".join(page.text.split()), answer.json


@pytest.mark.parametrize(("week", "method"), [(3, "audit"), (5, "audit carried")])
def test_a_decision_stands_on_an_audited_window_with_its_numbers_digit_by_digit(
    reviewed, week, method, monkeypatch
):
    monkeypatch.setattr(audit_plan, "AUDITS", 2)
    truth, _, _, _, after = reviewed
    page, found = decided(reviewed, week, "&value=50&cost=4&capacity=300")
    assert found["window_start"] == (FIRST + week * WEEK).isoformat()
    assert (found["audit"], found["audit_method"]) == ("a1", method)
    said = "its audit a1" if method == "audit" else "audit a1 of other windows"
    assert f">by {said}<" in page
    now, chosen, best = found["thresholds"]
    for name in ("precision", "recall", "f1"):
        row, shown = after[week, name], now["estimates"][name]
        assert (shown["value"], shown["low"], shown["high"]) == (row.value, row.low, row.high)
    assert chosen["estimates"]["reviews"]["value"] <= 300
    assert best["kind"] == "best"
    own = truth.week == week
    for one in found["thresholds"]:
        flagged = truth.scores[own] >= one["threshold"]
        caught = (flagged & truth.positive[own]).sum()
        assert one["estimates"]["reviews"]["value"] == pytest.approx(flagged.sum())
        money = one["estimates"]["money"]
        assert one["relied_on"]["low"] <= 50 * caught - 4 * flagged.sum()
        assert one["relied_on"]["low"] < money["low"] < money["value"]
    assert found["best_said"] in page
    [option] = found["reviews"]["options"]
    assert (option["where"], option["cases"]) == ("bins", 300)
    assert option["widths"]["f1"] < found["reviews"]["now"]["f1"]
    assert ("audit draw</code> <code>--more" in page) is (method == "audit")


def test_a_segment_is_decided_without_the_audit(reviewed):
    page, found = decided(reviewed, 5, "&segment=country%3DDE")
    assert (found["audit"], found["audit_method"]) == ("", None)
    assert {one["where"] for one in found["reviews"]["options"]} == {"above", "below", "all"}
    assert "process behind this window" in page
