"""The page of a window: curves, other class priors, inputs, what a revision changed, files."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from pumonitor.metrics import THRESHOLD_METRICS
from pumonitor.metrics.rates import at_threshold
from pumonitor.monitor.dashboard.kept import Kept
from pumonitor.monitor.dashboard.pages import window_page as page
from pumonitor.monitor.dashboard.pages.window_changes import changes_said
from pumonitor.monitor.dashboard.pages.window_inputs import configuration_said, counted_rows
from pumonitor.monitor.reports.window_curves import OVER_PRIORS, window_curves
from pumonitor.monitor.reports.window_problem import window_problem
from pumonitor.text import count_text, number_text
from tests.monitor.monitored_shop import FIRST

NAME = "card-fraud"
ADDRESS = f"/monitors/{NAME}/windows/{FIRST:%Y-%m-%dT%H:%M:%SZ}"


@pytest.fixture(scope="module")
def stored(evaluated):
    return evaluated.ledger.evaluations(NAME, start=FIRST, revisions="all")


@pytest.fixture(scope="module")
def drawn(evaluated, stored):
    return window_curves(window_problem(stored[-1], evaluated.ledger))


def test_every_revision_is_computed_again_to_the_last_digit(evaluated, stored):
    assert len(stored) == 3
    for one in stored:
        found = window_problem(one, evaluated.ledger)
        at = at_threshold(found.problem, found.threshold)
        for metric in THRESHOLD_METRICS:
            again, before = metric.estimate(at), one.evaluation["estimates"][metric.name]
            assert (again.value, again.low, again.high, again.se) == (
                before["value"],
                before["low"],
                before["high"],
                before["se"],
            )


def test_curves_pass_through_the_stored_numbers(stored, drawn):
    estimates = stored[-1].evaluation["estimates"]
    for metric in ("precision", "recall", "f1"):
        curve = drawn.curves[f"{metric}_by_threshold"]
        at = np.searchsorted(curve.x, drawn.threshold)
        assert curve.y[at] == estimates[metric]["value"]
    assert set(drawn.sensitivities) == set(OVER_PRIORS)
    for metric, swept in drawn.sensitivities.items():
        at = swept.priors.tolist().index(stored[-1].evaluation["class_prior"]["value"])
        assert swept.value[at] == estimates[metric]["value"]


def test_other_counts_than_were_evaluated_are_not_drawn(evaluated, stored):
    early, late = stored[0], stored[-1]
    assert window_problem(replace(late, number=early.number), evaluated.ledger) is None
    assert window_problem(replace(late, number=99), evaluated.ledger) is None
    assert window_problem(replace(late, evaluation={}), evaluated.ledger) is None


def test_the_page_draws_curves_with_tables(evaluated):
    shown = evaluated.get(ADDRESS).text
    headings = re.findall(r"<figcaption>([^<]*)</figcaption>", shown)
    assert headings == [
        "Precision and recall",
        "ROC",
        "Precision by threshold",
        "Recall by threshold",
        "F1 by threshold",
        "Scores",
        "Precision",
        "Recall",
        "F1",
        "AUC",
    ]
    assert shown.count('class="curves"') == shown.count("<summary>Numbers</summary>") == 10
    identifiers = re.findall(r' id="([^"]*)"', shown)
    assert len(identifiers) == len(set(identifiers))
    assert shown.count("now 0.5</text>") == 4
    assert "The stronger shade is the 95% interval of the share, 7.0 to 13.0%" in shown
    assert "nan" not in shown.lower().replace("pane", "")
    # Before all numbers.
    said = shown.index("Labels are taken for a fair sample of the positives")
    assert said < shown.index("<table")
    assert "the odds of confirmation of the others, recall would be " in shown


def test_a_revision_is_drawn_once(evaluated, monkeypatch):
    first = evaluated.get(ADDRESS).text
    monkeypatch.setattr(page, "window_curves", lambda _: pytest.fail("drawn again"))
    assert evaluated.get(ADDRESS).text == first


def test_kept_forgets_the_least_used_first():
    kept = Kept(most=2)
    for key in "aba":
        kept.get(key, lambda key=key: key)
    kept.get("c", lambda: "c")
    assert kept.get("a", lambda: "again") == "a"
    assert kept.get("b", lambda: "again") == "again"


def test_inputs_name_rows_configuration_class_prior_and_seed(evaluated, stored):
    shown = evaluated.get(ADDRESS).text
    record = evaluated.ledger.windows(NAME)[0]
    seed = stored[-1].evaluation["made_with"]["seed"]
    facts = dict(re.findall(r"<div><dt>([^<]*)</dt><dd>(.*?)</dd></div>", shown))
    assert facts["Class prior"] == "10.0% (7.0 to 13.0%), given interval"
    assert facts["Threshold"] == "0.5"
    assert facts["Seed of the draws"] == str(seed)
    assert facts["Configuration"] == (
        f"<code>{record.configuration[:12]}</code>, the same as of all other windows"
    )
    assert facts["Predictions that count"] == f"{record.panes[-1].counts['predictions']:,}"


def test_rows_that_never_occurred_are_not_counted():
    assert counted_rows({"predictions": 0, "duplicate_labels": 0, "late_labels": 3}) == [
        ("predictions that count", "0"),
        ("rows of labels", "0"),
        ("labels first known after the maturity", "3"),
    ]
    assert counted_rows(None) == []


def test_a_changed_configuration_says_which_key():
    class Told:
        def __init__(self, windows):
            self.windows = windows

        def configurations(self, _):
            return {"a": {"threshold": 0.5}, "b": {"threshold": 0.8}}

        def evaluated_windows(self, _):
            return self.windows

    def window(configuration, day):
        return type("W", (), {"configuration": configuration, "end": day})

    record = type("R", (), {"monitor": NAME, "configuration": "b"})
    record.window = type("W", (), {"start": 5})
    said = configuration_said(Told([window("a", 5), window("b", 4)]), record)
    assert said == "changed since the window before: threshold was 0.5 and is now 0.8"
    said = configuration_said(Told([window("a", 5), window("b", 5)]), record)
    assert said == "unchanged since the window before"
    assert configuration_said(Told([window("a", 6)]), record) == "no earlier window has results"


def rows_of(evaluated, revision):
    rows = evaluated.ledger.results(NAME, since=FIRST, metrics=None, revisions="all")
    return {
        row.metric: row for row in rows if row.revision == revision and row.window_start == FIRST
    }


def test_a_revision_tells_which_labels_arrived_and_what_became_of_the_numbers(evaluated, stored):
    shown = evaluated.get(f"{ADDRESS}?revision=1").text
    said = re.findall(r"<li>([^<]*)</li>", shown.split('class="changes"')[1])
    then, now = rows_of(evaluated, 0), rows_of(evaluated, 1)
    before, after = (round(one["labeled_positives"].value) for one in (then, now))
    tables = [window_problem(one, evaluated.ledger).problem.table for one in stored[:2]]
    above = [one.labeled[one.index_of_threshold(0.5) :].sum() for one in tables]
    assert after > before
    assert said[0] == (
        f"{after - before} more confirmed positives between 2026-01-02 and 2026-01-04 ({before} "
        f"before, {after} now), {count_text(above[1] - above[0])} of them at or above the "
        "threshold."
    )
    assert said[1] == "The window was provisional and is mature."
    assert f"F1 {number_text(then['f1'].value)} before, {number_text(now['f1'].value)} now." in said
    assert not any(one.startswith("Share of positives") for one in said)


def test_a_revision_without_new_labels_says_so(evaluated, stored):
    rows = rows_of(evaluated, 2)
    said = changes_said(stored[2], rows, stored[2], rows, zone=FIRST.tzinfo)
    assert said == [
        "No further positive was confirmed: there are "
        f"{count_text(rows['labeled_positives'].value)}."
    ]


def test_a_revision_by_an_audit_names_it(evaluated, stored):
    rows = rows_of(evaluated, 2)

    def with_audits(*decided):
        used = [
            {"audit": f"a{place}", "decided": one, "digest": f"{one}"}
            for place, one in enumerate(decided)
        ]
        made_with = stored[2].evaluation["made_with"] | {"audits": used}
        return replace(stored[2], evaluation={**stored[2].evaluation, "made_with": made_with})

    def said(then, now):
        return changes_said(now, rows, then, rows, zone=FIRST.tzinfo)

    nothing = said(stored[2], stored[2])
    assert said(stored[2], with_audits(300)) == [
        "The audit a0 was read, with 300 decided cases: estimates may change without a further "
        "confirmation.",
        *nothing,
    ]
    assert said(with_audits(300), with_audits(340, 100))[:2] == [
        "Further verdicts of the audit a0 were read: 300 decided cases before, 340 now.",
        "The audit a1 was read, with 100 decided cases: estimates may change without a further "
        "confirmation.",
    ]
    assert said(with_audits(300), with_audits(300)) == nothing
    assert said(with_audits(300), stored[2])[0] == "The audit a0 is not used any more."


def test_the_files_are_those_of_the_revision_shown(evaluated):
    found = evaluated.get(f"{ADDRESS}/results.csv?revision=1")
    assert found.mimetype == "text/csv"
    lines = {line["metric"]: line for line in csv.DictReader(io.StringIO(found.text))}
    stored = rows_of(evaluated, 1)
    assert set(lines) == set(stored)
    assert float(lines["f1"]["value"]) == stored["f1"].value
    assert lines["f1"]["revision"] == "1"
    assert evaluated.get(f"{ADDRESS}/results.csv?revision=9").status_code == 404
    assert evaluated.get(f"{ADDRESS}/report.html?revision=9").status_code == 404
    assert evaluated.get(f"{ADDRESS}/results.csv?revision=x").status_code == 400


def test_the_report_is_a_file_to_keep(evaluated, monkeypatch):
    asked = []

    def made(monitors, _ledger, of):
        asked.append((list(monitors), of["revision"]))
        return {"report.html": "<p>report</p>"}

    monkeypatch.setattr(page, "window_files_of", made)
    found = evaluated.get(f"{ADDRESS}/report.html?revision=1")
    assert found.text == "<p>report</p>"
    assert asked == [([NAME], 1)]
    assert found.headers["Content-Disposition"] == (
        "attachment; filename=pumonitor-2026-01-01T000000Z.html"
    )
    shown = evaluated.get(f"{ADDRESS}?revision=1").text
    assert f'href="{ADDRESS}/report.html?version=-&amp;revision=1"' in shown
    assert f'href="{ADDRESS}/results.csv?version=-&amp;revision=1"' in shown


def test_what_read_the_window_stands_with_its_inputs(evaluated):
    shown = evaluated.get(ADDRESS).text
    (read_by,) = re.findall(r"<dt>Read by</dt><dd>([^<]*)</dd>", shown)
    assert re.fullmatch(r"duckdb \d+\.\d+\.\d+, in \S+ seconds?, 3 windows together", read_by)
    answer = evaluated.get(f"/api/v1{ADDRESS}").json
    for pane in answer["panes"]:
        assert pane["counts"]["versions"]["read_by"]["engine"] == "duckdb"
