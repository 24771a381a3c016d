"""Alpha, beta and tau given the audit: a grid around their posterior, and draws from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.bin_likelihood import BinTables, make_tables
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.frequency import FrequencyByScore
from pumonitor.audit.reading import Reading

__all__ = ["ByScore", "LineDraws", "fit_by_score"]

FloatArray = NDArray[np.float64]

_POINTS: Final = 41
_TAUS: Final = 8
_FINDING: Final = ((2, 150), (2, 250))
"""Values of tau and points of v of the two coarse grids that find where the posterior lies."""
_FARTHEST: Final = 4.5  # standard deviations of the prior
_NEGLIGIBLE: Final = 16.0  # log of a density, from the highest
_MOST_STEPS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineDraws:
    """Draws of alpha, beta and tau, and of v = -logit e and logit p by bin.

    Attributes
    ----------
    alpha, beta : ndarray of shape (draws,)
    v, p_logit : ndarray of shape (bins, draws)
    """

    alpha: FloatArray
    beta: FloatArray
    v: FloatArray
    p_logit: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Box:
    """A grid of (alpha, beta) = middle + axes (a, b), a and b equally spaced."""

    middle: FloatArray
    axes: FloatArray
    low: FloatArray
    high: FloatArray
    points: tuple[int, int]

    @property
    def steps(self) -> FloatArray:
        return np.asarray((self.high - self.low) / np.maximum(np.array(self.points) - 1, 1))

    def lines(self) -> FloatArray:
        """Alpha and beta of all points, shape (2, points)."""
        a, b = (
            np.linspace(low, high, count) if count > 1 else np.zeros(1)
            for low, high, count in zip(self.low, self.high, self.points, strict=True)
        )
        both = np.stack(np.meshgrid(a, b, indexing="ij")).reshape(2, -1)
        return np.asarray(self.middle[:, np.newaxis] + self.axes @ both)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ByScore:
    """The posterior of alpha, beta and tau on a grid.

    Attributes
    ----------
    log_weight : ndarray of shape (taus, points)
        Log of the posterior, up to a constant of the data alone.
    """

    tables: BinTables
    box: _Box
    taus: FloatArray
    log_weight: FloatArray
    rank: FloatArray

    @property
    def log_evidence(self) -> float:
        """Log of the integral, up to a constant that readings of the same audit share."""
        free = self.box.steps > 0
        cell = self.box.axes @ np.diag(self.box.steps)
        volume = np.log(np.diag(cell)[free]).sum()  # the axes are triangular
        return float(special.logsumexp(self.log_weight) + volume + self.tables.log_scale)

    def draw(self, size: int, rng: np.random.Generator) -> LineDraws:
        """Draws of the line, then of v by bin given the line, then of p given v."""
        taus, alpha, beta = self._lines(size, rng)
        line = alpha + np.outer(self.rank, beta)
        step, v = self.tables.step, self.tables.v
        at = np.clip(np.rint((line - v[0]) / step).astype(np.intp), 0, len(v) - 1)
        beside = line - v[at]
        if len(self.taus) > 1 or self.taus[0] > 0:
            at = self._departures(taus, at, rng)
        departed = v[at] + beside
        p_logit = self.tables.draw_logits(at, departed, rng.random(at.shape))
        return LineDraws(alpha=alpha, beta=beta, v=departed, p_logit=p_logit)

    def _lines(
        self, size: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        """Systematic draws of points of the grid, each moved within its cell."""
        weight = np.exp(self.log_weight - self.log_weight.max()).ravel()
        levels = np.cumsum(weight)
        places = (np.arange(size) + rng.random()) / size * levels[-1]
        chosen = np.minimum(np.searchsorted(levels, places), len(weight) - 1)
        chosen = rng.permutation(chosen)
        tau, point = np.divmod(chosen, self.log_weight.shape[1])
        moved = (rng.random((2, size)) - 0.5) * self.box.steps[:, np.newaxis]
        alpha, beta = self.box.lines()[:, point] + self.box.axes @ moved
        return tau, alpha, beta

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
    root = believed.root()
    known = (root[0, 0] == 0, root[1, 1] == 0)
    points = (1 if known[0] else _POINTS, 1 if known[1] else _POINTS)
    reach = np.where(known, 0.0, _FARTHEST)
    box = _Box(middle=np.array(believed.mean), axes=root, low=-reach, high=reach, points=points)
    for taus, steps in _FINDING:
        box = _narrowed(_tabulated(counts, reading, believed, box, taus=taus, most_steps=steps))
    return _tabulated(counts, reading, believed, box, taus=_TAUS, most_steps=_MOST_STEPS)


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
    lines = box.lines()
    tables = make_tables(counts, reading, _grid(counts, lines, tau, most_steps))
    smoothed = _smoothed(tables, tau)
    log_weight = np.repeat(_log_prior(believed, lines)[np.newaxis], len(tau), axis=0)
    for place, rank in enumerate(counts.bins.rank):
        log_weight += _interpolated(smoothed[place], tables.v, lines[0] + rank * lines[1])
    return ByScore(tables=tables, box=box, taus=tau, log_weight=log_weight, rank=counts.bins.rank)


def _grid(counts: AuditCounts, lines: FloatArray, tau: FloatArray, most_steps: int) -> FloatArray:
    """Values of v, fine enough for the bin that says most of it, as far as departures reach."""
    ends = [lines[0] + rank * lines[1] for rank in (counts.bins.rank.min(), counts.bins.rank.max())]
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
    one, two, three, four = (values[:, before + move] for move in (-1, 0, 1, 2))
    curve = ((3 * (two - three) + four - one) * t + (2 * one - 5 * two + 4 * three - four)) * t
    return np.asarray(two + 0.5 * t * (curve + three - one))


def _log_prior(believed: FrequencyByScore, lines: FloatArray) -> FloatArray:
    """Normal in the numbers that are not known."""
    apart = lines - np.array(believed.mean)[:, np.newaxis]
    inverse = np.linalg.pinv(np.array(believed.covariance), hermitian=True)
    return np.asarray(-0.5 * np.einsum("ip,ij,jp->p", apart, inverse, apart))


def _narrowed(found: ByScore) -> _Box:
    """A box along the main axes of the posterior that holds all but a negligible part of it."""
    lines = found.box.lines()
    log_weight = special.logsumexp(found.log_weight, axis=0)
    kept = log_weight > log_weight.max() - _NEGLIGIBLE
    weight = np.where(kept, np.exp(log_weight - log_weight.max()), 0)
    weight /= weight.sum()
    middle = lines @ weight
    cell = found.box.axes @ np.diag(found.box.steps)
    spread = (lines - middle[:, np.newaxis]) * weight @ (lines - middle[:, np.newaxis]).T
    spread += 0.15 * cell @ cell.T
    axes = np.zeros((2, 2))
    free = np.array(found.box.points) > 1
    axes[np.ix_(free, free)] = np.linalg.cholesky(spread[np.ix_(free, free)])
    inward = np.linalg.pinv(axes)
    within = inward @ (lines[:, kept] - middle[:, np.newaxis])
    margin = np.abs(inward @ cell).sum(axis=1)
    return _Box(
        middle=middle,
        axes=axes,
        low=within.min(axis=1) - margin,
        high=within.max(axis=1) + margin,
        points=found.box.points,
    )
