"""Make the file of Vega that the interactive chart runs, and the notices of the licences in it.

``python -m docs.from_code.chart_library`` writes both; with ``--check`` it writes nothing, and exits
with 1 if they would differ. It needs node and npm (20 or newer). npm installs what
``package-lock.json`` names, holds each package to its SHA-512, and runs no script of a package.
The same lock gives the same bytes, so anybody can see that nothing else is in the file.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["LIBRARY", "NOTICES", "in_one_form"]

_HERE = Path(__file__).resolve().parent
_STATIC = _HERE.parents[2] / "pumonitor" / "monitor" / "dashboard" / "static"
LIBRARY = _STATIC / "vega.js"
NOTICES = _STATIC / "vega.licenses.txt"
_INPUTS = ("entry.js", "package.json", "package-lock.json")
_ESBUILD = (
    *("--bundle", "--minify", "--format=iife", "--global-name=pumonitorVega"),
    *("--target=es2022", "--charset=utf8", "--legal-comments=none", "--log-level=warning"),
)
# d3-delaunay's own file has these in it already.
_WITHIN = ("node_modules/delaunator", "node_modules/robust-predicates")
# A licence that a file names within itself.
_COMMENT = re.compile(r"/\*[\s\S]*?\*/|(?:^[ \t]*//.*\n)+", flags=re.MULTILINE)
_IS_NOTICE = re.compile("copyright|licen[cs]e", flags=re.IGNORECASE)
_FILES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "license")


def in_one_form(text: str) -> str:
    """Text with line breaks of one kind and none of its spaces at ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip() + "\n"


def main() -> None:
    """Write both files, or compare them."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in _INPUTS:
            shutil.copy(_HERE / name, folder)
        _run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
        _run(
            folder,
            *("npm", "exec", "--offline", "--", "esbuild", "entry.js", *_ESBUILD),
            *("--outfile=vega.js", "--metafile=parts.json"),
        )
        library = (folder / "vega.js").read_bytes()
        found = {LIBRARY: library, NOTICES: _notices(folder, library).encode()}
    if "--check" in sys.argv:
        differing = [path.name for path, made in found.items() if path.read_bytes() != made]
        sys.exit(f"made anew these differ: {', '.join(differing)}" if differing else 0)
    for path, made in found.items():
        path.write_bytes(made)
        packed = len(gzip.compress(made, 9, mtime=0))
        print(f"{path.name}  {len(made):,} bytes, {packed:,} compressed by gzip")


def _run(folder: Path, *command: str) -> None:
    if subprocess.run(command, cwd=folder, check=False).returncode:  # noqa: S603 (our own words)
        sys.exit(f"{' '.join(command[:2])} failed")


def _notices(folder: Path, library: bytes) -> str:
    """Each package that has a part in the file with its licence, then what files say by themselves."""
    parts = json.loads((folder / "parts.json").read_text(encoding="utf-8"))
    (output,) = parts["outputs"].values()
    used = [path for path, of in output["inputs"].items() if of["bytesInOutput"] > 0]
    by_text: dict[str, list[str]] = {}
    for name in sorted({*map(_package, used), *_WITHIN} - {""}):
        place = folder / name
        about = json.loads((place / "package.json").read_text(encoding="utf-8"))
        text = next((place / one for one in _FILES if (place / one).is_file()), None)
        if text is None:
            sys.exit(f"{name} has no file with its licence")
        said = in_one_form(text.read_text(encoding="utf-8"))
        by_text.setdefault(said, []).append(
            f"{about['name']} {about['version']} ({about['license']})"
        )
    for path in sorted(used):
        for comment in _COMMENT.findall((folder / path).read_text(encoding="utf-8")):
            if (
                re.search("copyright|licen[cs]e", comment, flags=re.IGNORECASE)
                and comment.count("\n") > 1
            ):
                said = f"In {path.removeprefix('node_modules/')}"
                by_text.setdefault(in_one_form(comment), []).append(said)
    head = (
        "vega.js is made of the packages below by `python -m docs.from_code.chart_library`.\n"
        f"SHA-256 of vega.js: {hashlib.sha256(library).hexdigest()}\n"
    )
    line = "-" * 80
    return head + "".join(
        f"\n{line}\n{chr(10).join(names)}\n{line}\n{text}" for text, names in by_text.items()
    )


def _package(path: str) -> str:
    """Folder of the package that a file is of, "" for our own."""
    before, found, inside = path.rpartition("node_modules/")
    parts = inside.split("/")[: 2 if inside.startswith("@") else 1]
    return "/".join([before + found.rstrip("/"), *parts]) if found else ""


if __name__ == "__main__":
    main()
