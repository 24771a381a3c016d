"""CPU seconds on this machine: `python -m benchmarks.home [--beside COMMIT] [--only PART ...]`.

A window of 1,000,000 rows with five panes, beside DuckDB's own group-by of the same rows; windows
of 900 rows, with MLflow and its report, and with 16 segments; commands from start to end; reports;
`mlflow.models.evaluate` with the evaluator `pu`, beside one that does nothing. With --beside the
same rows are measured with another commit in turn, so that ratios come from one run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

_ROOT = Path(__file__).resolve().parents[2]
_PARTS = Path(__file__).with_name("parts.py")
_START = "2026-01-01"
_COMMANDS = {
    "pumonitor --help": ["--help"],
    "pumonitor results": ["results", "measured"],
    "pumonitor results --format json": ["results", "measured", "--format", "json"],
    "pumonitor insights": ["insights"],
    "pumonitor alerts list": ["alerts", "list"],
    "pumonitor alerts list --history": ["alerts", "list", "--history"],
    "pumonitor notes list": ["notes", "list", "measured"],
    "pumonitor doctor": ["doctor"],
}
_MONITOR = """\
state: sqlite:///{state}.db
{tracking}monitors:
  {name}:
    predictions:
      {{source: {name}-predictions.parquet, id: id, time: made, score: score{segments}}}
    positives: {{source: {name}-confirmations.parquet, id: id, known_at: known}}
    window: 1d
    maturity: 4d
    threshold: 0.8
    rules:
      - {{metric: aul, below: 0.2, for: 2}}
      - {{metric: auc, shift: down}}
      - {{health: no_data}}
"""


def write(folder: Path, *, rows: int, days: int, segments: int = 0, tracked: bool = False) -> Path:
    """Rows of two monitors and their configurations: `warm` loads what `measured` uses as well.

    Their rows differ, as what was found for one window is kept for another with the same rows.
    """
    folder.mkdir()
    for name in ("warm", "measured"):
        _write_rows(folder / name, rows=rows, days=days, segments=segments)
        text = _MONITOR.format(
            state=name,
            name=name,
            segments=", segments: [shop]" if segments else "",
            tracking=f"tracking: {{uri: 'sqlite:///{folder}/mlflow.db'}}\n" if tracked else "",
        )
        (folder / f"{name}.yaml").write_text(text)
    return folder


def _write_rows(place: Path, *, rows: int, days: int, segments: int) -> None:
    seed = 0.5 if place.name == "warm" else 0.25
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = 'UTC'; SET threads = 1; SELECT setseed({seed})")
        connection.execute(
            f"CREATE TABLE rows AS SELECT i AS id, TIMESTAMPTZ '{_START}' + "  # noqa: S608
            f"to_microseconds(CAST(i * 86400e6 / {rows} AS BIGINT)) AS made, "
            f"random() < 0.1 AS bad, random() AS u, random() AS v, random() AS w "
            f"FROM range({rows * days}) AS numbers(i)"
        )
        shop = f", id % {segments} AS shop" if segments else ""
        scored = "CASE WHEN bad THEN u ** 0.3 ELSE u * u END AS score"
        copied = {
            "predictions": f"SELECT id, made, {scored}{shop} FROM rows",  # noqa: S608
            "confirmations": "SELECT id, made + to_hours(CAST(floor(96 * w) AS INT)) AS known "
            "FROM rows WHERE bad AND v < 0.4",
            "labels": f"SELECT CAST(bad AND v < 0.4 AS INT) AS label, {scored} FROM rows "  # noqa: S608
            f"WHERE id < {min(rows, 100_000)}",
        }
        for name, query in copied.items():
            connection.execute(f"COPY ({query}) TO '{place}-{name}.parquet' (FORMAT parquet)")


def cpu(command: list[str], folder: Path, code: Path) -> tuple[float, str]:
    """CPU seconds of a process with the code of that folder, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": f"{code}:{code / 'plugins'}",
            "OMP_NUM_THREADS": "1",
            "MLFLOW_DISABLE_TELEMETRY": "true",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if "Traceback" in done.stderr or done.returncode not in {0, 1, 3}:
        raise RuntimeError(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def measured(part: str, folder: Path, code: Path) -> dict[str, float]:
    """What a part says of itself, and its process as a whole."""
    for made in (*folder.glob("*.db*"), *folder.glob("mlruns")):
        if made.is_file():
            made.unlink()
    seconds, printed = cpu([str(_PARTS), part, str(folder)], folder, code)
    return {**json.loads(printed.splitlines()[-1]), "process from start to end": seconds}


def command(arguments: list[str], folder: Path, code: Path) -> dict[str, float]:
    """CPU of `pumonitor` from start to end."""
    program = "from pumonitor.cli.app import main; main()"
    return {"": cpu(["-c", program, *arguments], folder, code)[0]}


def show(what: str, found: dict[Path, list[dict[str, float]]]) -> None:
    """The median of each figure, of both commits, and their ratio."""
    for name in next(iter(found.values()))[0]:
        medians = [statistics.median(one.get(name, 0.0) for one in of) for of in found.values()]
        text = "".join(f"{seconds:9.3f}" for seconds in medians)
        if len(medians) == 2 and medians[1]:
            text += f"{medians[0] / medians[1]:8.2f}"
        print(f"{'  ' + name if name else what:<58}{text}", flush=True)


@contextmanager
def checked_out(commit: str | None) -> Iterator[list[Path]]:
    """Folders of the code to measure: this one, and one of the other commit."""
    if commit is None:
        yield [_ROOT]
        return
    with tempfile.TemporaryDirectory() as name:
        other = Path(name) / "beside"
        git = ["git", "-C", str(_ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(other), commit], check=True)
        try:
            yield [_ROOT, other]
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)


def main() -> None:
    """Measure all parts, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--beside", metavar="COMMIT", help="measure that commit as well")
    parser.add_argument("--only", nargs="+", choices=_ALL, default=_ALL)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with checked_out(options.beside) as codes, tempfile.TemporaryDirectory() as name:
        print(f"{'CPU seconds':<58}{'here':>9}{options.beside or '':>9.9}")
        for only in options.only:
            _ALL[only](Path(name), codes, options.runs)


def _large(folder: Path, codes: list[Path], runs: int) -> None:
    place = write(folder / "large", rows=1_000_000, days=2)
    _part("window of 1,000,000 rows, five panes", "windows", place, codes, runs)
    _part("a plain group-by of its rows in DuckDB", "plain count", place, codes[:1], runs)


def _small(folder: Path, codes: list[Path], runs: int) -> None:
    place = write(folder / "small", rows=900, days=3)
    _part("window of 900 rows, five panes", "windows", place, codes, runs)


def _tracked(folder: Path, codes: list[Path], runs: int) -> None:
    place = write(folder / "tracked", rows=900, days=4, tracked=True)
    _part("window of 900 rows with MLflow and its report", "windows", place, codes, runs)


def _segments(folder: Path, codes: list[Path], runs: int) -> None:
    for number in (1, 16, 100):
        place = write(folder / f"segments-{number}", rows=900 * number, days=2, segments=number)
        _part(f"window of {number} segments of 900 rows", "windows", place, codes, runs)


def _commands(folder: Path, codes: list[Path], runs: int) -> None:
    place = write(folder / "commands", rows=900, days=12)
    measured("windows", place, codes[0])
    (place / "pumonitor.yaml").write_text((place / "measured.yaml").read_text())
    for what, arguments in _COMMANDS.items():
        _command(what, arguments, place, codes, runs)
    asked = ["report", "measured", "--period", "2026-01", "--out", "report.html"]
    _command("pumonitor report --period", asked, place, codes, runs)


def _reports(folder: Path, codes: list[Path], runs: int) -> None:
    place = write(folder / "reports", rows=100_000, days=1)
    columns = ["--labels", "label", "--scores", "score", "--threshold", "0.8"]
    asked = ["evaluate", "measured-labels.parquet", *columns]
    _command("pumonitor evaluate, 100,000 rows", asked, place, codes, runs)
    asked = [*asked, "--report", "report.html"]
    _command("pumonitor evaluate --report", asked, place, codes, runs)
    for part in ("evaluator", "evaluator that does nothing"):
        _part(f"mlflow.models.evaluate, {part}", part, place, codes, runs)


def _part(what: str, part: str, place: Path, codes: list[Path], runs: int) -> None:
    found: dict[Path, list[dict[str, float]]] = {code: [] for code in codes}
    for _ in range(runs):
        for code in codes:
            found[code].append(measured(part, place, code))
    show(what, found)


def _command(what: str, asked: list[str], place: Path, codes: list[Path], runs: int) -> None:
    found: dict[Path, list[dict[str, float]]] = {code: [] for code in codes}
    for _ in range(runs):
        for code in codes:
            found[code].append(command(asked, place, code))
    show(what, found)


_ALL = {
    "large": _large,
    "small": _small,
    "tracked": _tracked,
    "segments": _segments,
    "commands": _commands,
    "reports": _reports,
}

if __name__ == "__main__":
    main()
