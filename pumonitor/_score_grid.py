"""Cells of the score that every engine computes alike, to the last row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["ScoreGrid"]

FloatArray = NDArray[np.float64]

# From 0 to the middle of the range: below each end, cells of 2**-power. The same from 1 downwards.
_TIERS: Final = ((2.0**-24, 36), (2.0**-16, 28), (2.0**-8, 20), (0.5, 15))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tier:
    """Cells of equal width, from `start` up to `until`."""

    start: float
    until: float
    scale: float
    first: int

    def places(self, shares: FloatArray) -> NDArray[np.int64]:
        """Cells of shares that lie in it."""
        return np.floor((shares - self.start) * self.scale).astype(np.int64) + self.first


def _tiers() -> tuple[_Tier, ...]:
    tiers: list[_Tier] = []
    first, start = 0, 0.0
    powers = [power for _, power in _TIERS]
    ends = [end for end, _ in _TIERS] + [1 - end for end, _ in _TIERS[-2::-1]] + [1.0]
    for until, power in zip(ends, powers + powers[::-1], strict=True):
        tiers.append(_Tier(start=start, until=until, scale=2.0**power, first=first))
        first += round((until - start) * 2.0**power)
        start = until
    return tuple(tiers)


def _exact(value: float) -> str:
    """Digits that read back as this very number, as a floating-point constant."""
    return f"{value:.17e}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGrid:
    """Uniform cells in several tiers, finer towards both ends of the scores' range.

    Multiplying by a power of two and rounding down are exact in binary arithmetic, so an embedded
    engine, a warehouse and a data frame put every row into the same cell; a logarithm could differ
    in its last digit. The tiers keep the scores of rare events apart, which crowd near 0 or 1.

    Attributes
    ----------
    scale : {"probability", "unbounded"}
        Scores in [0, 1], or any finite numbers: these are first mapped to
        (1 + score / (1 + |score|)) / 2, whose operations are exact everywhere as well.

    Examples
    --------
    >>> grid = ScoreGrid(scale="probability")
    >>> grid.cells
    57024
    >>> grid.index(np.array([0.0, 1e-9, 0.5, 1.0])).tolist()
    [0, 68, 28512, 57023]
    """

    scale: Literal["probability", "unbounded"] = "probability"

    @property
    def cells(self) -> int:
        """How many cells there are."""
        last = TIERS[-1]
        return last.first + round((last.until - last.start) * last.scale)

    def index(self, scores: FloatArray) -> NDArray[np.int64]:
        """Cells of scores in memory."""
        share = self._share(scores)
        found = _MIDDLE.places(share)
        beyond = np.flatnonzero((share < _MIDDLE.start) | (share >= _MIDDLE.until))
        few, places = share[beyond], found[beyond]
        for tier in _ENDS:
            places = np.where(few >= tier.start, tier.places(few), places)
        found[beyond] = places
        return np.minimum(found, self.cells - 1)

    def _share(self, scores: FloatArray) -> FloatArray:
        if self.scale == "probability":
            return scores
        return np.asarray(0.5 * (1 + scores / (1 + np.abs(scores))))

    def sql(
        self,
        score: str,
        *,
        floor: str = "CAST(floor({}) AS BIGINT)",
        constant: Callable[[float], str] = _exact,
    ) -> str:
        """Expression of the cell, for a DOUBLE column or expression, in any SQL dialect.

        `floor` says how the dialect rounds a number down that is not below 0, `constant` how it
        writes a double.
        """
        share = score
        if self.scale == "unbounded":
            share = f"(0.5e0 * (1e0 + {score} / (1e0 + abs({score}))))"

        def place(tier: _Tier) -> str:
            steps = f"(({share} - {constant(tier.start)}) * {constant(tier.scale)})"
            return f"{tier.first} + {floor.format(steps)}"

        # Most scores are between the ends: what is asked first is all that is asked of them.
        middle = (
            f"WHEN {share} >= {constant(_MIDDLE.start)} AND {share} < {constant(_MIDDLE.until)} "
            f"THEN {place(_MIDDLE)} "
        )
        ends = " ".join(f"WHEN {share} < {constant(one.until)} THEN {place(one)}" for one in _ENDS)
        return f"(CASE {middle}{ends} ELSE {self.cells - 1} END)"

    def expression(self, score: Any) -> Any:
        """The same as a narwhals expression."""
        import narwhals as nw

        share = score if self.scale == "probability" else 0.5 * (1 + score / (1 + score.abs()))
        found: Any = nw.lit(self.cells - 1)
        for tier in reversed(TIERS):
            place = ((share - tier.start) * tier.scale).floor().cast(nw.Int64) + tier.first
            found = nw.when(share < tier.until).then(place).otherwise(found)
        return found


TIERS: Final = _tiers()
_ENDS: Final = tuple(one for one in TIERS if one.scale > TIERS[len(TIERS) // 2].scale)
# The two halves of the middle are one: their bounds are multiples of the width of its cells.
_MIDDLE: Final = replace(TIERS[len(TIERS) // 2 - 1], until=TIERS[len(TIERS) // 2].until)
