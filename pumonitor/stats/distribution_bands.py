"""Confidence bands for a distribution function seen in a sample: pointwise and simultaneous."""

from __future__ import annotations

import math
from typing import Final, Literal

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray

Band = Literal["bootstrap", "exact", "dkw", "bootstrap-simultaneous"]

BANDS: Final = ("bootstrap", "exact", "dkw", "bootstrap-simultaneous")

SIMULTANEOUS: Final = frozenset({"dkw", "bootstrap-simultaneous"})
"""Bands that hold the whole function at once; the others hold each of its values."""

_KNOTS = 2048
_RESAMPLES = 2000
_GRID = 256


def distribution_band(
    share: FloatArray,
    size: float,
    *,
    band: Band,
    confidence_level: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Low and high for the true shares, from the shares seen in a sample.

    Parameters
    ----------
    share : ndarray of shape (points,)
        Share of the sample at or above each point, monotone.
    size : float
        Rows in the sample.
    band : {"bootstrap", "exact", "dkw", "bootstrap-simultaneous"}
        "bootstrap": pointwise percentiles of resampled shares. A resampled share is a binomial
        count over `size`, so they are its quantiles, without resampling; of no width at 0 and 1.
        "exact": pointwise, Clopper and Pearson (1934).
        "dkw": simultaneous, Dvoretzky, Kiefer, Wolfowitz with Massart's (1990) constant.
        "bootstrap-simultaneous": simultaneous, all shares within as many of their standard errors
        sqrt(share (1 - share) / size) of what was seen; how many is resampled.

    Examples
    --------
    >>> share = np.array([0.0, 0.5, 1.0])
    >>> low, high = distribution_band(share, 100, band="dkw", confidence_level=0.95,
    ...                               rng=np.random.default_rng(0))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.364, 0.864], [0.136, 0.636, 1.0])
    """
    if band not in BANDS:
        msg = f"band must be one of {', '.join(BANDS)}, got {band!r}"
        raise ValueError(msg)
    tail = 0.5 * (1 - confidence_level)
    if band == "dkw":
        reach = math.sqrt(math.log(2 / (1 - confidence_level)) / (2 * size))
        return np.maximum(share - reach, 0.0), np.minimum(share + reach, 1.0)
    knots, where = np.unique(share, return_inverse=True)
    if band == "bootstrap-simultaneous":
        reach = _studentized_reach(knots, size, confidence_level=confidence_level, rng=rng)
        low, high = _wilson(knots, size, reach)
        return low[where], high[where]
    pointwise = _binomial if band == "bootstrap" else _clopper_pearson
    if len(knots) <= _KNOTS:
        low, high = pointwise(knots, size, tail)
        return low[where], high[where]
    # Smooth between knots: on the arcsine scale the error of interpolating is of the order 1e-6.
    coarse = np.sin(np.linspace(0.0, 0.5 * np.pi, _KNOTS)) ** 2
    coarse = np.round(coarse * size) / size
    low, high = pointwise(coarse, size, tail)
    reach_low = np.interp(share, coarse, coarse - low)
    reach_high = np.interp(share, coarse, high - coarse)
    return np.maximum(share - reach_low, 0.0), np.minimum(share + reach_high, 1.0)


def _binomial(share: FloatArray, size: float, tail: float) -> tuple[FloatArray, FloatArray]:
    from scipy import stats  # it takes longest of all to be imported

    rows = round(size)
    low = stats.binom.ppf(tail, rows, share) / rows
    high = stats.binom.ppf(1 - tail, rows, share) / rows
    return np.maximum(low, 0.0), np.asarray(high)


def _clopper_pearson(share: FloatArray, size: float, tail: float) -> tuple[FloatArray, FloatArray]:
    seen = share * size
    missed = size - seen
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(np.maximum(seen, 1e-300), missed + 1, tail)
        high = special.betaincinv(seen + 1, np.maximum(missed, 1e-300), 1 - tail)
    return np.where(seen <= 0, 0.0, low), np.where(missed <= 0, 1.0, high)


def _wilson(share: FloatArray, size: float, reach: float) -> tuple[FloatArray, FloatArray]:
    """Shares from which the one seen is no more than `reach` standard errors away."""
    added = reach**2 / size
    centre = (share + 0.5 * added) / (1 + added)
    half = reach / (1 + added) * np.sqrt(share * (1 - share) / size + 0.25 * added / size)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _studentized_reach(
    share: FloatArray, size: float, *, confidence_level: float, rng: np.random.Generator
) -> float:
    """Quantile of the largest deviation of a resampled share, in its standard errors."""
    inner = share[(share > 0) & (share < 1)]
    if len(inner) == 0:
        return 0.0
    if len(inner) > _GRID:
        inner = inner[np.linspace(0, len(inner) - 1, _GRID).round().astype(int)]
    steps = np.diff(np.concatenate([[0.0], inner, [1.0]]))
    counts = rng.multinomial(round(size), steps / steps.sum(), size=_RESAMPLES)
    resampled = np.cumsum(counts, axis=1)[:, :-1] / round(size)
    error = np.sqrt(inner * (1 - inner) / size)
    # Points that hold less than a few rows on one side are left to the others: their count is
    # too skewed for a symmetric band, which they would widen everywhere.
    calm = (inner * size >= 3) & ((1 - inner) * size >= 3)
    deviations = np.abs(resampled - inner) / error
    return float(
        np.quantile(
            deviations[:, calm if calm.any() else slice(None)].max(axis=1), confidence_level
        )
    )
