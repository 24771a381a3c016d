"""One row, from the cache or computed: its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasets import DatasetMissingError
from benchmarks.reproduce import cache
from benchmarks.reproduce.data import load
from benchmarks.reproduce.rows import Report, Row, RowResult

__all__ = ["Outcome", "Tally", "run_row", "tally"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A row with its result, or with the reason why there is none."""

    row: Row
    repetitions: int
    result: RowResult | None
    missing: str = ""
    from_cache: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many numbers agree, and how many rows had no data."""

    inside: int
    judged: int
    shown: int
    without_data: int

    def __str__(self) -> str:
        return (
            f"{self.inside} of {self.judged} inside, {self.shown} without printed value, "
            f"{self.without_data} without data"
        )


def run_row(row: Row, *, folder: Path, quick: bool, fresh: bool, report: Report) -> Outcome:
    """Take the row from the cache, or compute and store it."""
    repetitions = row.quick if quick else row.repetitions
    stored = None if fresh else cache.read(folder, row, repetitions)
    if stored is not None:
        return Outcome(row=row, repetitions=repetitions, result=stored, from_cache=True)
    try:
        for name in row.data:
            load(name)
    except DatasetMissingError as missing:
        return Outcome(row=row, repetitions=repetitions, result=None, missing=str(missing))
    # Before the run: who edits the source meanwhile must not get the old numbers under its hash.
    key = cache.source_key(row, repetitions)
    result = row.run(repetitions, report)
    cache.write(folder, row, repetitions, result, key=key)
    return Outcome(row=row, repetitions=repetitions, result=result)


def tally(outcomes: list[Outcome]) -> Tally:
    """Count what came out."""
    verdicts = [
        figure.inside
        for outcome in outcomes
        if outcome.result is not None
        for figure in outcome.result.figures
    ]
    return Tally(
        inside=verdicts.count(True),
        judged=len(verdicts) - verdicts.count(None),
        shown=verdicts.count(None),
        without_data=sum(outcome.result is None for outcome in outcomes),
    )
