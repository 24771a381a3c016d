"""Use an installed wheel as people do: `python tests/packaging/smoke.py`, in any environment.

Every module is imported, rows are evaluated and compared, the commands run, one of them a monitor
with its ledger, and MLflow finds the evaluator. Only the wheel and what it needs must be installed:
nothing of this repository is imported, no test runner either. Ends with `smoke test passed` or the
first failure.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

PACKAGES = [
    "alembic",
    "altair",
    "apprise",
    "apscheduler",
    "duckdb",
    "jinja2",
    "mlflow",
    "narwhals",
    "numpy",
    "pandas",
    "prometheus-client",
    "pyarrow",
    "pydantic",
    "pyyaml",
    "requests",
    "rich",
    "scipy",
    "sqlalchemy",
    "sqlglot",
    "typer",
    "urllib3",
    "vl-convert-python",
]
DAYS = 4
CONFIGURATION = """\
state: sqlite:///state.db
tracking: {uri: "sqlite:///mlflow.db"}
monitors:
  smoke:
    predictions: {source: predictions.parquet, id: id, time: at, score: score}
    positives: {source: confirmations.parquet, id: id, known_at: known}
    window: 1d
    maturity: 1d
    threshold: 0.5
    class_prior: {assumed: {value: 0.2, low: 0.17, high: 0.23}}
    rules: [{metric: f1, below: 0.01}]
"""


def main() -> None:
    """Run all parts in an empty folder."""
    print(f"Python {sys.version.split()[0]}", *(f"{name} {version(name)}" for name in PACKAGES))
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ["OMP_NUM_THREADS"] = "1"
    import_everything()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        write_data()
        for part in (evaluate, commands, monitor, evaluator):
            part()
            print(f"{part.__name__}: good")
        os.chdir("/")
    print("smoke test passed")


def import_everything() -> None:
    """A name that an older or a newer release has not shows here first."""
    names = []
    for package in ("pumonitor", "pumonitor_mlflow"):
        root = importlib.import_module(package)
        names += [one.name for one in pkgutil.walk_packages(root.__path__, f"{package}.")]
    # Database migrations run by themselves, inside alembic; __main__ is a command.
    names = [name for name in names if ".versions." not in name and not name.endswith("__main__")]
    names = [name for name in names if not name.endswith(".env")]
    for name in names:
        importlib.import_module(name)
    print(f"imports: good, {len(names)} modules")


def write_data() -> None:
    """Scores of 8,000 rows a fifth of which are positive, two fifths of these confirmed."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    rows = 8000
    positive = rng.random(rows) < 0.2
    score = 1 / (1 + np.exp(-rng.normal(np.where(positive, 1.0, -1.5))))
    reported = positive & (rng.random(rows) < 0.4)
    at = pd.date_range("2026-01-01", periods=rows, freq=f"{DAYS * 86400 // rows}s", tz="UTC")
    frame = pd.DataFrame({"id": np.arange(rows), "at": at, "score": score})
    frame.assign(reported=reported.astype(int)).to_csv("scored.csv", index=False)
    frame.to_parquet("predictions.parquet")
    known = frame.loc[reported, ["id"]].assign(known=at[reported] + pd.Timedelta("1h"))
    known.to_parquet("confirmations.parquet")
    Path("pumonitor.yaml").write_text(CONFIGURATION, encoding="utf-8")


def evaluate() -> None:
    """The library on arrays."""
    import pandas as pd

    import pumonitor

    frame = pd.read_csv("scored.csv")
    found = pumonitor.evaluate(frame["reported"], frame["score"], class_prior=0.2)
    f1 = found["f1"]
    if not f1.low < f1.value < f1.high:
        raise AssertionError(f"F1 {f1.value} outside of its interval [{f1.low}, {f1.high}]")
    json.dumps(found.to_dict(), allow_nan=False)
    if found.to_frame().empty:
        raise AssertionError("no estimates")
    auto = pumonitor.estimate_class_prior(frame["reported"], frame["score"])
    if not 0.1 < auto.value < 0.3:
        raise AssertionError(f"class prior {auto.value}, the truth is 0.2")


def commands() -> None:
    """The command line, by the script that the installer made."""
    told = run("--version")
    if version("pumonitor") not in told:
        raise AssertionError(told)
    columns = ["--labels", "reported", "--scores", "score"]
    run("evaluate", "scored.csv", *columns, "--class-prior", "0.2", "--report", "report.html")
    if "<html" not in Path("report.html").read_text(encoding="utf-8"):
        raise AssertionError("the report is no page")
    run("estimate-prior", "scored.csv", *columns)


def monitor() -> None:
    """Windows into the ledger and on into MLflow."""
    run("check")
    run("run")
    rows = json.loads(run("results", "smoke", "--format", "json"))
    windows = {row["window_start"] for row in rows}
    if len(windows) != DAYS or not any(row["metric"] == "f1" for row in rows):
        raise AssertionError(f"{len(windows)} windows: {rows[:3]}")
    import mlflow

    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    runs = mlflow.search_runs(experiment_names=["pumonitor/smoke"])
    if "metrics.pu/f1" not in runs.columns:
        raise AssertionError(f"not in MLflow: {sorted(runs.columns)}")


def evaluator() -> None:
    """MLflow finds the evaluator by its entry point."""
    import mlflow
    import pandas as pd

    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    mlflow.set_experiment("smoke")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mlflow.models.evaluate(
            data=pd.read_csv("scored.csv")[["score", "reported"]],
            predictions="score",
            targets="reported",
            model_type="pu",
            evaluators=["pu"],
            evaluator_config={"pu": {"class_prior": 0.2}},
        )
    if not 0 < found.metrics["pu/f1"] < 1:
        raise AssertionError(found.metrics)


def run(*arguments: str) -> str:
    """Output of a `pumonitor` command; what it says goes into the error if it fails."""
    script = Path(sys.executable).with_name("pumonitor")
    done = subprocess.run(
        [script, *arguments], check=False, capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        raise AssertionError(
            f"pumonitor {' '.join(arguments)}: status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


if __name__ == "__main__":
    main()
