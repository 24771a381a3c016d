"""Cells of the score that every engine computes alike, to the last row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """All tiers in order; the two in the middle as one, and the others."""

    tiers: tuple[_Tier, ...]
    middle: _Tier
    ends: tuple[_Tier, ...]


@lru_cache(maxsize=4)
def _layout(coarser: int) -> _Layout:
    tiers: list[_Tier] = []
    first, start = 0, 0.0
    scales = [2.0**power / coarser for _, power in _TIERS]
    ends = [end for end, _ in _TIERS] + [1 - end for end, _ in _TIERS[-2::-1]] + [1.0]
    for until, scale in zip(ends, scales + scales[::-1], strict=True):
        tiers.append(_Tier(start=start, until=until, scale=scale, first=first))
        first += round((until - start) * scale)
        start = until
    lower, upper = tiers[len(tiers) // 2 - 1 : len(tiers) // 2 + 1]
    return _Layout(
        tiers=tuple(tiers),
        # Their bounds are multiples of the width of their cells.
        middle=replace(lower, until=upper.until),
        ends=tuple(tier for tier in tiers if tier.scale > lower.scale),
    )


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
    coarser : int
        So many neighbouring cells are one: a power of 2, at most 16.

    Examples
    --------
    >>> grid = ScoreGrid(scale="probability")
    >>> grid.cells
    57024
    >>> grid.index(np.array([0.0, 1e-9, 0.5, 1.0])).tolist()
    [0, 68, 28512, 57023]
    """

    scale: Literal["probability", "unbounded"] = "probability"
    coarser: int = 1

    @property
    def cells(self) -> int:
        """How many cells there are."""
        last = _layout(self.coarser).tiers[-1]
        return last.first + round((last.until - last.start) * last.scale)

    def index(self, scores: FloatArray) -> NDArray[np.int64]:
        """Cells of scores in memory."""
        share, layout = self._share(scores), _layout(self.coarser)
        middle = layout.middle
        found = middle.places(share)
        beyond = np.flatnonzero((share < middle.start) | (share >= middle.until))
        few, places = share[beyond], found[beyond]
        for tier in layout.ends:
            places = np.where(few >= tier.start, tier.places(few), places)
        found[beyond] = places
        return np.minimum(found, self.cells - 1)

    def lowest(self, cells: NDArray[np.int64]) -> FloatArray:
        """The score at which each cell begins."""
        tiers = _layout(self.coarser).tiers
        tier = np.searchsorted([tier.first for tier in tiers], cells, side="right") - 1
        first, start, scale = np.array([(tier.first, tier.start, tier.scale) for tier in tiers]).T
        share = start[tier] + (cells - first[tier]) / scale[tier]
        if self.scale == "probability":
            return np.asarray(share)
        mapped = 2 * share - 1
        return np.asarray(mapped / np.maximum(1 - np.abs(mapped), np.finfo(float).tiny))

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
        layout = _layout(self.coarser)
        first = layout.middle
        middle = (
            f"WHEN {share} >= {constant(first.start)} AND {share} < {constant(first.until)} "
            f"THEN {place(first)} "
        )
        ends = " ".join(
            f"WHEN {share} < {constant(tier.until)} THEN {place(tier)}" for tier in layout.ends
        )
        return f"(CASE {middle}{ends} ELSE {self.cells - 1} END)"

    def expression(self, score: Any) -> Any:
        """The same as a narwhals expression."""
        import narwhals as nw

        share = score if self.scale == "probability" else 0.5 * (1 + score / (1 + score.abs()))
        found: Any = nw.lit(self.cells - 1)
        for tier in reversed(_layout(self.coarser).tiers):
            place = ((share - tier.start) * tier.scale).floor().cast(nw.Int64) + tier.first
            found = nw.when(share < tier.until).then(place).otherwise(found)
        return found
