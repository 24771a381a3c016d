"""The parts of the code that mutants are drawn from, and the sample."""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.mutation.operators import Mutant, mutants_of

__all__ = ["SUBJECTS", "TREE", "files_of", "sample"]

TREE = Path(__file__).parents[2]

SUBJECTS: dict[str, tuple[str, ...]] = {
    "metrics": ("pumonitor/metrics",),
    "class prior": ("pumonitor/prior",),
    "alerts folded": ("pumonitor/monitor/rules/alerts", "pumonitor/monitor/alerts"),
    "outbox": ("pumonitor/monitor/ledger/outbox.py", "pumonitor/monitor/delivery/sending"),
    "claims": ("pumonitor/monitor/ledger/claims",),
    "rules": tuple(
        f"pumonitor/monitor/rules/{room}"
        for room in ("causes", "detectors", "labels", "reference", "windows")
    ),
}


def files_of(subject: str, tree: Path = TREE) -> list[str]:
    """Modules of a subject, as paths from the root."""
    found: list[Path] = []
    for name in SUBJECTS[subject]:
        path = tree / name
        found += [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))
    if not found:
        raise ValueError(f"{subject}: none of {SUBJECTS[subject]} is in {tree}")
    return [path.relative_to(tree).as_posix() for path in found]


def sample(count: int, seed: int, tree: Path = TREE) -> list[tuple[str, Mutant]]:
    """Subjects and mutants: as many of each subject, drawn without replacement.

    Parameters
    ----------
    count : int
        How many in all.
    seed : int
        The same seed draws the same mutants of the same code.
    tree : Path
        Root of the code.
    """
    drawn: list[tuple[str, Mutant]] = []
    for number, subject in enumerate(SUBJECTS):
        known = {
            mutant.key: mutant
            for file in files_of(subject, tree)
            for mutant in mutants_of(file, (tree / file).read_bytes())
        }
        size = count // len(SUBJECTS) + (number < count % len(SUBJECTS))
        chance = random.Random(f"{seed} {subject}")  # noqa: S311 (a sample, no secret)
        keys = chance.sample(sorted(known), min(size, len(known)))
        drawn += [(subject, known[key]) for key in keys]
    # What is stopped early has seen some of each subject.
    random.Random(seed).shuffle(drawn)  # noqa: S311
    return drawn
