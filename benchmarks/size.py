"""Code lines of the product, per room and in all: `python -m benchmarks.size`.

A line counts if a token stands on it that is neither a comment nor part of a docstring; imports
count.
`--against REV` prints the balance since a revision of git beside each room.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PACKAGES = ("pumonitor", "plugins")
NO_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def code_lines(source: str) -> int:
    """Lines that hold code.

    >>> code_lines('def f():\\n    "What it does."\\n\\n    # why\\n    return 1\\n')
    2
    """
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - docstring_lines(source))


def docstring_lines(source: str) -> set[int]:
    """Lines of the docstrings of the module, its classes and functions."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }


def room_of(path: str) -> str:
    """Two folders below a package for the monitor, one elsewhere.

    >>> room_of("pumonitor/monitor/ledger/alerts/states.py"), room_of("pumonitor/tables.py")
    ('pumonitor/monitor/ledger', 'pumonitor')
    """
    folders = PurePosixPath(path).parent.parts
    return "/".join(folders[: 3 if folders[:2] == ("pumonitor", "monitor") else 2])


def sizes(sources: Iterable[tuple[str, str]]) -> tuple[Counter[str], Counter[str]]:
    """Code lines and files of each room."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path, source in sources:
        lines[room_of(path)] += code_lines(source)
        files[room_of(path)] += 1
    return lines, files


def sources_now() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            yield file.relative_to(ROOT).as_posix(), file.read_text("utf-8")


def sources_of(revision: str) -> Iterator[tuple[str, str]]:
    command = ["git", "-C", str(ROOT), "archive", revision, "--", *PACKAGES]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for member in opened:
            if member.name.endswith(".py") and (file := opened.extractfile(member)) is not None:
                yield member.name, file.read().decode("utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.size", description=__doc__)
    parser.add_argument("--against", metavar="REV", help="a revision of git to compare with")
    revision = parser.parse_args().against
    lines, files = sizes(sources_now())
    before = sizes(sources_of(revision))[0] if revision else lines
    for room in sorted(lines | before):
        balance = f" {lines[room] - before[room]:+7,}" if revision else ""
        print(f"{room:34} {files[room]:5,} files {lines[room]:8,}{balance}")
    total, balance = lines.total(), f" {lines.total() - before.total():+7,}" if revision else ""
    print(f"{'in all':34} {files.total():5,} files {total:8,}{balance}")


if __name__ == "__main__":
    main()
