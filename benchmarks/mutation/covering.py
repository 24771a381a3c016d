"""Which tests run a line: measured once for a tree, kept in a folder."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

from benchmarks.mutation.operators import Mutant
from benchmarks.mutation.subjects import SUBJECTS, files_of

__all__ = ["Covering", "measure"]


def measure(tree: Path, folder: Path) -> int:
    """Run all tests but the slow ones once with coverage; the exit status of pytest.

    Parameters
    ----------
    tree : Path
        Root of the code whose tests are run.
    folder : Path
        What is found goes there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [str(tree / file) for subject in SUBJECTS for file in files_of(subject, tree)]
    command = [sys.executable, "-m", "pytest", "-n", "logical", "--maxprocesses", "8"]
    command += ["--dist", "worksteal", "-m", "not slow", "-q", "-p", "benchmarks.mutation.contexts"]
    environment = os.environ | {
        "MUTATION_COVER": str(folder.resolve()),
        "MUTATION_INCLUDE": json.dumps(files),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(tree),
    }
    return subprocess.run(command, cwd=tree, env=environment, check=False).returncode


class Covering:
    """Tests by the lines they run.

    Parameters
    ----------
    folder : Path
        What `measure` has written.
    tree : Path
        Root of the code that was measured.
    """

    def __init__(self, folder: Path, tree: Path) -> None:
        self._folder = folder
        self._tree = tree
        self._by_file: dict[str, dict[int, set[str]]] = {}

    @cached_property
    def times(self) -> dict[str, float]:
        """Seconds of each test, with the servers it needs; infinite if it did not pass."""
        found: dict[str, float] = {}
        for path in sorted(self._folder.glob("times.*.json")):
            found |= json.loads(path.read_text(encoding="utf-8"))
        return found

    def tests(self, mutant: Mutant) -> list[str]:
        """Those that run the mutant's line and passed, the quickest first."""
        if mutant.file not in self._by_file:
            self._by_file[mutant.file] = self._lines(mutant.file)
        last = mutant.line + mutant.old.count("\n")
        found: set[str] = set()
        for line in range(mutant.line, last + 1):
            found |= self._by_file[mutant.file].get(line, set())
        passed = [one for one in found if math.isfinite(self.times.get(one, math.inf))]
        return sorted(passed, key=lambda one: (self.times[one], one))

    def _lines(self, file: str) -> dict[int, set[str]]:
        lines: dict[int, set[str]] = {}
        for path in sorted(self._folder.glob("lines.*")):
            data = CoverageData(str(path))
            data.read()
            for line, contexts in data.contexts_by_lineno(str(self._tree / file)).items():
                lines.setdefault(line, set()).update(one for one in contexts if one)
        return lines
