"""`pumonitor init`: files in, a configuration that `check` accepts out."""

import math
import os
import pty
import re
import select
import subprocess
import sys
import time
from datetime import date

import pyarrow
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.config.sections.prior_of_period import audited_prior
from tests.monitor.onboarding_tables import tables


def run(*arguments):
    runner = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    predictions, positives = tables(rows=4000)
    (tmp_path / "data").mkdir()
    predictions.to_parquet(tmp_path / "data" / "predictions.parquet")
    positives.to_csv(tmp_path / "data" / "confirmed.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_is_enough_and_the_next_command_works(folder):
    done = run("init", "data", "--name", "fraud")
    assert done.exit_code == 0, done.output
    assert "Wrote pumonitor.yaml. Next: pumonitor check" in done.stdout
    assert "times without a zone" in done.stdout
    assert "Note: At the threshold of 0.5, " in done.stdout
    assert "% of predictions are flagged. This is a default: " in " ".join(done.stdout.split())
    checked = run("check")
    assert checked.exit_code == 0, checked.output
    assert "No check failed; " in checked.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["data", "pumonitor.yaml"]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_scores_that_check_refuses_are_reported_before_anything_relies_on_them(folder, kind):
    (folder / "data" / "predictions.parquet").unlink()
    predictions, _ = tables(rows=4000)
    # Arrow keeps NaN and null apart.
    scores = predictions.score.to_list()
    scores[:5] = [math.nan, math.inf, -math.inf, None, None]
    table = pyarrow.Table.from_pandas(predictions.drop(columns="score"), preserve_index=False)
    table = table.append_column("score", pyarrow.array(scores, pyarrow.float64()))
    if kind == "parquet":
        parquet.write_table(table, folder / "data" / "predictions.parquet")
    else:
        csv.write_csv(table, folder / "data" / "predictions.csv")
    done = run("init", "data", "--name", "fraud")
    assert done.exit_code == 0, done.output
    told = " ".join(done.stdout.split())
    assert "Of 4,000 rows of" in told
    assert "2 have no score and 3 have a score that is infinite or NaN" in told
    assert "pumonitor check and pumonitor run refuse them" in told
    assert run("check").exit_code == 2


def test_flags_decide(folder):
    done = run(
        "init", "--predictions", "data/predictions.parquet", "--positives", "data/confirmed.csv",
        "--id", "prediction_id", "--time", "scored_at", "--score", "score",
        "--known-at", "confirmed_at", "--label", "none", "--window", "1d", "--maturity", "12d",
        "--threshold", "0.75", "--zone", "Europe/Berlin", "--name", "card-fraud",
        "--yes", "--output", "data/monitor.yaml",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Next: pumonitor check --config data/monitor.yaml" in done.stdout
    (monitor,) = read_configuration("data/monitor.yaml").configuration.monitors.values()
    assert monitor.name == "card-fraud"
    # Relative to the file, which is beside them.
    assert monitor.predictions.source.path.written == "predictions.parquet"
    assert (monitor.window, monitor.zone, monitor.threshold) == ("1d", "Europe/Berlin", 0.75)
    assert monitor.maturity.days == 12
    assert monitor.predictions.time_zone == monitor.positives.time_zone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("options", "written"),
    [
        (("--known-prior", "3%,2%,4.1%"), "{value: 0.03, low: 0.02, high: 0.041, "),
        (("--audit", "30/300"), "{positives: 30, cases: 300, "),
    ],
)
def test_a_prior_known_of_a_period_is_written_where_windows_are_followed_from(
    folder, options, written
):
    done = run(
        "init", "data", "--name", "fraud", *options, "--prior-from", "2026-01-05",
        "--prior-to", "2026-02-02",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    of = "of: {start: 2026-01-05, end: 2026-02-02}}"
    assert f"    class_prior: {written}{of}" in (folder / "pumonitor.yaml").read_text()
    (monitor,) = read_configuration("pumonitor.yaml").configuration.monitors.values()
    assert monitor.prior_of_period.start == date(2026, 1, 5)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--audit", "30/300"), "(predictions are of 2026-01-01 to 2026-03-01, the reference is "),
        (("--audit", "30/300"), "give it with --prior-from and --prior-to"),
        (("--audit", "0.1"), "--audit must be positives of audited cases, such as 12/300"),
        (("--known-prior", "0.03"), "must be a share with the ends of its 95% interval"),
        (("--known-prior", "3,2,4"), "value must be a share above 0 and below 1, got 3; did you"),
        (
            ("--audit", "1/2", "--known-prior", ".3,.2,.4"),
            "give --known-prior or --audit, not both",
        ),
        (("--prior-from", "2026-01-05", "--prior-to", "2026-02-02"), "give one of these too"),
        (
            ("--audit", "1/2", "--prior-from", "2026-01-05"),
            "are the start and end of one period: give both",
        ),
        (
            ("--audit", "1/9", "--prior-from", "2026-01-05", "--prior-to", "2026-01-06"),
            "must contain a whole window of 1w (UTC)",
        ),
    ],
)
def test_half_a_known_prior_is_refused(folder, options, problem):
    done = run("init", "data", "--name", "fraud", *options)
    assert done.exit_code == 2
    assert problem in " ".join(done.stderr.split())
    assert not (folder / "pumonitor.yaml").exists()


def test_a_file_that_is_there_stays_without_force(folder):
    (folder / "pumonitor.yaml").write_text("mine")
    done = run("init", "data", "--name", "fraud")
    assert done.exit_code == 2
    assert "pumonitor.yaml exists already: overwrite it with --force" in done.stderr
    assert (folder / "pumonitor.yaml").read_text() == "mine"
    assert run("init", "data", "--name", "fraud", "--force").exit_code == 0
    assert read_configuration("pumonitor.yaml").configuration.monitors


def test_what_is_not_found_names_the_flag_and_writes_nothing(folder):
    done = run("init", "data", "--score", "skore")
    assert done.exit_code == 2
    assert "--score: data/predictions.parquet has no column 'skore'; did you mean 'score'?" in (
        done.stderr
    )
    assert not (folder / "pumonitor.yaml").exists()


def test_a_place_that_cannot_be_written_is_a_failure(folder):
    done = run("init", "data", "--name", "fraud", "--output", "nowhere/pumonitor.yaml")
    assert done.exit_code == 3
    assert "nowhere/pumonitor.yaml cannot be written" in done.stderr


def test_on_a_terminal_every_proposal_is_a_question(folder):
    """A real terminal: Enter takes what is proposed, a wrong column is asked again."""
    controller, terminal = pty.openpty()
    command = [sys.executable, "-c", "from pumonitor.cli.app import main; main()", "init", "data"]
    process = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, close_fds=True,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(terminal)
    answers = {
        "score": ["nonsense", "score"],
        "label_origin": ["chargebacks", "complaints"],
        "window": ["1d"],
        "threshold": ["0.9"],
        "known prior": ["10%", "30/300"],
        "known prior of": ["January", "2026-01-05 to 2026-02-02"],
        "name": ["fraud"],
    }
    shown, asked, deadline = "", 0, time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([controller], [], [], 0.2)[0]:
            try:
                shown += os.read(controller, 4096).decode()
            except OSError:
                break
        prompts = len(re.findall(r"[\r\n]  is[ :]", shown))
        while asked < prompts and shown.rstrip(" ").endswith(":"):
            heads = [line for line in shown.splitlines() if line.split(":")[0] in WHAT]
            what = heads[-1].split(":")[0]
            answer = answers[what].pop(0) if answers.get(what) else ""
            os.write(controller, f"{answer}\n".encode())
            asked += 1
            shown += "\n"
    os.close(controller)
    assert process.wait(timeout=30) == 0, shown
    assert "Please answer with one of prediction_id, scored_at, amount, score, country." in shown
    told = " ".join(shown.split())
    assert "The answer must be a share with the ends of its 95% interval, such as" in told
    assert (
        "The answer must be a start and an end, such as 2026-01-01 to 2026-02-01, got 'January'"
        in told
    )
    (monitor,) = read_configuration("pumonitor.yaml").configuration.monitors.values()
    assert (monitor.name, monitor.window, monitor.threshold) == ("fraud", "1d", 0.9)
    assert monitor.label_origin == "complaints"
    assert "Please answer with one of queue, complaints, both, random, unknown." in told
    assert monitor.prior_of_period == audited_prior(
        30, 300, start=date(2026, 1, 5), end=date(2026, 2, 2)
    )
    assert (monitor.predictions.score, monitor.predictions.time) == ("score", "scored_at")


WHAT = (
    "score", "time", "known_at", "label_origin", "zone", "window", "maturity", "threshold",
    "known prior", "known prior of", "name", "id",
)  # fmt: skip
