"""A level that drifts and now and then jumps, seen with error: its density on a grid.

Density and not mean and variance: after a jump there are two peaks, the old level and the new.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

__all__ = ["LocalLevel", "TwoPieceNormal"]

FloatArray = NDArray[np.float64]

_DRIFTS = np.geomspace(0.001, 0.2, 9)
_USUAL_DRIFT = 0.02
_COMMON_SHARES = (0.1, 0.4, 0.8)
_JUMP = 0.2
# The common error is normal: on nodes, which data may tell apart, and normal between the nodes.
_NODES = 0.5 * np.arange(-5.0, 6.0)
_BETWEEN_NODES = 0.15
_CELLS_PER_ERROR = 8
_FEWEST_CELLS, _MOST_CELLS = 256, 2048
_SKEWNESS = np.linspace(0.001, 0.999, 999)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPieceNormal:
    """What an observation says of the level: one standard deviation below its mode, one above.

    Examples
    --------
    >>> said = TwoPieceNormal.with_quantiles(0.2, 0.3, 0.4, tail=0.025)
    >>> round(said.mode, 3), round(said.below, 3), round(said.above, 3)
    (0.3, 0.051, 0.051)
    """

    mode: float
    median: float
    below: float
    above: float

    @classmethod
    def with_quantiles(
        cls, low: float, middle: float, high: float, *, tail: float
    ) -> TwoPieceNormal:
        """The one with these quantiles at `tail`, 1/2 and 1 - `tail`.

        Its median is no nearer to an end than a half normal has it: then low and high hold alone.
        """
        ends = [_standard_quantile(chance, _SKEWNESS) for chance in (tail, 0.5, 1 - tail)]
        place = (ends[1] - ends[0]) / (ends[2] - ends[0])
        sought = (middle - low) / (high - low) if high > low else 0.5
        below = float(np.interp(sought, place, _SKEWNESS))
        lowest, highest = (
            float(_standard_quantile(chance, np.array([below]))[0]) for chance in (tail, 1 - tail)
        )
        scale = (high - low) / (highest - lowest)
        mode = low - scale * lowest
        return cls(
            mode=mode,
            median=mode + scale * float(_standard_quantile(0.5, np.array([below]))[0]),
            below=scale * below,
            above=scale * (1 - below),
        )

    @property
    def spread(self) -> float:
        """About its standard deviation."""
        return 0.5 * (self.below + self.above)


def _standard_quantile(chance: float, below: FloatArray) -> FloatArray:
    """Quantile of the two-piece normal of mode 0 and spreads `below` and 1 - `below`."""
    above = 1 - below
    left = below * special.ndtri(np.minimum(chance / (2 * below), 0.5))
    right = above * special.ndtri(np.maximum(1 - (1 - chance) / (2 * above), 0.5))
    return np.asarray(left + right)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocalLevel:
    """x_t = x_{t-1} + u_t on [0, longest], seen as y_t = x_t + sqrt(k) b + sqrt(1 - k) s_t e_t.

    Densities are joint ones of what is not known, arrays of shape (drifts, shares, nodes, cells):
    standard deviation d of u_t per unit of time, share k of the common error, the common error b,
    and x_t. Each sums to 1. Steps reflect at the ends. The first observation is a reference free
    of the common error, or None: then nothing tells b, and the level is x_t + sqrt(k) b until
    `quantiles` adds the error.

    Attributes
    ----------
    longest : float
    cells : int
    shares : tuple of float
        Values of k, equally likely at first.
    common : float
        Standard deviation of b.
    nodes : ndarray of shape (nodes,)
        Values of b / common.
    jump_chance : float
        Share of the u_t, per unit of time, that has standard deviation 0.2.
    """

    longest: float
    cells: int
    shares: tuple[float, ...]
    common: float
    nodes: FloatArray
    jump_chance: float
    levels: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        levels = (np.arange(self.cells) + 0.5) * self.longest / self.cells
        object.__setattr__(self, "levels", levels)

    @classmethod
    def fine_enough_for(
        cls,
        observed: Sequence[TwoPieceNormal | None],
        *,
        longest: float,
        common_share: float | None,
        jump_chance: float,
    ) -> LocalLevel:
        """With cells a fraction of the windows' narrowest error, and at most 2048 of them.

        Errors narrower than a cell, as that of an exact reference, count as one cell.
        """
        shares = _COMMON_SHARES if common_share is None else (common_share,)
        spreads = [one.spread for one in observed[1:] if one is not None]
        narrowest = min(spreads, default=longest) * math.sqrt(1 - max(shares))
        wanted = _CELLS_PER_ERROR * longest / max(narrowest, 1e-9)
        cells = fft.next_fast_len(
            math.ceil(min(max(wanted, _FEWEST_CELLS), _MOST_CELLS)), real=True
        )
        return cls(
            longest=longest,
            cells=cells,
            shares=shares,
            common=next((one.spread for one in observed[1:] if one is not None), 0.0),
            nodes=np.zeros(1) if observed[0] is None else _NODES,
            jump_chance=jump_chance,
        )

    # -- inference ----------------------------------------------------------------------------

    def filtered(
        self, observed: Sequence[TwoPieceNormal | None], gaps: FloatArray
    ) -> Iterator[FloatArray]:
        """Density after each observation, given it and those before; gaps[t] is the time before."""
        density = self._at_first()
        for at, (seen, gap) in enumerate(zip(observed, gaps.tolist(), strict=True)):
            density = self._later(density, gap)
            if seen is not None:
                density = density * self._likelihood(seen, has_common=at > 0)
                density /= density.sum()
            yield density

    def smoothed(
        self, observed: Sequence[TwoPieceNormal | None], gaps: FloatArray
    ) -> Iterator[FloatArray]:
        """Density at each time given all observations, the last first."""
        # All are kept until the way back: in half the memory.
        filtered = [density.astype(np.float32) for density in self.filtered(observed, gaps)]
        ahead = np.ones(filtered[-1].shape)
        for at in range(len(observed) - 1, -1, -1):
            density = filtered.pop() * ahead
            yield density / density.sum()
            seen = observed[at]
            if seen is not None:
                ahead = ahead * self._likelihood(seen, has_common=at > 0)
            # Steps are as likely backwards as forwards.
            ahead = self._later(ahead, float(gaps[at]))
            ahead /= ahead.max()

    def _at_first(self) -> FloatArray:
        drift = _DRIFTS * np.exp(-_DRIFTS / _USUAL_DRIFT)  # per equal step of its logarithm
        node = np.exp(-0.5 * self.nodes**2 / (1 - _BETWEEN_NODES**2))
        weight = drift[:, np.newaxis, np.newaxis] * np.ones((len(self.shares), 1)) * node
        density = np.repeat(weight[..., np.newaxis], self.cells, axis=-1)
        return np.asarray(density / density.sum())

    def _later(self, density: FloatArray, gap: float) -> FloatArray:
        """After a time: each normal step is a product in the cosine transform, as heat spreads."""
        if gap == 0.0:
            return density
        frequency = np.arange(self.cells) * math.pi / self.longest
        drifted = np.exp(-0.5 * gap * (_DRIFTS[:, np.newaxis] * frequency) ** 2)
        jumped = np.exp(-0.5 * (_JUMP * frequency) ** 2)
        chance = 1 - (1 - self.jump_chance) ** gap
        kept = (1 - chance) * drifted + chance * jumped
        transformed = fft.dct(density, axis=-1) * kept[:, np.newaxis, np.newaxis]
        return np.maximum(fft.idct(transformed, axis=-1), 0.0)

    def _likelihood(self, seen: TwoPieceNormal, *, has_common: bool) -> FloatArray:
        """Shape (shares, nodes, cells)."""
        distance, own = self._distance(seen, has_common=has_common)
        # Given the level, the density of y is lower where its own error is larger.
        scale = np.sqrt(1 - has_common * np.array(self.shares))[:, np.newaxis, np.newaxis]
        return np.asarray(np.exp(-0.5 * np.minimum((distance / own) ** 2, 1400.0)) / scale)

    def _distance(self, seen: TwoPieceNormal, *, has_common: bool) -> tuple[FloatArray, FloatArray]:
        """From the observation freed of the common error up to each level, and its own error."""
        finest = self.longest / self.cells
        share = has_common * np.array(self.shares)[:, np.newaxis, np.newaxis]
        common = np.sqrt(share) * self.common * self.nodes[:, np.newaxis]
        # The part of the error that is its own: the same shape, narrowed about its median.
        mode = seen.median + np.sqrt(1 - share) * (seen.mode - seen.median)
        distance = self.levels - (mode - common)
        side = np.where(distance > 0, max(seen.above, finest), max(seen.below, finest))
        return distance, np.sqrt(1 - share) * side

    # -- reading a density ----------------------------------------------------------------------

    def quantiles(
        self, density: FloatArray, chances: Sequence[float], *, narrowest: float
    ) -> list[float]:
        """Of the level, what is not known of the common error added.

        `narrowest` is the spread of the most exact observation so far. Without a reference all of
        the common error is added, as it is in that one: no average over windows is free of it.
        """
        unseen = narrowest if len(self.nodes) == 1 else _BETWEEN_NODES * self.common
        frequency = np.arange(self.cells) * math.pi / self.longest
        errors = unseen * np.sqrt(self.shares)[:, np.newaxis]
        added = np.exp(-0.5 * (errors * frequency) ** 2)
        by_share = fft.dct(density.sum(axis=(0, 2)), axis=-1)
        spread = fft.idct(np.sum(by_share * added, axis=0))
        cumulated = np.concatenate([[0.0], np.cumsum(np.maximum(spread, 0.0))])
        edges = np.linspace(0.0, self.longest, self.cells + 1)
        found: list[float] = np.interp(chances, cumulated / cumulated[-1], edges).tolist()
        return found

    def own_share(self, density: FloatArray, seen: TwoPieceNormal | None) -> float:
        """Derivative of the mean level with respect to the observation, which is a covariance."""
        if seen is None:
            return 0.0
        over_drifts = density.sum(axis=0)
        distance, own = self._distance(seen, has_common=True)
        slope = distance / own**2
        mean, mean_slope = np.sum(over_drifts * self.levels), np.sum(over_drifts * slope)
        covariance = np.sum(over_drifts * (self.levels - mean) * (slope - mean_slope))
        return float(np.clip(covariance, 0.0, 1.0))

    def drift_quantiles(self, density: FloatArray, chances: Sequence[float]) -> list[float]:
        """Of the standard deviation of the steps per unit of time."""
        weight = density.sum(axis=(1, 2, 3))
        middle = np.cumsum(weight) - 0.5 * weight
        found: list[float] = np.exp(np.interp(chances, middle, np.log(_DRIFTS))).tolist()
        return found

    def mean_common_share(self, density: FloatArray) -> float:
        """Expected share k of the common error in the variance."""
        return float(density.sum(axis=(0, 2, 3)) @ np.array(self.shares))
