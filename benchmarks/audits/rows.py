"""What is asked of a section of the benchmark, and a line of its answer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.audits.windows import Cell

__all__ = ["Extent", "Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is run: cells of all combinations."""

    runs: int
    sets: tuple[str, ...]
    priors: tuple[float, ...]
    frequencies: tuple[float, ...]
    cases: tuple[int, ...]

    def cells(self) -> Iterator[Cell]:
        """One after the other."""
        for name, prior, frequency, cases in itertools.product(
            self.sets, self.priors, self.frequencies, self.cases
        ):
            yield Cell(name=name, class_prior=prior, label_frequency=frequency, cases=cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the result: what, measured, and what is claimed."""

    what: str
    measured: str
    claimed: str = ""
