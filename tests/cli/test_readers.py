"""Commands that read need the ledger alone, and say so when it is of another configuration."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.monitor.made_up_results import TEXT, record, write_made_up

pytestmark = pytest.mark.usefixtures("unsearched_labels")

SECRETS = """\
    rules:
      - {metric: f1, below: 0.5, to: [hook]}
destinations:
  oncall: {apprise: "${PAGER_URL}"}
  hook: {webhook: "https://example.org/hook", secret: "${HOOK_SECRET}"}
tracking: {uri: "https://me:${MLFLOW_TOKEN}@mlflow.example.org"}
"""
WAREHOUSE = '{url: "${WAREHOUSE_URL}", table: scored}'
LOGIN = '{url: "postgresql+psycopg://me:${WAREHOUSE_PASSWORD}@db/x", table: scored}'
VARIABLES = {
    "PAGER_URL": "json://localhost/token",
    "HOOK_SECRET": "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0",
    "MLFLOW_TOKEN": "abc",
    "WAREHOUSE_URL": "postgresql+psycopg://me:hunter2@db/x",
    "WAREHOUSE_PASSWORD": "hunter2",
}
READERS = (
    ["results", "card-fraud"],
    ["insights"],
    ["alerts", "list"],
    ["alerts", "silence", "card-fraud", "--until", "2d"],
    ["alerts", "simulate", "card-fraud"],
)


def invoke(path, *arguments, status=0, env=None):
    runner = CliRunner(env={"COLUMNS": "300", **dict.fromkeys(VARIABLES), **(env or {})})
    done = runner.invoke(app, [*arguments, "--config", str(path)])
    assert done.exit_code == status, done.output
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readers")


@pytest.fixture(scope="module", params=[None, LOGIN, WAREHOUSE])
def without_secrets(request, tmp_path_factory):
    """Windows recorded where the secrets were, read where they are not."""
    text = TEXT + SECRETS
    if request.param is not None:
        text = text.replace("source: predictions.parquet", f"source: {request.param}")
    path = write_made_up(tmp_path_factory.mktemp("secrets"), text)
    then = pd.Timestamp("2026-01-01", tz="UTC")
    scored = {"prediction_id": [1], "scored_at": [then], "score": [0.5]}
    pd.DataFrame({**scored, "version": ["2"], "country": ["DE"]}).to_parquet(
        path.with_name("predictions.parquet")
    )
    pd.DataFrame({"prediction_id": [1], "confirmed_at": [then]}).to_parquet(
        path.with_name("confirmations.parquet")
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in VARIABLES.items():
            patch.setenv(name, value)
        record(path, [0, 1])
    return path


@pytest.mark.parametrize("arguments", READERS, ids=lambda one: " ".join(one[:2]))
def test_reading_needs_no_secrets(without_secrets, arguments):
    done = invoke(without_secrets, *arguments)
    assert "another configuration" not in done.stderr


def test_what_is_replayed_without_secrets_is_what_was_recorded(without_secrets):
    done = invoke(without_secrets, "alerts", "simulate", "card-fraud", "--json")
    assert [one["windows"] for one in json.loads(done.stdout)] == [2]


@pytest.mark.parametrize("command", [["run"], ["notify", "--test"]])
def test_whoever_works_needs_them(without_secrets, command):
    said = invoke(without_secrets, *command, status=2).stderr
    assert "needs the environment variable HOOK_SECRET, which is not set" in said
    assert "needs the environment variable PAGER_URL, which is not set" in said


def test_the_doctor_tells_what_a_run_from_here_would_miss(without_secrets):
    env = {"PAGER_URL": VARIABLES["PAGER_URL"]}
    told = json.loads(invoke(without_secrets, "doctor", "--json", env=env).stdout)
    missing = [one["what"].partition(" ")[0] for one in told if "variable" in one["what"]]
    assert {"destinations.hook.secret", "tracking.uri"} <= set(missing)
    # Which tables those were is not known, which is no change of them.
    assert not any(
        "has changed since the last run in a way that changes its results" in one["what"]
        for one in told
    )


def test_other_things_of_the_environment_are_still_needed(folder):
    path = write_made_up(folder, TEXT.replace("threshold: 0.5", 'zone: "${ZONE_OF_DAYS}"'))
    said = invoke(path, "results", "card-fraud", status=2).stderr
    assert "needs the environment variable ZONE_OF_DAYS" in said


CHANGES = {
    "threshold": ("threshold: 0.5", "threshold: 0.8", "threshold was 0.5 and is now 0.8"),
    "segments": ("[country]", "[]", "predictions.segments was [country] and is now []"),
    "version": (
        "      model_version: version\n",
        "",
        "predictions.model_version was version and is now not given",
    ),
    "maturity": ("maturity: 2d", "maturity: 36h", "maturity was 2d and is now 36h"),
}


@pytest.fixture(params=list(CHANGES))
def changed(request, tmp_path):
    """Three days recorded, and then the configuration edited."""
    path = write_made_up(tmp_path, TEXT + "    rules: [{metric: f1, below: 0.5}]\n")
    record(path, [0, 1, 2])
    old, new, said = CHANGES[request.param]
    path.write_text(path.read_text().replace(old, new))
    return path, said


def test_windows_of_another_configuration_are_told_with_the_remedy(changed):
    path, said = changed
    remedy = f"pumonitor backfill card-fraud --from 2026-01-01 --to 2026-01-04 --config {path}"
    start = "card-fraud: 3 windows from 2026-01-01 to 2026-01-04 were evaluated under another"
    for arguments in (["results", "card-fraud"], ["alerts", "simulate", "card-fraud"]):
        told = invoke(path, *arguments).stderr
        assert start in told
        assert said in told
        assert remedy in told
    checked = json.loads(invoke(path, "check", "--json", status=2).stdout)["monitors"]["card-fraud"]
    assert any(start in one and said in one and remedy in one for one in checked["warnings"])


def test_a_class_prior_that_stayed_as_it_was_is_no_change(tmp_path):
    path = write_made_up(tmp_path)
    prior = "    class_prior: [0.16, 0.13, 0.19]\n"
    path.write_text(path.read_text() + prior)
    record(path, [0])
    path.write_text(path.read_text().replace("threshold: 0.5", "threshold: 0.8"))
    told = invoke(path, "results", "card-fraud").stderr
    assert "another configuration (threshold was 0.5 and is now 0.8)" in told


def test_only_windows_that_were_not_evaluated_again_are_reported(tmp_path):
    path = write_made_up(tmp_path)
    record(path, [0, 1, 2])
    path.write_text(path.read_text().replace("threshold: 0.5", "threshold: 0.8"))
    record(path, [2])
    told = invoke(path, "results", "card-fraud").stderr
    assert "2 windows from 2026-01-01 to 2026-01-03" in told
    record(path, [0, 1])
    assert invoke(path, "results", "card-fraud").stderr == ""


def test_longer_windows_that_hold_the_former_ones_are_enough(tmp_path):
    path = write_made_up(tmp_path)
    record(path, [4, 5])
    path.write_text(path.read_text().replace("window: 1d", "window: 1w"))
    record(path, [4])
    assert invoke(path, "results", "card-fraud").stderr == ""


def test_rules_and_destinations_are_no_other_configuration(tmp_path):
    path = write_made_up(tmp_path)
    record(path, [0])
    path.write_text(path.read_text() + "    rules: [{metric: f1, below: 0.5}]\n")
    assert invoke(path, "results", "card-fraud").stderr == ""


HEAVY = (
    "altair",
    "apprise",
    "duckdb",
    "matplotlib",
    "mlflow",
    "narwhals",
    "numpy",
    "pandas",
    "pumonitor.metrics",
    "pumonitor.prior.estimation",
    "pyarrow",
    "scipy",
    "sklearn",
    "sqlalchemy.dialects.postgresql",
    "vl_convert",
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["results", "card-fraud"],
        ["results", "card-fraud", "--format", "json"],
        ["insights"],
        ["alerts", "list"],
        ["alerts", "list", "--history"],
        ["notes", "list", "card-fraud"],
    ],
)
def test_reading_begins_without_what_only_work_needs(folder, arguments):
    path = write_made_up(folder)
    if not (folder / "state.db").exists():
        record(path, [0])
    code = (
        "import sys\n"
        "from pumonitor.cli.app import app\n"
        f"app({[*arguments]!r}, standalone_mode=False)\n"
        f"print('loaded:', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=folder
    )
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_what_is_said_of_a_followed_class_prior_needs_no_statistics():
    code = (
        "import sys\n"
        "from pumonitor.prior.followed.in_words import prior_sentences\n"
        "from pumonitor.monitor.windows.class_prior.stored_findings import stored_findings\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
