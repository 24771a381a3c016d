"""`pumonitor demo` from end to end, in a process of its own as users run it.

What needs the whole demo, nearly a minute, is slow; its parts are in `tests/demo`.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from docs.from_code.screenshots import PICTURES
from pumonitor.cli.app import app
from pumonitor.demo.emails import score_later_mails

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    code = "from pumonitor.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "demo", "--keep", "kept"],
        cwd=folder,
        env=os.environ | {"COLUMNS": "80", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "kept", done


@pytest.mark.slow
def test_it_prints_estimates_beside_the_truth_and_what_to_do_next(finished):
    _, done = finished
    weeks = re.findall(r"^2012-\d\d-\d\d .*→.*$", done.stdout, flags=re.MULTILINE)
    assert len(weeks) == 9
    for title in ("Share of spam", "Precision", "Recall", "F1", "MCC", "Accuracy", "AUC", "AUL"):
        assert any(line.startswith(f"{title}  ") for line in done.stdout.splitlines()), title
    assert "intervals contain the true value" in done.stdout
    assert "simulated" in done.stdout
    assert "kept/report.html" in done.stdout
    assert "mlflow ui --backend-store-uri sqlite:///kept/mlflow.db" in done.stdout
    commands = ("  mlflow ui", "  pumonitor ")
    prose = [line for line in done.stdout.splitlines() if not line.startswith(commands)]
    assert max(map(len, prose)) <= 80
    assert "…" not in done.stdout


@pytest.mark.slow
def test_the_quick_start_shows_what_it_prints(finished):
    _, done = finished
    page = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (table,) = [one for one in blocks if "95% intervals" in one]
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert len(table.splitlines()) == 13
    assert [line for line in table.splitlines() if line.rstrip() not in printed] == []


@pytest.mark.slow
def test_nothing_else_is_written_to_the_terminal(finished):
    _, done = finished
    assert done.stderr == ""


@pytest.mark.slow
def test_the_runs_are_in_the_store_with_their_metrics_and_reports(finished):
    folder, _ = finished
    with closing(sqlite3.connect(folder / "mlflow.db")) as store:
        runs = store.execute("SELECT name FROM runs ORDER BY start_time").fetchall()
        logged = store.execute("SELECT count(*) FROM metrics WHERE key = 'pu/f1_low'").fetchall()
    by_hand = ["share of spam from the scores", "share of spam from an audit"]
    *first, last = [name for (name,) in runs]
    assert first == by_hand
    # With the beginning of its configuration's hash: each configuration has a run of its own.
    assert re.fullmatch(r"spam-filter \[[0-9a-f]{8}\]", last)
    # One of each evaluation, and one of each look at a week.
    assert logged[0][0] > 2 + 8
    for name in ("report.html", "report-audit.html"):
        assert (folder / name).stat().st_size > 10_000


@pytest.mark.slow
def test_the_monitor_can_be_asked_afterwards(finished):
    folder, _ = finished
    arguments = ["insights", "--config", str(folder / "pumonitor.yaml"), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    (insight,) = json.loads(result.stdout)
    assert insight["backlog"]["to_collect"] == insight["backlog"]["to_evaluate"] == 0
    assert insight["latest"][0]["state"] == "final"


@pytest.mark.slow
def test_it_names_the_weeks_in_which_two_features_are_broken_and_no_other(finished):
    folder, done = finished
    said = " ".join(done.stdout.split())
    assert "injected" in said
    assert "As they were: no alert in any week." in said
    named = re.findall(r"Broken: alert on the week of (\S+), on (\S+), (\d+) days", said)
    assert named[0] == ("2012-03-05", "2012-03-26", "21")
    assert {week for week, *_ in named} <= {f"2012-03-{day}" for day in ("05", "12", "19", "26")}
    assert "Cause: The model ranks worse: AUC changed by -" in said
    truth = {
        line.split()[0]: [float(cell) for cell in line.split()[1:]]
        for line in done.stdout.partition("Then it breaks")[2].splitlines()
        if re.match(r"(AUC|Recall) ", line)
    }
    before, as_they_were, broken = truth["AUC"]
    assert broken < as_they_were - 0.2 < before - 0.2
    assert truth["Recall"][2] < 0.1
    assert truth["Recall"][1] > 0.5
    assert (folder / "alert.png").read_bytes().startswith(b"\x89PNG")
    assert "drawn in alert.png" in said


@pytest.mark.slow
def test_the_broken_features_leave_the_share_of_spam_where_it_is(finished):
    folder, done = finished
    said = " ".join(done.stdout.split())
    assert "38 of 300 mails that somebody picked at random from those before 2012-03-05" in said
    shares = {}
    for monitor in ("spam-filter", "spam-filter-flipped"):
        arguments = [
            "results", monitor, "--config", str(folder / "alerts.yaml"), "--metric", "class_prior",
            "--from", "2012-03-05", "--format", "json",
        ]  # fmt: skip
        found = json.loads(CliRunner().invoke(app, arguments).stdout)
        shares[monitor] = [one["value"] for one in found]
        assert not any(one["assumed"] for one in found)
        # Of the mails since 5 March 10.0% are spam.
        assert sum(one["low"] < 0.1 < one["high"] for one in found) == 4
    # The audit before them read 12.7%.
    assert shares["spam-filter-flipped"] == pytest.approx([0.12] * 4, abs=0.01)
    assert max(shares["spam-filter"]) < 0.17


@pytest.mark.slow
def test_the_alerts_can_be_listed_afterwards(finished):
    folder, done = finished
    (line,) = [line for line in done.stdout.splitlines() if "pumonitor alerts list" in line]
    arguments = [*line.split()[1:-1], str(folder / "alerts.yaml"), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    fired = [one for one in json.loads(result.stdout) if one["kind"] == "fired"]
    assert {one["monitor"] for one in fired} == {"spam-filter-flipped"}
    assert fired[0]["window_start"].startswith("2012-03-05")


@pytest.mark.slow
def test_it_ends_with_a_command_that_opens_the_pages(finished):
    folder, done = finished
    *_, line = done.stdout.strip().splitlines()
    program, *arguments = line.split()
    assert program == "pumonitor"
    with serving([*arguments, "--address", "127.0.0.1:0"], folder=folder.parent) as address:
        with urlopen(address, timeout=30) as answer:  # noqa: S310
            page = answer.read().decode()
        assert "1 of 2 monitors needs attention" in page
        for picture in PICTURES:
            with urlopen(f"{address}{picture.path}", timeout=30) as answer:  # noqa: S310
                assert answer.status == 200
    told = subprocess.run(
        ["make", "--no-print-directory", "-n", "demo"], cwd=ROOT, capture_output=True, check=True
    )
    last = told.stdout.decode().strip().splitlines()[-1]
    assert last.endswith(f'/pumonitor {" ".join(arguments)}"'.replace("kept/", "pumonitor-demo/"))


@contextmanager
def serving(arguments, *, folder):
    """The address that `pumonitor pages` prints."""
    code = "from pumonitor.cli.app import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield re.search(r"http://\S+", process.stdout.readline())[0]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@pytest.mark.slow
def test_the_suggested_command_works_on_the_file_it_names(finished):
    folder, done = finished
    (line,) = [line for line in done.stdout.splitlines() if "pumonitor evaluate" in line]
    arguments = line.split()[1:]
    arguments[1] = str(folder / "scored.csv")
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr


def test_a_directory_that_cannot_be_made_ends_with_status_2(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = CliRunner().invoke(app, ["demo", "--keep", str(tmp_path / "file" / "kept")])
    assert result.exit_code == 2
    assert "cannot be made" in result.stderr


@pytest.mark.slow
def test_the_readme_shows_what_its_example_prints(tmp_path, mlflow_database):
    """The first Python block of the README, run on the demo's own file, and the block after it."""
    shutil.copy(mlflow_database, tmp_path / "mlflow.db")  # to make its tables takes seconds
    folder = tmp_path / "pumonitor-demo"
    folder.mkdir()
    score_later_mails().frame.to_csv(folder / "scored.csv", index=False)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", readme, re.DOTALL).groups()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        # What other tests of this process have said of MLflow is not the reader's.
        env={name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-6:] == printed.splitlines()
