"""How exact and how fast the class-prior estimators are: `python -m benchmarks.prior`.

synthetic  two normals: every method; coverage of auto where few rows are labeled
real       eleven real tasks, scored by boosted trees and by forests
peers      packages that can be installed, on the same samples
speed      tables of 1e5, 1e6 and 1e7 unlabeled rows
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.datasets import prepare
from benchmarks.prior.beside_peers import peer_tables
from benchmarks.prior.real import FOLDER, PRIORS, real_tables
from benchmarks.prior.runs import RUNNABLE
from benchmarks.prior.speed import SIZES, speed_tables
from benchmarks.prior.synthetic import synthetic_tables
from benchmarks.prior.tables import FigureTable
from benchmarks.prior.tasks import REPORTED


def main(arguments: list[str] | None = None) -> int:
    """Run the parts, print their tables."""
    from rich.console import Console

    parser = _parser()
    options = parser.parse_args(arguments)
    if options.peers_python is not None and not options.peers_python.exists():
        parser.error(f"--peers-python: no file {options.peers_python}")
    # Into a file there is no width to ask for, and 80 columns would break every name.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 150)
    if {"real", "peers"} & set(options.only or _PARTS):
        prepare((task.name for task in REPORTED), fetching=options.fetch)
    stored = []
    for part in options.only or _PARTS:
        for table in _PARTS[part](options):
            console.print(table.to_rich())
            stored.append({"part": part} | table.to_dict())
            if options.json is not None:  # after each, so that a run that is stopped leaves some
                text = json.dumps(stored, indent=1, allow_nan=False)
                options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def _seeds(options: argparse.Namespace, usual: int) -> int:
    return int(options.seeds or (1 if options.quick else usual))


def _synthetic(options: argparse.Namespace) -> Iterator[FigureTable]:
    coverage_seeds = options.coverage_seeds or (5 if options.quick else 50)
    return synthetic_tables(
        seeds=_seeds(options, 10), coverage_seeds=coverage_seeds, methods=options.methods
    )


def _real(options: argparse.Namespace) -> Iterator[FigureTable]:
    return real_tables(
        seeds=_seeds(options, 3),
        folder=options.folder,
        fresh=options.fresh,
        priors=PRIORS[1:2] if options.quick else PRIORS,
        methods=options.methods,
    )


def _peers(options: argparse.Namespace) -> Iterator[FigureTable]:
    # Scores that `real` has just made anew are not made again.
    fresh = options.fresh and "real" not in (options.only or _PARTS)
    return peer_tables(
        seeds=_seeds(options, 3), python=options.peers_python, folder=options.folder, fresh=fresh
    )


def _speed(options: argparse.Namespace) -> Iterator[FigureTable]:
    return speed_tables(sizes=SIZES[:1] if options.quick else SIZES, methods=options.methods)


_PARTS: dict[str, Callable[[argparse.Namespace], Iterator[FigureTable]]] = {
    "synthetic": _synthetic,
    "real": _real,
    "peers": _peers,
    "speed": _speed,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prior",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", choices=_PARTS, metavar="PART", help=", ".join(_PARTS))
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=RUNNABLE,
        default=RUNNABLE,
        metavar="METHOD",
        help="these alone, but in peers: " + ", ".join(RUNNABLE),
    )
    parser.add_argument(
        "--seeds", type=int, help="of the tables of errors (10 synthetic, 3 real, 3 peers)"
    )
    parser.add_argument("--coverage-seeds", type=int, help="per cell of the coverage (50)")
    parser.add_argument("--quick", action="store_true", help="few seeds, to see that it runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where scores are kept (default: %(default)s)"
    )
    parser.add_argument(
        "--fetch", action="store_true", help="bring missing data sets from their public archives"
    )
    parser.add_argument("--fresh", action="store_true", help="score real tasks anew")
    parser.add_argument(
        "--peers-python",
        type=Path,
        metavar="PYTHON",
        help="an environment that has pulearn and pu-toolbox, if this one has not",
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
