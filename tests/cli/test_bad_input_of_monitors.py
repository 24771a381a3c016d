"""Whatever is wrong with a monitor's input, its commands say so in one message and never crash."""

import json
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app

START = datetime(2026, 1, 5, tzinfo=UTC)
TEXT = """\
state: sqlite:///state.db
monitors:
  fraud:
    predictions:
      source: p.parquet
      id: id
      time: made
      score: score
    positives:
      source: l.parquet
      id: id
      known_at: known
    window: 1d
    maturity: 3d
    threshold: 0.5
"""


def made(**columns):
    times = [START + timedelta(hours=hour) for hour in range(4)]
    given = {"id": [1, 2, 3, 4], "made": times, "score": [0.9, 0.8, 0.2, 0.1]}
    return pd.DataFrame(given | columns)


def seconds(*, factor=1):
    return [int(time.timestamp()) * factor for time in made()["made"]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made().to_parquet(tmp_path / "p.parquet")
    pd.DataFrame({"id": [1], "known": [START]}).to_parquet(tmp_path / "l.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cut_off(folder):
    file = folder / "p.parquet"
    file.write_bytes(file.read_bytes()[:-50])


def empty(folder):
    (folder / "p.parquet").write_bytes(b"")


def of(**columns):
    return lambda folder: made(**columns).to_parquet(folder / "p.parquet")


def vanished(folder):
    made().head(2).to_parquet(folder / "p-1.parquet")
    made().drop(columns="score").tail(2).to_parquet(folder / "p-2.parquet")


def nothing(folder):
    pass


def run(*arguments):
    done = CliRunner(env={"COLUMNS": "500", "NO_COLOR": "1"}).invoke(app, list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done


IN_THE_DATA = {
    "a file that is cut off": (cut_off, "", "", "it is cut off, or still being written"),
    "an empty file": (empty, "", "", "is empty (0 bytes)"),
    "no such file": (nothing, "p.parquet", "pp.parquet", "did you mean"),
    "a pattern of nothing": (nothing, "p.parquet", "q-*.parquet", "q-*.parquet: check the pattern"),
    "no such column": (nothing, "score: score", "score: skore", "did you mean 'score'?"),
    "a column that vanished": (vanished, "p.parquet", "p-*.parquet", "p-2.parquet of predictions"),
    "text for scores": (of(score=list("abcd")), "", "", "is stored as VARCHAR"),
    "ids as text": (of(id=list("abcd")), "", "", "no label would be found; cast one of them"),
    "no zone": (of(made=made()["made"].dt.tz_localize(None)), "", "", "say the time_zone"),
    "no unit": (of(made=seconds()), "", "", "they look like seconds: time_unit: s"),
    "another unit": (
        of(made=seconds(factor=1000)),
        "score: score",
        "score: score\n      time_unit: s",
        "they look like milliseconds: time_unit: ms",
    ),
    "a time of 0": (
        of(made=[0, *seconds()[1:]]),
        "score: score",
        "score: score\n      time_unit: s",
        "has 1 times before 1990, the first 1970-01-01T00:00:00+00:00",
    ),
    "some in another unit": (
        of(made=[*seconds()[:3], seconds(factor=10**9)[3]]),
        "score: score",
        "score: score\n      time_unit: s",
        "look like nanoseconds since 1970, and the time_unit of predictions is s",
    ),
    "a time to come": (
        of(made=[START.replace(year=2199), START.replace(year=2031), *made()["made"][2:]]),
        "",
        "",
        "has 2 times more than a day in the future beside 2 rows of the last day",
    ),
    "no database": (
        nothing,
        "p.parquet",
        "{url: 'sqlite:///none.db', table: p}",
        "there is no SQLite database",
    ),
}


@pytest.mark.parametrize("case", IN_THE_DATA)
def test_bad_data_are_one_message_of_both_commands(folder, case):
    spoil, old, new, message = IN_THE_DATA[case]
    spoil(folder)
    (folder / "pumonitor.yaml").write_text(TEXT.replace(old, new, 1))
    done = run("check", "--json")
    assert done.exit_code == 2
    said = json.loads(done.stdout)["monitors"]["fraud"]
    assert said["failure"] == "input"
    assert message in said["message"]
    assert "\n" not in said["message"]

    done = run("run", "--json")
    assert done.exit_code == 2
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure == f"fraud: {said['message']}"


@pytest.mark.parametrize(
    "spoilt",
    [
        {"p.parquet": "absent.parquet", "l.parquet": "missing.parquet"},
        {"score: score": "score: absent", "known_at: known": "known_at: missing"},
    ],
)
def test_what_is_wrong_with_both_tables_is_said_at_once(folder, spoilt):
    text = TEXT
    for old, new in spoilt.items():
        text = text.replace(old, new)
    (folder / "pumonitor.yaml").write_text(text)
    said = json.loads(run("check", "--json").stdout)["monitors"]["fraud"]["message"]
    assert said.index("absent") < said.index("missing")


IN_THE_CONFIGURATION = {
    "an unset variable": ("score: score", "score: ${NOT_SET}", "NOT_SET, which is not set"),
    "a key twice": ("window: 1d", "window: 1d\n    window: 2d", "line 14: appears twice"),
    "a tab": ("    window", "\twindow", "there is a tab"),
    "an unknown zone": ("window: 1d", "window: 1d\n    zone: Berlin", "mean 'Europe/Berlin'?"),
    "a window of nothing": ("window: 1d", "window: 0d", "must be above 0"),
    "a negative window": ("window: 1d", "window: -1d", "cannot end before it starts"),
    "an endless window": ("window: 1d", "window: 99999999999d", "is longer than 100 years"),
    "a negative maturity": ("maturity: 3d", "maturity: -3d", "must not be negative"),
    "an endless maturity": ("maturity: 3d", "maturity: 999999999d", "is longer than 100 years"),
    "a reference of the year 1": (
        "window: 1d",
        "window: 1d\n    reference: {start: 0001-01-01, end: 2026-01-01}",
        "must be 1970 or later and before 2200",
    ),
    "a schedule that is never due": (
        "window: 1d",
        "window: 1d\n    schedule: 0 0 30 2 *",
        "is never due",
    ),
    "two statements": (
        "p.parquet",
        "{url: 'sqlite:///a.db', query: 'select 1; drop table p'}",
        "has 2 statements",
    ),
    "missing binds": (
        "p.parquet",
        "{url: 'sqlite:///a.db', query: 'select * from p where made < :end'}",
        "lacks :start",
    ),
}


def test_an_unset_variable_of_a_source_is_reported_by_check_beside_all_else(folder):
    (folder / "pumonitor.yaml").write_text(TEXT.replace("p.parquet", "${NOT_SET_ANYWHERE}"))
    done = run("check", "--json")
    assert done.exit_code == 2
    monitor = json.loads(done.stdout)["monitors"]["fraud"]
    assert monitor["failure"] == "input"
    assert "NOT_SET_ANYWHERE, which is not set" in monitor["message"]
    done = run("run", "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "NOT_SET_ANYWHERE, which is not set" in done.stderr
    assert not (folder / "state.db").exists()


@pytest.mark.parametrize("case", IN_THE_CONFIGURATION)
def test_a_bad_configuration_is_one_message_of_both_commands(folder, case):
    old, new, message = IN_THE_CONFIGURATION[case]
    (folder / "pumonitor.yaml").write_text(TEXT.replace(old, new, 1))
    for command in ("check", "run"):
        done = run(command, "--json")
        assert done.exit_code == 2
        assert done.stdout == ""
        assert done.stderr.startswith("Error: pumonitor.yaml")
        assert done.stderr.count("\n") == 1
        assert message in done.stderr
    # Nothing was begun.
    assert not (folder / "state.db").exists()
