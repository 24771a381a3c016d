"""Print each paper's figures beside ours: `python -m benchmarks.reproduce`.

Data sets are taken from the folder PUMONITOR_DATA and from packages, with --fetch from their public
archives as well; those that are missing are named before the work begins, and their rows are left
out. Results are kept in the folder `reproduction`, so a run can be stopped and taken up again;
the page `reproduction/index.html` shows all of it with pictures.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.datasets import prepare
from benchmarks.reproduce import cache
from benchmarks.reproduce.catalog import all_rows, chosen
from benchmarks.reproduce.data import UNPUBLISHED
from benchmarks.reproduce.page import write_page
from benchmarks.reproduce.parts import forget
from benchmarks.reproduce.rows import PAPERS, Row
from benchmarks.reproduce.run import Outcome, tally
from benchmarks.reproduce.terminal import paper_table, run_with_progress

if TYPE_CHECKING:
    from rich.console import Console


def main(arguments: list[str] | None = None) -> int:
    """Run the rows, print the tables, write the page."""
    from rich.console import Console

    options = _parser().parse_args(arguments)
    # Into a file there is no width to ask for, and 80 columns would break every name.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    try:
        rows = chosen(all_rows(), options.only)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if options.list:
        for row in rows:
            console.print(f"{row.id:40} {row.title}", markup=False)
        return 0
    if options.at_most is not None:
        most = options.at_most
        rows = tuple(
            replace(row, repetitions=min(row.repetitions, most), quick=min(row.quick, most))
            for row in rows
        )
    if options.fresh:
        forget({row.paper for row in rows})
    prepare(_data_of(rows, options), fetching=options.fetch)
    outcomes = _run(rows, options, console)
    # A page of some rows only must not take the place of the page of all.
    name = "index" if options.only is None else f"only-{options.only}"
    page = write_page(outcomes, options.folder / f"{name}{'-quick' if options.quick else ''}.html")
    console.print(f"Pictures: {page}", markup=False)
    counted = tally(outcomes)
    console.print(str(counted), markup=False)
    return 1 if options.strict and counted.inside < counted.judged else 0


def _run(rows: tuple[Row, ...], options: argparse.Namespace, console: Console) -> list[Outcome]:
    outcomes = []
    for paper, group in groupby(rows, key=lambda row: row.paper):
        of_paper = [
            run_with_progress(row, folder=options.folder, quick=options.quick, fresh=options.fresh)
            for row in group
        ]
        console.print(paper_table(PAPERS[paper], of_paper))
        outcomes += of_paper
    return outcomes


def _data_of(rows: tuple[Row, ...], options: argparse.Namespace) -> list[str]:
    """The data sets of the rows that are computed, those that nobody can have left out."""
    names: list[str] = []
    for row in rows:
        repetitions = row.quick if options.quick else row.repetitions
        stored = None if options.fresh else cache.read(options.folder, row, repetitions)
        if stored is None:
            names += [name for name in row.data if name not in UNPUBLISHED]
    return list(dict.fromkeys(names))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"papers: {', '.join(PAPERS)}",
    )
    parser.add_argument(
        "--only", metavar="PAPER_OR_PATTERN", help="a paper, or rows whose id holds this text"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few repetitions, to see that it runs; kept apart"
    )
    parser.add_argument(
        "--at-most",
        type=int,
        metavar="N",
        help="no more than N repetitions of a row, for the rows that take hours",
    )
    parser.add_argument(
        "--fetch",
        action="store_true",
        help="bring missing data sets from their public archives into the folder PUMONITOR_DATA, "
        "or into the user's cache",
    )
    parser.add_argument("--fresh", action="store_true", help="compute anew what is stored")
    parser.add_argument(
        "--strict", action="store_true", help="exit status 1 when a number is outside"
    )
    parser.add_argument("--list", action="store_true", help="list the rows and do nothing")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("reproduction"),
        help="where results and page are kept (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
