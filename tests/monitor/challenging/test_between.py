"""Audits between the deployed model and a challenger, drawn, read and judged by commands."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.challenging.between import audits_between
from pumonitor.monitor.challenging.challengers import ColumnChallenger
from pumonitor.monitor.challenging.seen import series_of
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.challenging.challenged_shop import SETTLED, evaluated_shop, write_challenged_shop

V7 = ColumnChallenger(name="v7", column="score_v7")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Only the deployed score's highest orders were reviewed."""
    monkeypatch.chdir(tmp_path)
    more = "gate: {capacity: 10%}"
    evaluated_shop(tmp_path, reviewed=True, more=more)
    return tmp_path


def _called(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == status, done.output + str(done.exception)
    return done.stdout


def _fill_in(cases: Path) -> pd.DataFrame:
    found = pd.read_csv(cases)
    truth = pd.read_parquet(cases.parent / "truth.parquet").set_index("id").positive
    found["verdict"] = found.id.map(truth)
    found.to_csv(cases, index=False)
    return found


_DRAW = ("audit", "draw", "shop", "--between", "champion", "v7", "--windows", "2026-01")
_DRAW += ("--seed", "January")


def test_cases_are_rows_that_one_model_alone_flags(shop: Path) -> None:
    said = _called(*_DRAW, "--cases", "60", "--out", "cases.csv")
    cases = pd.read_csv("cases.csv")
    assert list(cases.columns) == ["case", "id", "amount", "audit", "verdict"]
    assert len(cases) == 60
    assert "flagged by the deployed model alone" in said
    rows = pd.read_parquet("predictions.parquet").set_index("id")
    day = rows.t.dt.day
    flagged = {
        name: rows[name].groupby(day).rank(ascending=False, method="first")
        <= (0.1 * rows.groupby(day)[name].transform("size")).round()
        for name in ("score", "score_v7")
    }
    champion, challenger = (flagged[name].loc[cases.id].to_numpy() for name in flagged)
    assert (champion ^ challenger).all()
    assert champion.sum() == challenger.sum() == 30
    assert not set(cases.id) & set(pd.read_parquet("positives.parquet").id)
    amounts = rows.amount.loc[cases.id].to_numpy()
    assert cases.amount.to_numpy() == pytest.approx(amounts)


def test_verdicts_judge_where_labels_cannot(shop: Path) -> None:
    before = json.loads(_called("challenge", "shop", "--json", status=1))
    assert before["challengers"][0]["verdict"] == "cannot be judged"
    _called(*_DRAW, "--cases", "150", "--out", "cases.csv")
    _fill_in(shop / "cases.csv")
    _called("audit", "read", "cases.csv", "--monitor", "shop")

    (after,) = json.loads(_called("challenge", "shop", "--json"))["challengers"]

    assert (after["verdict"], after["by_audit"]) == ("better", True)
    rows = pd.read_parquet("predictions.parquet").set_index("id")
    truth = pd.read_parquet("truth.parquet").set_index("id").positive
    day = rows.t.dt.day
    found = {
        name: truth[
            rows[name].groupby(day).rank(ascending=False, method="first")
            <= (0.1 * rows.groupby(day)[name].transform("size")).round()
        ].mean()
        for name in ("score", "score_v7")
    }
    (condition,) = after["conditions"]
    assert condition["low"] < found["score_v7"] - found["score"] < condition["high"]


def test_such_an_audit_is_none_of_the_windows(shop: Path) -> None:
    """What is evaluated with audits stays as it was, and another audit can be drawn there."""
    _called(*_DRAW, "--cases", "20", "--out", "cases.csv")
    _fill_in(shop / "cases.csv")
    told = json.loads(_called("audit", "read", "cases.csv", "--monitor", "shop", "--json"))
    assert (told["added"], told["windows"]) == (20, 0)
    said = _called("audit", "status", "--monitor", "shop")
    assert "between champion and v7: column score_v7" in " ".join(said.split())
    assert "20 of 20 cases read" in " ".join(said.split())
    configuration = read_configuration(shop / "pumonitor.yaml").configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        monitor = configuration.monitors["shop"]
        assert jobs.ledger.reviews.all("shop") == ()
        assert jobs.ledger.audits_as_read("shop") == []
        (audit,) = audits_between(jobs.ledger, series_of(monitor, V7))
    assert (len(audit.champion.verdicts), len(audit.challenger.verdicts)) == (10, 10)
    sizes = pd.read_parquet("predictions.parquet").t.dt.day.value_counts()
    assert audit.flagged == sum(round(0.1 * size) for size in sizes)
    truth = pd.read_parquet("truth.parquet").set_index("id").positive
    cases = pd.read_csv("cases.csv")
    assert sum(audit.challenger.verdicts) + sum(audit.champion.verdicts) == int(
        truth.loc[cases.id].sum()
    )


def test_confirmed_negatives_are_no_rows_that_a_verdict_stands_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of three negatives that the deployed model flags were confirmed as such."""
    monkeypatch.chdir(tmp_path)
    path = write_challenged_shop(tmp_path, reviewed=True, more="gate: {capacity: 10%}")
    path.write_text(path.read_text().replace("known_at: known}", "known_at: known, label: label}"))
    rows = pd.read_parquet("predictions.parquet").set_index("id")
    truth = pd.read_parquet("truth.parquet").set_index("id").positive
    day = rows.t.dt.day
    top = {
        name: rows[name].groupby(day).rank(ascending=False, method="first")
        <= (0.1 * rows.groupby(day)[name].transform("size")).round()
        for name in ("score", "score_v7")
    }
    negative = rows.index[top["score"] & (truth == 0) & (rows.index % 3 > 0)]
    positives = pd.read_parquet("positives.parquet").assign(label=1)
    more = pd.DataFrame({"id": negative, "known": rows.t[negative] + pd.Timedelta("12h")})
    pd.concat([positives, more.assign(label=-1)]).to_parquet("positives.parquet")
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        jobs.run()
        _called(*_DRAW, "--cases", "20", "--out", "cases.csv")
        _fill_in(tmp_path / "cases.csv")
        _called("audit", "read", "cases.csv", "--monitor", "shop")
        (audit,) = audits_between(jobs.ledger, series_of(configuration.monitors["shop"], V7))

    known = rows.index.isin(positives.id) | rows.index.isin(negative)
    for side, own, other in (
        (audit.champion, "score", "score_v7"),
        (audit.challenger, "score_v7", "score"),
    ):
        alone = top[own] & ~top[other]
        assert side.unlabeled == (alone & ~known).sum()
        assert side.confirmed == (alone & rows.index.isin(positives.id)).sum()
    assert audit.flagged == top["score"].sum()


def test_the_same_seed_draws_the_same_cases(shop: Path) -> None:
    """And an audit that is there already is not stored, nor its file kept, a second time."""
    _called(*_DRAW, "--cases", "20", "--out", "one.csv")
    again = CliRunner().invoke(app, [*_DRAW, "--cases", "20", "--out", "two.csv"])
    assert again.exit_code == 2
    assert "has windows among these" in again.stderr
    assert not (shop / "two.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--between", "champion", "v8"), "v7"),
        (("--between", "v7", "v7"), "takes champion, the deployed model"),
        (("--between", "champion", "v7", "--windows", "2025-01"), "no mature window in 2025-01"),
    ],
)
def test_wrong_names_are_named(shop: Path, arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(app, ["audit", "draw", "shop", *arguments, "--out", "cases.csv"])
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (shop / "cases.csv").exists()
