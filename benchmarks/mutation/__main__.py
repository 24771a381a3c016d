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
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.mutation.campaign import lines_of, try_all
from benchmarks.mutation.covering import measure
from benchmarks.mutation.subjects import SUBJECTS, TREE


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
        try_all(
            arguments.folder,
            arguments.out,
            tree=arguments.tree.resolve(),
            wanted=_survivors(arguments.again) if arguments.again else None,
            count=arguments.count,
            seed=arguments.seed,
            seconds=arguments.seconds,
            processes=arguments.processes,
        )
    else:
        _report(lines_of(arguments.file), survivors=arguments.survivors)


def _survivors(path: Path) -> set[str]:
    return {one["key"] for one in lines_of(path) if one["killed_by"] is None}


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
