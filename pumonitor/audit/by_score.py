"""The line of the label frequency given the audit: a grid around its posterior, and draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.bin_likelihood import BinTables, make_tables
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.frequency import FrequencyByScore
from pumonitor.audit.overall import confirmed_share, level_of, log_density, with_departures
from pumonitor.audit.reading import Reading
from pumonitor.stats.systematic_draws import draw_systematically

__all__ = ["ByScore", "LineDraws", "fit_by_score"]

FloatArray = NDArray[np.float64]

_POINTS: Final = 41
_TAUS: Final = 8
_FINDING: Final = ((2, 150), (2, 250))
"""Values of tau and points of v of the two coarse grids that find where the posterior lies."""
_FARTHEST: Final = 4.5  # standard deviations of the prior
_NEGLIGIBLE: Final = 16.0  # log of a density, from the highest
_MOST_STEPS: Final = 600
_CANDIDATES: Final = 16
"""Draws for each one that is kept, where the label frequency of all positives is known besides."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineDraws:
    """Draws of the line of v = -logit e, and of v and logit p by bin.

    Attributes
    ----------
    line : ndarray of shape (3, draws)
        Alpha, beta and gamma.
    v, p_logit : ndarray of shape (bins, draws)
    """

    line: FloatArray
    v: FloatArray
    p_logit: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Box:
    """A grid of the slope and of the level of each side, equally spaced.

    The level of a side is middle + lean (slope - slope's middle) + offset: given the slope the
    bins above the threshold and those below it tell each the level of their own side.

    Attributes
    ----------
    middle : ndarray of shape (1 + sides,)
        Of the slope, then of the levels: above the threshold and below it, or of all bins.
    lean : ndarray of shape (sides,)
    low, high : ndarray of shape (1 + sides,)
        Ends of the offsets.
    points : tuple of int
        How many values each has; 1 of what is known.
    """

    middle: FloatArray
    lean: FloatArray
    low: FloatArray
    high: FloatArray
    points: tuple[int, ...]

    @property
    def steps(self) -> FloatArray:
        return np.asarray((self.high - self.low) / np.maximum(np.array(self.points) - 1, 1))

    def offsets(self, axis: int) -> FloatArray:
        """Of the slope (axis 0) or of the level of a side."""
        count = self.points[axis]
        return np.linspace(self.low[axis], self.high[axis], count) if count > 1 else np.zeros(1)

    @property
    def slopes(self) -> FloatArray:
        return np.asarray(self.middle[0] + self.offsets(0))

    def levels(self, side: int) -> FloatArray:
        """Of one side, shape (points of the level, points of the slope)."""
        leaning = self.middle[1 + side] + self.lean[side] * self.offsets(0)
        return np.asarray(self.offsets(1 + side)[:, np.newaxis] + leaning)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ByScore:
    """The posterior of the line and of tau on a grid.

    Attributes
    ----------
    log_weight : ndarray of shape (taus, slopes, levels[, levels below the threshold])
        Log of the posterior, up to a constant of the data alone.
    sides : ndarray of shape (bins,)
        Which level each bin has.
    overall : (float, float) or None
        Mean and variance of -logit of the label frequency of all positives, if known besides.
    log_overall : ndarray of the shape of `log_weight`, or of none
        What it adds to `log_weight`, with departures as they are believed.
    """

    tables: BinTables
    box: _Box
    taus: FloatArray
    log_weight: FloatArray
    rank: FloatArray
    sides: NDArray[np.intp]
    overall: tuple[float, float] | None
    log_overall: FloatArray

    @property
    def log_evidence(self) -> float:
        """Log of the integral, up to a constant that readings of the same audit share."""
        steps = self.box.steps
        volume = np.log(steps[steps > 0]).sum()
        return float(special.logsumexp(self.log_weight) + volume + self.tables.log_scale)

    def draw(self, size: int, rng: np.random.Generator) -> LineDraws:
        """Draws of the line, then of v by bin given the line, then of p given v."""
        count = size if self.overall is None else _CANDIDATES * size
        points, slope, levels = self._lines(count, rng)
        line = levels[self.sides] + np.outer(self.rank, slope)
        step, v = self.tables.step, self.tables.v
        at = np.clip(np.rint((line - v[0]) / step).astype(np.intp), 0, len(v) - 1)
        beside = line - v[at]
        if len(self.taus) > 1 or self.taus[0] > 0:
            taus = np.unravel_index(points, self.log_weight.shape)[0]
            at = self._departures(taus, at, rng)
        departed = v[at] + beside
        if self.overall is not None:
            kept = self._in_accord(self.overall, points, departed, size, rng)
            slope, levels = slope[kept], levels[:, kept]
            at, departed = at[:, kept], departed[:, kept]
        p_logit = self.tables.draw_logits(at, departed, rng.random(at.shape))
        drawn = np.stack([levels.mean(axis=0), slope, levels[0] - levels[-1]])
        return LineDraws(line=drawn, v=departed, p_logit=p_logit)

    def _lines(
        self, size: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        """Systematic draws of points of the grid, each moved within its cell."""
        chosen = draw_systematically(self.log_weight.ravel(), size, rng)
        _, *at = np.unravel_index(chosen, self.log_weight.shape)
        box = self.box
        moved = (rng.random((len(at), size)) - 0.5) * box.steps[:, np.newaxis]
        moved += np.stack([box.offsets(axis)[one] for axis, one in enumerate(at)])
        sides = box.middle[1:, np.newaxis] + np.outer(box.lean, moved[0]) + moved[1:]
        return chosen, box.middle[0] + moved[0], sides

    def _in_accord(
        self,
        overall: tuple[float, float],
        points: NDArray[np.intp],
        v: FloatArray,
        size: int,
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """Draws that go with the label frequency of all positives, v being as it was drawn."""
        known = log_density(level_of(v, self.tables.bins.counts), overall)
        log_weight = known - self.log_overall.ravel()[points]
        return draw_systematically(log_weight, size, rng)

    def _departures(
        self, tau: NDArray[np.intp], at: NDArray[np.intp], rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """Points of v: where the line is, moved by a normal departure and what the bin says."""
        kernels = _kernels(self.taus, self.tables)
        points = at.shape[1]
        found = np.empty_like(at)
        for place, log_likelihood in enumerate(self.tables.log_likelihood):
            wanted = tau * len(self.tables.v) + at[place]
            rows, which = np.unique(wanted, return_inverse=True)
            levels = kernels.reshape(-1, len(self.tables.v))[rows] * np.exp(log_likelihood)
            np.cumsum(levels, axis=1, out=levels)
            levels /= np.maximum(levels[:, -1:], 1e-300)
            levels += np.arange(len(rows))[:, np.newaxis]
            column = np.searchsorted(levels.ravel(), which + rng.random(points))
            found[place] = np.clip(column - which * levels.shape[1], 0, levels.shape[1] - 1)
        return found


def fit_by_score(counts: AuditCounts, reading: Reading, believed: FrequencyByScore) -> ByScore:
    """Find where the posterior lies on coarse grids, then tabulate it on a fine one."""
    box = _LinePrior.of(believed).box()
    for taus, steps in _FINDING:
        found = _tabulated(counts, reading, believed, box, taus=taus, most_steps=steps)
        box = _narrowed(found)
    return _tabulated(counts, reading, believed, box, taus=_TAUS, most_steps=_MOST_STEPS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _LinePrior:
    """Normal prior of the slope and of the level of each side.

    Attributes
    ----------
    mean : ndarray of shape (1 + sides,)
    covariance : ndarray of shape (1 + sides, 1 + sides)
    """

    mean: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, believed: FrequencyByScore) -> _LinePrior:
        """One side, if no step is believed possible; else that above the threshold comes first."""
        parts = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.5], [1.0, 0.0, -0.5]])
        if believed.stepless:
            parts = parts[:2]
        return cls(
            mean=parts @ np.array(believed.mean),
            covariance=parts @ np.array(believed.covariance) @ parts.T,
        )

    def box(self) -> _Box:
        """As far as anything is believed possible."""
        slope = self.covariance[0, 0]
        lean = self.covariance[0, 1:] / slope if slope > 0 else np.zeros(len(self.mean) - 1)
        spread = np.diag(self.covariance).copy()
        spread[1:] -= lean**2 * slope
        reach = _FARTHEST * np.sqrt(np.maximum(spread, 0))
        points = tuple(1 if far == 0 else _POINTS for far in reach)
        return _Box(middle=self.mean, lean=lean, low=-reach, high=reach, points=points)

    def log_density(self, box: _Box) -> FloatArray:
        """At each point of the box: by slope, then by the level of each side."""
        inverse = np.linalg.pinv(self.covariance, hermitian=True)
        slope = (box.slopes - self.mean[0])[:, np.newaxis]
        levels = [(box.levels(side) - one).T for side, one in enumerate(self.mean[1:])]
        own = [
            inverse[1 + side, 1 + side] * level**2 + 2 * inverse[0, 1 + side] * slope * level
            for side, level in enumerate(levels)
        ]
        own[0] = own[0] + inverse[0, 0] * slope**2
        total = _across(own)
        if len(levels) == 2:
            total += 2 * inverse[1, 2] * levels[0][:, :, np.newaxis] * levels[1][:, np.newaxis]
        return np.asarray(-0.5 * total)


def _tabulated(
    counts: AuditCounts,
    reading: Reading,
    believed: FrequencyByScore,
    box: _Box,
    *,
    taus: int,
    most_steps: int,
) -> ByScore:
    middles = (np.arange(taus) + 0.5) / taus
    tau = believed.spread * special.ndtri(0.5 + 0.5 * middles)
    if believed.spread == 0:
        tau = np.zeros(1)
    rank = counts.bins.rank
    sides = np.where(counts.bins.above | believed.stepless, 0, 1)
    tables = make_tables(counts, reading, _grid(counts, box, tau, most_steps))
    smoothed = _smoothed(tables, tau)
    told = [np.zeros((len(tau), *box.levels(side).T.shape)) for side in range(len(box.lean))]
    for place, side in enumerate(sides):
        line = box.levels(int(side)) + rank[place] * box.slopes
        told[side] += _interpolated(smoothed[place], tables.v, line.T)
    log_weight = _across(told) + _LinePrior.of(believed).log_density(box)
    log_overall = _log_overall(counts, box, sides, tau, believed.overall)
    log_weight += log_overall
    return ByScore(
        tables=tables,
        box=box,
        taus=tau,
        log_weight=log_weight,
        rank=rank,
        sides=sides,
        overall=believed.overall,
        log_overall=log_overall,
    )


def _across(sides: Sequence[FloatArray]) -> FloatArray:
    """Sum over the sides at every point of the grid, of arrays (..., slopes, levels)."""
    if len(sides) == 1:
        return sides[0]
    return np.asarray(sides[0][..., np.newaxis] + sides[1][..., np.newaxis, :])


def _log_overall(
    counts: AuditCounts,
    box: _Box,
    sides: NDArray[np.intp],
    taus: FloatArray,
    overall: tuple[float, float] | None,
) -> FloatArray:
    """Log density of the label frequency of all positives at every point, if it is known."""
    if overall is None:
        return np.zeros(())
    share = confirmed_share(counts)
    total = [np.zeros((2, *box.levels(side).T.shape)) for side in range(len(box.lean))]
    for place, side in enumerate(sides):
        line = box.levels(int(side)) + counts.bins.rank[place] * box.slopes
        part = share[place] * np.exp(line.T)
        total[side] += np.stack([part, part**2])
    mean, squares = _across(total)
    level, spread = with_departures(mean, squares, taus)
    return log_density(level, overall, spread)


def _grid(counts: AuditCounts, box: _Box, tau: FloatArray, most_steps: int) -> FloatArray:
    """Values of v, fine enough for the bin that says most of it, as far as departures reach."""
    ends = [
        box.levels(side) + rank * box.slopes
        for side in range(len(box.lean))
        for rank in (counts.bins.rank.min(), counts.bins.rank.max())
    ]
    margin = 4.5 * tau.max() + 0.05
    low, high = float(np.min(ends)) - margin, float(np.max(ends)) + margin
    told = 1 / (1 / (counts.positive + 1) + 1 / (counts.labeled + 1))
    step = max(0.3 / float(np.sqrt(told.max())), (high - low) / most_steps)
    return np.linspace(low, high, max(int((high - low) / step) + 2, 8))


def _kernels(taus: FloatArray, tables: BinTables) -> FloatArray:
    """Chance of each point of v by where the line is, for every tau: the normal over its cell."""
    cells = np.arange(-len(tables.v), len(tables.v)) + 0.5
    ends = special.ndtr(cells * tables.step / np.maximum(taus, 1e-9)[:, np.newaxis])
    by_distance = np.diff(ends, axis=1)  # from -(points - 1) to points - 1 cells
    points = np.arange(len(tables.v))
    return np.asarray(by_distance[:, points - points[:, np.newaxis] + len(tables.v) - 1])


def _smoothed(tables: BinTables, taus: FloatArray) -> FloatArray:
    """Log likelihood of each bin by where the line is, shape (bins, taus, points)."""
    likelihood = np.exp(tables.log_likelihood)
    found = np.einsum("tmv,bv->btm", _kernels(taus, tables), likelihood, optimize=True)
    return np.asarray(np.log(np.maximum(found, 1e-300)))


def _interpolated(values: FloatArray, grid: FloatArray, where: FloatArray) -> FloatArray:
    """Cubic interpolation along the last axis, at equal steps (Catmull and Rom)."""
    step = grid[1] - grid[0]
    place = np.clip((where - grid[0]) / step, 1, len(grid) - 2.001)
    before = place.astype(np.intp)
    t = place - before
    one, two, three, four = (values[..., before + move] for move in (-1, 0, 1, 2))
    curve = ((3 * (two - three) + four - one) * t + (2 * one - 5 * two + 4 * three - four)) * t
    return np.asarray(two + 0.5 * t * (curve + three - one))


def _narrowed(found: ByScore) -> _Box:
    """A box along the posterior that holds all but a negligible part of it."""
    box = found.box
    log_weight = special.logsumexp(found.log_weight, axis=0)
    kept = log_weight > log_weight.max() - _NEGLIGIBLE
    weight = np.where(kept, np.exp(log_weight - log_weight.max()), 0)
    weight /= weight.sum()
    slopes = box.slopes
    at = kept.nonzero()
    by_slope = weight.sum(axis=tuple(range(1, weight.ndim)))
    middle, lean = [float(slopes @ by_slope)], []
    inside = [slopes[at[0]] - middle[0]]
    spread = float((slopes - middle[0]) ** 2 @ by_slope) + 0.15 * box.steps[0] ** 2
    for side in range(len(box.lean)):
        level = box.levels(side).T
        by_level = weight
        if weight.ndim == 3:
            by_level = weight.sum(axis=2 - side)
        middle.append(float((level * by_level).sum()))
        both = float(((level - middle[-1]) * by_level).sum(axis=1) @ (slopes - middle[0]))
        both += 0.15 * box.lean[side] * box.steps[0] ** 2
        lean.append(both / spread if spread > 0 else 0.0)
        inside.append(level[at[0], at[1 + side]] - middle[-1] - lean[-1] * inside[0])
    leant = np.append(0.0, np.abs(box.lean - lean))
    margin = box.steps + leant * box.steps[0]
    return _Box(
        middle=np.array(middle),
        lean=np.array(lean),
        low=np.array([one.min() for one in inside]) - margin,
        high=np.array([one.max() for one in inside]) + margin,
        points=box.points,
    )
