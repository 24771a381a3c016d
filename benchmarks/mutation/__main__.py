"""How many of a sample of small faults the tests see.

    python -m benchmarks.mutation cover FOLDER                 which tests run which lines (once)
    python -m benchmarks.mutation run FOLDER --out FILE        400 mutants against these tests
    python -m benchmarks.mutation run FOLDER --out FILE --again OTHER   the survivors of OTHER alone
    python -m benchmarks.mutation report FILE [--survivors]

A mutant is one changed expression or statement in a function of the metrics, the class prior, the
alert fold, the outbox, the claims or the rules (`operators.py`, `subjects.py`). The tests that run
its line are tried, the quickest first, until one fails or they have cost the seconds allowed; slow
tests and those beyond that do not count, so the share said is rather too low. `--tree` names the
root of another checkout, to compare two states of the tests.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.progress import track

from benchmarks.mutation.covering import Covering, measure
from benchmarks.mutation.operators import Mutant
from benchmarks.mutation.subjects import SUBJECTS, TREE, sample
from benchmarks.mutation.trials import Trials

_LEFT_OUT = (".git", ".venv", ".mypy_cache", ".ruff_cache", "site", "dist", "build", "reproduction")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    cover = commands.add_parser("cover", help="measure which tests run which lines")
    run = commands.add_parser("run", help="try mutants")
    show = commands.add_parser("report", help="print what was found")
    for one in (cover, run):
        one.add_argument("folder", type=Path, help="what `cover` finds out")
        one.add_argument("--tree", type=Path, default=TREE, help="root of the code")
    run.add_argument("--out", type=Path, required=True, help="a line of JSON is added per mutant")
    run.add_argument("--again", type=Path, help="a file of another run: its survivors alone")
    run.add_argument("--count", type=int, default=400)
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--seconds", type=float, default=60, help="of tests per mutant")
    run.add_argument("--processes", type=int, default=os.cpu_count())
    show.add_argument("file", type=Path)
    show.add_argument("--survivors", action="store_true", help="list them")
    arguments = parser.parse_args()
    if arguments.command == "cover":
        sys.exit(measure(arguments.tree.resolve(), arguments.folder))
    elif arguments.command == "run":
        _try_all(arguments)
    else:
        _report(_lines(arguments.file), survivors=arguments.survivors)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _try_all(arguments: argparse.Namespace) -> None:
    tree = arguments.tree.resolve()
    drawn = sample(arguments.count, arguments.seed, tree)
    if arguments.again:
        wanted = {one["key"] for one in _lines(arguments.again) if one["killed_by"] is None}
        drawn = [(subject, one) for subject, one in sample(10**6, 0, tree) if one.key in wanted]
        missing = len(wanted) - len(drawn)
        if missing:
            sys.stderr.write(f"{missing} survivors are not in {tree}: their functions differ.\n")
    done = {one["key"] for one in _lines(arguments.out)}
    todo = [one for one in drawn if one[1].key not in done]
    covering = Covering(arguments.folder, tree)
    tasks = [
        (subject, mutant, *_affordable(covering, mutant, arguments.seconds))
        for subject, mutant in todo
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(
            arguments.processes, initializer=_begin, initargs=(tree, folder)
        ) as pool,
        arguments.out.open("a") as out,
    ):
        for found in track(pool.imap_unordered(_try_one, tasks), total=len(tasks)):
            out.write(json.dumps(found) + "\n")
            out.flush()


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


def _report(found: list[dict[str, Any]], *, survivors: bool) -> None:
    for line in _table(found):
        print(line)
    if survivors:
        for one in sorted(found, key=lambda one: (one["file"], one["line"])):
            if one["killed_by"] is None:
                print()
                print(f"{one['file']}:{one['line']} {one['function']}")
                print(f"  {one['tests']} of {one['covering']} tests")
                print(f"  - {one['old']}\n  + {one['new']}")


def _table(found: list[dict[str, Any]]) -> Iterator[str]:
    drawn = Counter(one["subject"] for one in found)
    killed = Counter(one["subject"] for one in found if one["killed_by"] is not None)
    untested = Counter(one["subject"] for one in found if not one["covering"])
    yield f"{'':16}{'mutants':>8}{'killed':>8}{'share':>8}{'no test':>9}"
    for subject in [one for one in SUBJECTS if drawn[one]]:
        share = killed[subject] / drawn[subject]
        yield (
            f"{subject:16}{drawn[subject]:8}{killed[subject]:8}{share:8.2f}{untested[subject]:9}"
        )
    if found:
        share = killed.total() / len(found)
        yield f"{'all':16}{len(found):8}{killed.total():8}{share:8.2f}{untested.total():9}"


if __name__ == "__main__":
    main()
