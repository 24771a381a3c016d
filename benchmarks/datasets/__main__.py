"""List, fetch and check data sets: `python -m benchmarks.datasets`."""

from __future__ import annotations

import argparse
import sys

from benchmarks.datasets.errors import DatasetMissingError, DatasetWrongError
from benchmarks.datasets.finding import VARIABLE, available, data_folder
from benchmarks.datasets.preparing import prepare
from benchmarks.datasets.table import TABLE, entry


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns
    -------
    int
        0; 1 if a data set is missing or is not as published; 2 for a name that there is not.
    """
    options = _parser().parse_args(arguments)
    names = options.names or list(TABLE)
    try:
        for name in names:
            entry(name)
        if options.command == "fetch":
            return 1 if prepare(names, fetching=True) else 0
        return _listed(names)
    except DatasetMissingError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _listed(names: list[str]) -> int:
    lines = [f"Folder: {data_folder()} ({VARIABLE})"]
    wrong = 0
    for name in names:
        one = entry(name)
        try:
            state = "here" if available(name) else "missing"
        except DatasetWrongError as error:
            state = str(error)
        wrong += state != "here"
        lines.append(f"{name:16} {state:8} {one.title}; {one.licence}")
        details = [one.address or f"package {one.package}"]
        if one.address:
            details.append(f"SHA-256 of the file: {one.sha256 or 'not known'}")
        details.append(f"SHA-256 of the content: {one.content}")
        lines += [f"{'':25} {detail}" for detail in details]
    sys.stdout.write("\n".join([*lines, ""]))
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.datasets",
        description="Public data sets of the demonstration, the benchmarks and the tests.",
        epilog=f"They are kept in the folder that {VARIABLE} names, or in the user's cache.",
    )
    parser.add_argument(
        "command",
        nargs="?",
        choices=("list", "fetch"),
        default="list",
        help="list: where each comes from, and whether it is here as published; "
        "fetch: bring those that are missing (default: %(default)s)",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets; all of them if none")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
