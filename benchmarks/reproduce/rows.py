"""What a reproduced row is: numbers beside printed ones, and the judgement."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    import altair

    Chart = altair.Chart | altair.LayerChart | altair.HConcatChart | altair.ConcatChart

__all__ = [
    "PAPERS",
    "Figure",
    "Paper",
    "Report",
    "Row",
    "RowResult",
    "Rule",
    "generator",
    "monte_carlo_error",
]

Rule = Literal["near", "at most", "at least", "shown"]

Report = Callable[[int, int], None]
"""Called with the repetitions done and their total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """Who wrote it, and its title."""

    authors: str
    title: str


PAPERS: Final[dict[str, Paper]] = {
    "tabatabaei": Paper(
        authors="Tabatabaei, Klein, Hoogendoorn (2020)",
        title="Estimating the F1 score for learning from positive and unlabeled examples",
    ),
    "ramola": Paper(
        authors="Ramola, Jain, Radivojac (2019)",
        title="Estimating classification accuracy in positive-unlabeled learning",
    ),
    "aul": Paper(
        authors="Anonymous, under double-blind review",
        title="AUL is a better optimization metric in PU learning",
    ),
    "jain": Paper(
        authors="Jain, White, Radivojac (2017)",
        title="Recovering true classifier performance in positive-unlabeled learning",
    ),
    "claesen": Paper(
        authors="Claesen, Davis, De Smet, De Moor (2015)",
        title="Assessing binary classifiers using only positive and unlabeled data",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of ours beside the printed one.

    Attributes
    ----------
    name : str
        What the number is: "RMSE of F1, iris".
    ours : float
    error : float
        Monte-Carlo standard error of ours; 0 when it is exact.
    printed : float or None
        None where the paper prints only a picture or a pattern.
    rule : {"near", "at most", "at least", "shown"}
        How ours is judged against the printed one; "shown" is not judged.
    tolerance : float
        Allowance beside the Monte-Carlo error: rounding of the print, spread of the paper's runs.
    why : str
        What the tolerance is made of, or what the reader should know of this number.
    """

    name: str
    ours: float
    error: float
    printed: float | None
    rule: Rule
    tolerance: float = 0.0
    why: str = ""

    def __post_init__(self) -> None:
        if self.rule not in get_args(Rule):
            raise ValueError(f"{self.name}: rule must be one of {get_args(Rule)}, got {self.rule}")
        if self.rule != "shown" and self.printed is None:
            raise ValueError(f"{self.name}: rule {self.rule!r} needs a printed value to hold to")
        for what, number in (("ours", self.ours), ("error", self.error)):
            if not math.isfinite(number):
                raise ValueError(f"{self.name}: {what} must be finite, got {number}")

    @property
    def inside(self) -> bool | None:
        """Whether ours agrees with the print; None when that is not judged.

        "near" allows three Monte-Carlo standard errors on both sides, the one-sided rules two.
        """
        if self.printed is None or self.rule == "shown":
            return None
        if self.rule == "near":
            return abs(self.ours - self.printed) <= self.tolerance + 3 * self.error + 1e-12
        slack = self.tolerance + 2 * self.error + 1e-12
        if self.rule == "at most":
            return self.ours <= self.printed + slack
        return self.ours >= self.printed - slack


@dataclass(frozen=True, slots=True, kw_only=True)
class RowResult:
    """The numbers of a row, what to know of them, and the lists its picture is drawn from.

    `series` holds plain JSON (finite numbers, text, lists, mappings with text keys), so that a
    row from the cache is drawn without being computed again.
    """

    figures: tuple[Figure, ...]
    note: str = ""
    series: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "figures": [asdict(figure) for figure in self.figures],
            "note": self.note,
            "series": dict(self.series),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> RowResult:
        """The inverse of `to_dict`."""
        return cls(
            figures=tuple(Figure(**figure) for figure in stored["figures"]),
            note=stored["note"],
            series=stored["series"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A figure or table of a paper, or a line of one, that is computed and judged by itself.

    Attributes
    ----------
    id : str
        Unique over all papers: "tabatabaei-table2-iris". Seeds derive from it.
    paper : str
        Key of `PAPERS`.
    title : str
    data : tuple of str
        Data sets that `benchmarks.reproduce.data.load` must find; empty when simulated.
    run : callable
        ``run(repetitions, report)``; repetition number i must not depend on the others.
    repetitions, quick : int
        As many as the paper's, and those of a smoke run.
    draw : callable or None
        The picture from `RowResult.series`.
    caption : str
        What the picture shows.
    """

    id: str
    paper: str
    title: str
    data: tuple[str, ...]
    run: Callable[[int, Report], RowResult]
    repetitions: int
    quick: int
    draw: Callable[[Mapping[str, Any]], Chart] | None = None
    caption: str = ""


def generator(row_id: str, repetition: int, *, purpose: str = "") -> np.random.Generator:
    """The stream of one repetition: the same whatever else is run, before or beside it.

    Examples
    --------
    >>> first, again = generator("a-row", 3), generator("a-row", 3)
    >>> bool(first.random() == again.random())
    True
    >>> bool(generator("a-row", 3).random() == generator("a-row", 4).random())
    False
    """
    return np.random.default_rng([zlib.crc32(f"{row_id}\n{purpose}".encode()), repetition])


def monte_carlo_error(values: Any) -> float:
    """Standard error of the mean of independent repetitions; 0 for fewer than two."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size < 2:
        return 0.0
    return float(numbers.std(ddof=1) / math.sqrt(numbers.size))
