"""`pumonitor audit` of a monitor: from its windows to cases, from verdicts to its ledger."""

from __future__ import annotations

import csv
import json
import logging
import shutil
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

from pumonitor import audit_plan
from pumonitor.audit.ordering import draw_key
from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs, open_ledger
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import FIRST, write_shop

DAYS = 3
CANARY = "kanarienvogel"
AUDITS = (
    "    audits: {cases: 90, every: 30d, columns: [country], seeds: 10%, twice: 10%, "
    "verdicts: {source: verdicts.csv, audit: audit, case: case}}\n"
)


@pytest.fixture(scope="module", autouse=True)
def few_simulations() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 2)
        yield


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days that are mature, and a fourth that is not; ids that nobody could overlook."""
    folder = tmp_path_factory.mktemp("shop")
    path = write_shop(folder, days=DAYS + 1, class_prior=0.1, panes="[0d]")
    path.write_text(path.read_text() + AUDITS)
    for name in ("predictions", "confirmations"):
        frame = pd.read_parquet(folder / f"{name}.parquet")
        frame["prediction_id"] = f"{CANARY}-" + frame["prediction_id"].astype(str)
        frame.to_parquet(folder / f"{name}.parquet")
    work(path)
    return path


def work(path: Path) -> None:
    """A round, when the first three days are mature."""
    configuration = read_configuration(path).configuration
    now = FIRST + timedelta(days=DAYS + 2, hours=1)
    with open_jobs(configuration, clock=lambda: now) as jobs:
        done = jobs.run(budget=timedelta())
    assert done.failures == []


def run(path: Path, *given: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, ["audit", *(str(one) for one in given), "--config", str(path)])


@pytest.fixture(scope="module")
def drawn(shop: Path) -> tuple[Path, list[dict[str, str]], Result]:
    out = shop.parent / "cases.csv"
    result = run(
        shop,
        *("draw", "--monitor", "card-fraud", "--windows", "2026-01-01..2026-01-04"),
        *("--seed", "march", "--out", out),
    )
    assert result.exit_code == 0, result.output
    with out.open() as read:
        return out, list(csv.DictReader(read)), result


def ledger_of(path: Path) -> Any:
    return open_ledger(read_configuration(path, needs="ledger").configuration)


def test_the_file_holds_ids_and_columns_and_nothing_that_tells_a_score(drawn: Any) -> None:
    out, lines, result = drawn
    assert list(lines[0]) == ["case", "id", "country", "audit", "verdict"]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert [one["case"] for one in lines] == [str(place + 1) for place in range(len(lines))]
    assert len(lines) == 90 + 9 + 9
    assert {one["country"] for one in lines} == {"DE", "FR"}
    assert {one["verdict"] for one in lines} == {""}
    assert "90 cases, and 9 known positives and 9 cases given twice among them." in said_by(result)
    assert "From 3 windows: 2026-01-01, 2026-01-02" in said_by(result)
    assert "108 lines are in" in result.output
    assert CANARY not in result.output


def test_cases_are_the_unconfirmed_rows_of_smallest_key_in_each_bin(shop: Path, drawn: Any) -> None:
    _, lines, _ = drawn
    with ledger_of(shop) as ledger:
        (audit,) = ledger.reviews.all("card-fraud")
        cases = ledger.reviews.cases(audit.name)
    assert [one.id for one in cases] == [one["id"] for one in lines]
    made = pd.read_parquet(shop.parent / "predictions.parquet")
    made = made[made["scored_at"] < FIRST + timedelta(days=DAYS)]
    known = pd.read_parquet(shop.parent / "confirmations.parquet")
    known = known.merge(made, on="prediction_id")
    day = known["scored_at"].dt.floor("D")
    known = set(known.loc[known["confirmed_at"] <= day + timedelta(days=3), "prediction_id"])
    place = np.searchsorted(audit.edges, made["score"], side="right")
    by_id = {one.id: one for one in cases if one.kind == "case"}
    rows = [0] * len(audit.planned)
    labeled = [0] * len(audit.planned)
    for at, planned in enumerate(audit.planned):
        here = made.loc[place == at, "prediction_id"]
        rows[at], labeled[at] = len(here), sum(one in known for one in here)
        free = sorted(
            (one for one in here if one not in known), key=lambda one: draw_key("march", one)
        )
        assert {one for one, case in by_id.items() if case.bin == at} == set(free[:planned])
        for one in free[:planned]:
            assert by_id[one].inclusion == pytest.approx(planned / len(free))
    assert (audit.rows, audit.labeled) == (tuple(rows), tuple(labeled))
    seeds = {one.id for one in cases if one.kind == "seed"}
    assert seeds == set(sorted(known, key=lambda one: draw_key("march", one))[:9])
    twice = [one.id for one in cases if one.kind == "again"]
    assert len(twice) == 9
    assert set(twice) <= set(by_id)
    # The order tells neither bin nor kind.
    order = np.array([one.bin for one in cases])
    assert abs(np.corrcoef(order, np.arange(len(order)))[0, 1]) < 0.3


def test_nothing_is_drawn_from_windows_that_are_not_mature(shop: Path, tmp_path: Path) -> None:
    result = run(
        shop,
        *("draw", "--monitor", "card-fraud", "--windows", "2026-01-04..2026-01-06"),
        *("--out", tmp_path / "c.csv"),
    )
    assert result.exit_code == 2
    said = " ".join(result.output.replace("│", " ").split())
    assert "2 windows are not evaluated as mature yet, from 2026-01-04 (mature" in said
    assert "(mature on 2026-01-07 00:00 UTC)" in said
    assert not (tmp_path / "c.csv").exists()


def test_windows_are_drawn_from_once(shop: Path, drawn: Any, tmp_path: Path) -> None:
    result = run(
        shop, "draw", "--monitor", "card-fraud", "--windows", "2026-01-02", "--out", tmp_path / "c"
    )
    assert result.exit_code == 2
    assert "has windows among these: add cases to it with --more" in " ".join(
        result.output.replace("│", " ").split()
    )
    assert run(
        shop, "draw", "--monitor", "card-fraud", "--windows", "2026-01-02", "--out", drawn[0]
    ).output.count("exists already")


def filled(lines: list[dict[str, str]], path: Path, said: dict[int, str]) -> Path:
    with path.open("w") as write:
        table = csv.DictWriter(write, lines[0])
        table.writeheader()
        for place, one in enumerate(lines):
            table.writerow(one | {"verdict": said.get(place, "0")})
    return path


def test_verdicts_are_stored_once_and_shown(
    shop: Path, drawn: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path = filled(drawn[1], tmp_path / "cases.csv", {0: "maybe", 1: "", 2: "undecided", 3: "1"})
    given = ("read", path, "--monitor", "card-fraud", "--reviewer", "ann", "--json")
    first = json.loads(run(shop, *given).stdout)
    assert (first["added"], first["known"], first["windows"]) == (106, 0, 5)
    assert first["refused"] == {"unknown_word": 1}
    second = json.loads(run(shop, *given).stdout)
    assert (second["added"], second["known"], second["windows"]) == (0, 106, 0)
    (status,) = json.loads(run(shop, "status", "--json").stdout)
    (audit,) = status["audits"]
    assert audit["cases"] == 90
    assert audit["decided"] + audit["undecided"] + audit["unread"] == 90
    assert audit["seeds"] == 9
    assert audit["refused"] == {"unknown_word": 1}
    shown = run(shop, "show", "--monitor", "card-fraud").stdout
    assert "share confirmed" in shown
    written = json.loads(
        run(shop, "show", audit["audit"], "--monitor", "card-fraud", "--json").stdout
    )
    assert sum(one["drawn"] for one in written["bins"]) == 90
    assert sum(one["decided"] for one in written["bins"]) == audit["decided"]
    assert {"f1", "auc", "class_prior"} <= set(written["estimates"])
    assert written["without_audit"]["class_prior"]["value"] == pytest.approx(0.1)
    assert written["without_audit"]["f1"]["value"] != written["estimates"]["f1"]["value"]
    assert written["audit_before"] is None
    assert "without the audit" in shown
    report = tmp_path / "audit.html"
    told = run(shop, "show", "--monitor", "card-fraud", "--report", report).stdout
    assert f"Report: {report}" in " ".join(told.split())
    page = " ".join(report.read_text().split())
    assert "With and without the audit" in page
    assert "It is not assumed that the confirmed positives are a fair sample" in page
    assert f"{audit['unread']} of 90 cases have no verdict yet." in page
    assert f"{audit['undecided']} of 89 reviewed cases are undecided." in page
    assert CANARY not in report.read_text()
    assert "contradict" in run(shop, "status").stdout
    with ledger_of(shop) as ledger:
        entries = repr(ledger.audit()) + repr(ledger.reviews.readings("card-fraud"))
    for text in (entries, caplog.text, shown, json.dumps(status)):
        assert CANARY not in text


def test_an_audit_is_extended_by_the_next_cases(shop: Path, drawn: Any, tmp_path: Path) -> None:
    out = tmp_path / "more.csv"
    result = run(shop, "draw", "--monitor", "card-fraud", "--more", 25, "--out", out)
    assert result.exit_code == 0, result.output
    with out.open() as read:
        more = list(csv.DictReader(read))
    assert [int(one["case"]) for one in more] == list(range(109, 134))
    assert not {one["id"] for one in more} & {one["id"] for one in drawn[1]}
    with ledger_of(shop) as ledger:
        (audit,) = ledger.reviews.all("card-fraud")
        cases = ledger.reviews.cases(audit.name)
        actions = [one.action for one in ledger.audit(limit=3)]
    assert sum(audit.planned) == 115
    unlabeled = [n - m for n, m in zip(audit.rows, audit.labeled, strict=True)]
    for one in cases:
        if one.kind == "case":
            wanted = audit.planned[one.bin] / unlabeled[one.bin]
            assert one.inclusion == pytest.approx(wanted)
    assert actions[0] == "extend audit"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("plan", "rows.csv", "--monitor", "card-fraud"), "FILE and --monitor exclude each other"),
        (("plan",), "Missing FILE, or --monitor"),
        (("plan", "rows.csv"), "Missing --labels"),
        (("plan", "--monitor", "card-fraud"), "give --windows"),
        (("plan", "--monitor", "card-fraud", "--windows", "2025-01"), "has no window that starts"),
        (("plan", "--monitor", "card-faud", "--windows", "2026-01"), "did you mean"),
        (("show", "nothing", "--monitor", "card-fraud"), "no audit 'nothing' (there are"),
    ],
)
def test_what_cannot_be_done_is_said(shop: Path, drawn: Any, given: Any, said: str) -> None:
    result = run(shop, *given)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())


def test_a_plan_of_windows_is_that_of_their_rows(shop: Path) -> None:
    result = run(shop, "plan", "--monitor", "card-fraud", "--windows", "2026-01-02", "--json")
    assert result.exit_code == 0, result.output
    written = json.loads(result.stdout)
    assert (written["cases"], written["metrics"]) == (90, ["f1"])
    assert written["class_prior"]["value"] == pytest.approx(0.1)
    upper = run(
        shop,
        *("plan", "--monitor", "card-fraud", "--windows", "2026-01-02"),
        *("--above", "40%", "--json"),
    )
    bins = json.loads(upper.stdout)["bins"]
    assert sum(one["cases"] for one in bins if one["above"]) == 36
    wide = run(
        shop,
        *("plan", "--monitor", "card-fraud", "--windows", "2026-01-02"),
        *("--width", "precision=.5", "--json"),
    )
    assert json.loads(wide.stdout)["metrics"] == ["precision"]


@pytest.fixture
def own_shop(shop: Path, drawn: Any, tmp_path: Path) -> Path:
    """The same tables with a copy of the state, in which a test can do what others do not see."""
    shutil.copy(shop.parent / "state.db", tmp_path / "own.db")
    path = shop.parent / f"{tmp_path.name}.yaml"
    path.write_text(shop.read_text().replace("sqlite:///state.db", f"sqlite:///{tmp_path}/own.db"))
    return path


def said_by(result: Result) -> str:
    return " ".join(result.output.replace("│", " ").split())


def test_a_file_without_a_verdict_is_refused(own_shop: Path, drawn: Any) -> None:
    for more in ((), ("--json",)):
        result = run(own_shop, "read", drawn[0], "--monitor", "card-fraud", *more)
        assert result.exit_code == 2
        assert "has a verdict: give 1 for positive or 0 for negative" in said_by(result)
        assert "of its 108 lines" in said_by(result)


def test_an_audit_of_another_threshold_is_not_used_and_all_commands_say_why(
    own_shop: Path, drawn: Any, tmp_path: Path
) -> None:
    text = own_shop.read_text()
    assert "threshold: 0.5" in text
    own_shop.write_text(text.replace("threshold: 0.5", "threshold: 0.7"))
    why = "is not used, since it was drawn before a change: threshold was 0.5 and is now 0.7"
    of_monitor = ("--monitor", "card-fraud")
    more = run(own_shop, "draw", *of_monitor, "--more", 5, "--out", tmp_path / "more.csv")
    assert more.exit_code == 2
    assert f"{why}; draw a new one, without --more" in said_by(more)
    path = filled(drawn[1], tmp_path / "cases.csv", {})
    read = said_by(run(own_shop, "read", path, *of_monitor))
    assert f"{why}." in read
    assert "evaluated with them" not in read
    given = json.loads(run(own_shop, "read", path, *of_monitor, "--json").stdout)
    (name,) = given["not_used"]
    assert given["windows"] == 0
    assert why in said_by(run(own_shop, "status"))
    # A change that audits do not stand on keeps them, before it has been run.
    own_shop.write_text(text.replace("panes: [0d]", "panes: [1d]"))
    assert own_shop.read_text() != text
    (status,) = json.loads(run(own_shop, "status", "--json").stdout)
    (audit,) = status["audits"]
    assert (audit["audit"], audit["is_current"], audit["changes"]) == (name, True, [])
