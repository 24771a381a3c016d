"""Whether the tests see the faults that must never come back: each is put in, and has to be found.

Every fault is made in a copy of the tree in a temporary folder, where the smallest selection of
tests that should see it runs.

    python -m benchmarks.mutation.known_faults [--only NAME]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MUTANTS", "Change", "Mutant"]

TREE = Path(__file__).parents[2]
_COPIED = ("pumonitor", "plugins", "tests", "benchmarks", "pyproject.toml", "README.md")
_LONGEST = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A text of a file and what stands in its place."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A fault and the tests that should see it.

    Attributes
    ----------
    name : str
    changes : tuple of Change
    tests : tuple of str
        Of pytest: files, names.
    """

    name: str
    changes: tuple[Change, ...]
    tests: tuple[str, ...]


_CLAIMS = "pumonitor/monitor/ledger/claims/claims.py"
_INCIDENT_TESTS = "tests/monitor/alerts/test_incidents.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="no fence and no unique key",
        changes=(
            Change(
                file=_CLAIMS,
                old="        windows.c.fence == claim.fence,\n"
                "        windows.c.lease_owner == claim.owner,\n",
                new="",
            ),
            Change(
                file="pumonitor/monitor/ledger/results/storing.py",
                old="connection.execute(insert(evaluations), stored)",
                new="connection.execute(insert(evaluations).prefix_with('OR REPLACE'), stored)",
            ),
            Change(
                file="pumonitor/monitor/ledger/results/storing.py",
                old="connection.execute(insert(results), numbers)",
                new="connection.execute(insert(results).prefix_with('OR REPLACE'), numbers)",
            ),
        ),
        tests=(
            "tests/monitor/ledger/test_claims.py",
            "-k",
            "sqlite and (took_over or one_of_two_workers)",
        ),
    ),
    Mutant(
        name="the end of a window belongs to it",
        changes=(
            Change(
                file="pumonitor/sources/windows/counts_rows.py",
                old="AND {column} < {high}",
                new="AND {column} <= {high}",
            ),
            Change(
                file="pumonitor/sources/windows/counts_rows.py",
                old="AND {name} < {high}",
                new="AND {name} <= {high}",
            ),
        ),
        tests=("tests/sources/test_count_contract.py", "-k", "polars"),
    ),
    Mutant(
        name="folding in the order of arrival",
        changes=(
            Change(
                file="pumonitor/monitor/alerts/track.py",
                old="index = bisect_left(self.starts, view.window.start)\n",
                new="index = len(self.starts)\n"
                "        if view.window.start in self.starts:\n"
                "            index = self.starts.index(view.window.start)\n",
            ),
            Change(
                file="pumonitor/monitor/ledger/alerts/panes.py",
                old=".order_by(panes.c.as_of, windows.c.window_start)\n        .limit(limit)",
                new=".order_by(panes.c.evaluated_at)\n        .limit(limit)",
            ),
            Change(
                file="pumonitor/monitor/ledger/alerts/panes.py",
                old="    if waited_for is not None:",
                new="    conditions.append(panes.c.status == 'evaluated')\n    if False:",
            ),
        ),
        tests=("tests/monitor/alerts/test_order.py",),
    ),
    Mutant(
        name="no data resolves",
        changes=(
            Change(
                file="pumonitor/monitor/rules/alerts/states.py",
                old='    elif kind == "good":\n        after = _after_good',
                new='    elif kind in ("good", "no_data"):\n        after = _after_good',
            ),
        ),
        tests=("tests/monitor/rules/test_alerts.py",),
    ),
    Mutant(
        name="sent before the post",
        changes=(
            Change(
                file="pumonitor/monitor/delivery/sending/sender.py",
                old="        try:\n            self.sink.send(message)\n",
                new="        self._outbox.delivered(message)\n"
                "        try:\n            self.sink.send(message)\n",
            ),
        ),
        tests=("tests/monitor/delivery/sending/test_delivery.py",),
    ),
    Mutant(
        name="leases by the worker's clock",
        changes=(
            Change(
                file="pumonitor/monitor/ledger/database/connections.py",
                old="        found = connection.exec_driver_sql(self._clock).scalar_one()\n",
                new="        return datetime.now(UTC)\n"
                "        found = connection.exec_driver_sql(self._clock).scalar_one()\n",
            ),
        ),
        tests=("tests/monitor/ledger/test_claims.py", "-k", "clock"),
    ),
    Mutant(
        name="an alert of history pages",
        changes=(
            Change(
                file="pumonitor/monitor/alerts/incidents.py",
                old="        if not self._notifies or not fresh:\n",
                new="        if not self._notifies:\n",
            ),
        ),
        tests=(_INCIDENT_TESTS, "-k", "history"),
    ),
    Mutant(
        name="a silence stops the fold",
        changes=(
            Change(
                file="pumonitor/monitor/alerts/incidents.py",
                old="        if found is not None:\n            alert = alert.after(found)\n",
                new="        if self._is_silenced(alert):\n            return\n"
                "        if found is not None:\n            alert = alert.after(found)\n",
            ),
        ),
        tests=(_INCIDENT_TESTS, "-k", "silence"),
    ),
    Mutant(
        name="new results do not move the newest panes",
        changes=(
            Change(
                file="pumonitor/monitor/ledger/results/storing.py",
                old="        point_to_newest(connection, [claim.window_key])\n",
                new="",
            ),
        ),
        tests=("tests/monitor/ledger/test_newest_panes.py", "-k", "sqlite and history"),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Put each fault in and say whether it was seen; 1 if one was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[one.name for one in MUTANTS])
    asked = parser.parse_args(arguments).only
    survived = 0
    for mutant in MUTANTS:
        if asked in (None, mutant.name):
            killed, why = _is_killed(mutant)
            survived += not killed
            sys.stdout.write(f"{'killed' if killed else 'SURVIVED':10}{mutant.name}: {why}\n")
            sys.stdout.flush()
    return 1 if survived else 0


def _is_killed(mutant: Mutant) -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in _COPIED:
            source = TREE / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, tree / name, ignore=ignored)
            elif source.exists():
                shutil.copy(source, tree / name)
        # Without the fault they pass, or they would tell nothing.
        if _run(tree, mutant.tests).returncode != 0:
            return False, "its tests fail without it"
        for change in mutant.changes:
            file = tree / change.file
            text = file.read_text(encoding="utf-8")
            if text.count(change.old) != 1:
                return False, f"{change.file} holds its text {text.count(change.old)} times"
            file.write_text(text.replace(change.old, change.new), encoding="utf-8")
        done = _run(tree, mutant.tests)
        last = (done.stdout.strip().splitlines() or [""])[-1]
        # 1: tests failed; others: they could not run, which proves nothing.
        return done.returncode == 1, last


def _run(tree: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
    path = os.pathsep.join([str(tree), str(tree / "plugins")])
    return subprocess.run(
        [*command, *tests],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=_LONGEST,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
