"""Tries many mutants with several processes, each in its own copy of the tree."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.progress import track

from benchmarks.mutation.covering import Covering
from benchmarks.mutation.operators import Mutant
from benchmarks.mutation.subjects import sample
from benchmarks.mutation.trials import Trials

__all__ = ["lines_of", "try_all"]

_LEFT_OUT = (".git", ".venv", ".mypy_cache", ".ruff_cache", "site", "dist", "build", "reproduction")


def lines_of(path: Path) -> list[dict[str, Any]]:
    """What was found out about each mutant so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def try_all(
    folder: Path,
    out: Path,
    *,
    tree: Path,
    wanted: set[str] | None,
    count: int,
    seed: int,
    seconds: float,
    processes: int,
) -> None:
    """Try a sample of mutants, or those with the keys wanted; what `out` has is not tried again."""
    drawn = sample(count, seed, tree)
    if wanted is not None:
        drawn = [one for one in sample(10**6, 0, tree) if one[1].key in wanted]
        if len(drawn) < len(wanted):
            left = len(wanted) - len(drawn)
            sys.stderr.write(f"{left} of them are not in {tree}: their functions differ.\n")
    done = {one["key"] for one in lines_of(out)}
    covering = Covering(folder, tree)
    tasks = [
        (subject, mutant, *_affordable(covering, mutant, seconds))
        for subject, mutant in drawn
        if mutant.key not in done
    ]
    with (
        tempfile.TemporaryDirectory() as copies,
        multiprocessing.get_context("spawn").Pool(
            processes, initializer=_begin, initargs=(tree, copies)
        ) as pool,
        out.open("a") as file,
    ):
        for found in track(pool.imap_unordered(_try_one, tasks), total=len(tasks)):
            file.write(json.dumps(found) + "\n")
            file.flush()


def _affordable(covering: Covering, mutant: Mutant, seconds: float) -> tuple[list[str], int, float]:
    """The tests to run, how many there are in all, and the time they take without the fault."""
    tests = covering.tests(mutant)
    cost = 0.0
    for number, name in enumerate(tests):
        # The quickest test is tried whatever it costs.
        if number and cost + covering.times[name] > seconds:
            return tests[:number], len(tests), cost
        cost += covering.times[name]
    return tests, len(tests), cost


_TRIALS: list[Trials] = []


def _begin(tree: Path, folder: str) -> None:
    """A copy of the tree for this process, with everything compiled."""
    copy = Path(folder) / str(os.getpid())
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT, "__pycache__"))
    command = [sys.executable, "-m", "compileall", "-q", "pumonitor", "plugins", "benchmarks"]
    subprocess.run(command, cwd=copy, check=True)
    _TRIALS.append(Trials(copy))


def _try_one(task: tuple[str, Mutant, list[str], int, float]) -> dict[str, Any]:
    subject, mutant, tests, covering, cost = task
    killer = _killer(mutant, tests, cost)
    return {
        "key": mutant.key,
        "subject": subject,
        "file": mutant.file,
        "function": mutant.function,
        "line": mutant.line,
        "old": mutant.old,
        "new": mutant.new.rstrip("\n"),
        "killed_by": killer,
        "tests": len(tests),
        "covering": covering,
    }


def _killer(mutant: Mutant, tests: list[str], cost: float) -> str | None:
    trials = _TRIALS[0]
    seconds = 30 + 5 * cost
    text = mutant.applied_to((trials.tree / mutant.file).read_bytes())
    left = tests
    while left:
        killer = trials.failing(left, file=mutant.file, text=text, seconds=seconds)
        if killer is None or killer not in left:
            return killer
        # A test that fails here without the fault has seen nothing.
        if trials.failing([killer], file=None, text=None, seconds=seconds) is None:
            return killer
        left = [one for one in left if one != killer]
    return None
