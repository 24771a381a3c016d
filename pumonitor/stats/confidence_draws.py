"""Confidence draws: samples whose quantiles are interval bounds with the stated coverage.

An interval for a function of several uncertain quantities (a share, a rate, the class prior) is
made by drawing each from its own confidence distribution and taking quantiles of the function.
Where there is one quantity, the quantiles are those of the classical interval.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.stats.quantiles import both_tails

Order = NDArray[np.integer]
"""A permutation: of each draw, the number of its stratum among equal ones of the distribution."""

_NODES = 32


def interval(draws: FloatArray, *, confidence_level: float) -> tuple[float, float]:
    """Equal-tailed interval of confidence draws; draws without a value are left out.

    Examples
    --------
    >>> low, high = interval(np.linspace(0.0, 1.0, 1001), confidence_level=0.9)
    >>> round(low, 3), round(high, 3)
    (0.05, 0.95)
    """
    kept = with_value(draws)
    if len(kept) == 0:
        return math.nan, math.nan
    return both_tails(kept, 0.5 * (1 - confidence_level))


def with_value(draws: FloatArray) -> FloatArray:
    """Draws that have a value; all of them, uncopied, where none lacks one."""
    has_value = np.isfinite(draws)
    return draws if has_value.all() else draws[has_value]


def share_draws(
    successes: float | FloatArray,
    trials: float | FloatArray,
    *,
    size: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draws for a binomial share: Beta(successes + 1/2, failures + 1/2), Jeffreys' distribution.

    Its quantiles are Jeffreys' interval, whose average coverage is nominal for small counts too
    (Brown, Cai, DasGupta 2001, Interval estimation for a binomial proportion). `trials` may be an
    effective sample size. At no or all successes the degenerate end is the caller's to close.
    """
    return rng.beta(successes + 0.5, trials - successes + 0.5, size=size)


def _t_noise(
    standard_error: FloatArray | float,
    degrees_of_freedom: float,
    *,
    order: Order,
) -> FloatArray:
    """Errors by Student's t; none where no error is known."""
    if not np.any(standard_error) or not np.all(np.isfinite(standard_error)):
        return np.zeros(len(order))
    return np.asarray(
        standard_error * _t_quantiles(len(order), max(degrees_of_freedom, 1.0))[order]
    )


@lru_cache(maxsize=128)
def _t_quantiles(size: int, degrees_of_freedom: float) -> FloatArray:
    """Student's t at the midpoints of `size` equal strata, in ascending order.

    Kept, because one evaluation asks for the same degrees of freedom several times, and so do
    panes of a window that have the same rows.
    """
    nodes, onto_middles = _interpolation(size)
    scale = math.sqrt(degrees_of_freedom)
    at_nodes = np.arcsinh(special.stdtrit(degrees_of_freedom, nodes) / scale)
    lower = np.asarray(scale * np.sinh(onto_middles @ at_nodes), dtype=float)
    # The upper half is the lower one mirrored.
    quantiles = np.concatenate([lower, -lower[: size // 2][::-1]])
    quantiles.flags.writeable = False
    return quantiles


@lru_cache(maxsize=8)
def _interpolation(size: int) -> tuple[FloatArray, FloatArray]:
    """Shares at which quantiles are asked for, and what takes these to the lower half of `size`.

    A quantile of Student's t is searched for, which takes long for thousands of them. Against that
    of the normal with the same share, its inverse hyperbolic sine is so smooth that the polynomial
    through 32 of them (at Chebyshev's nodes, in barycentric form) has an error of 1e-14.
    """
    normal = special.ndtri((np.arange((size + 1) // 2) + 0.5) / size)
    places = np.arange(_NODES)
    angles = np.pi * (places + 0.5) / _NODES
    nodes = 0.5 * normal[0] * (1 + np.cos(angles))
    away = normal[:, np.newaxis] - nodes
    parts = (-1.0) ** places * np.sin(angles) / np.where(away == 0, 1e-300, away)
    return special.ndtr(nodes), parts / parts.sum(axis=1, keepdims=True)


@lru_cache(maxsize=8)
def _normal_quantiles(size: int) -> FloatArray:
    """Those of the standard normal at the midpoints of `size` equal strata, in ascending order."""
    quantiles: FloatArray = np.asarray(special.ndtri((np.arange(size) + 0.5) / size), dtype=float)
    quantiles.flags.writeable = False
    return quantiles


def logit_t_draws(
    value: float,
    standard_error: FloatArray | float,
    degrees_of_freedom: float,
    *,
    order: Order,
) -> FloatArray:
    """Draws for a number in (0, 1) from Student's t on the logit scale (delta method).

    Outside (0, 1), where there is no logit, Student's t on the plain scale. Each draw may have a
    standard error of its own.

    Examples
    --------
    >>> draws = logit_t_draws(0.9, 0.05, 10.0, order=np.random.default_rng(0).permutation(1001))
    >>> round(float(np.median(draws)), 6), bool(draws.max() < 1)
    (0.9, True)
    """
    noise = _t_noise(standard_error, degrees_of_freedom, order=order)
    if 0 < value < 1:
        slope = value * (1 - value)
        return np.asarray(special.expit(special.logit(value) + noise / slope))
    return np.asarray(value + noise)


def log_t_draws(
    value: float,
    standard_error: FloatArray | float,
    degrees_of_freedom: float,
    *,
    order: Order,
) -> FloatArray:
    """Draws for a positive number from Student's t on the log scale (delta method).

    For estimates whose error grows with their value. On the plain scale where there is no
    logarithm.

    Examples
    --------
    >>> draws = log_t_draws(0.5, 0.1, 1e6, order=np.random.default_rng(0).permutation(1001))
    >>> low, high = interval(draws, confidence_level=0.95)
    >>> round(0.5 / low, 3) == round(high / 0.5, 3)
    True
    """
    noise = _t_noise(standard_error, degrees_of_freedom, order=order)
    if value <= 0:
        return np.asarray(value + noise)
    # A wild draw of few degrees of freedom must not overflow: no share is e^30 times another.
    return np.asarray(value * np.exp(np.clip(noise / value, -30.0, 30.0)))


def split_normal_logit_draws(
    value: float,
    low: float,
    high: float,
    *,
    confidence_level: float,
    order: Order,
) -> FloatArray:
    """Draws whose median is `value` and whose interval at `confidence_level` is [low, high].

    Normal on the logit scale with one standard deviation below the value and another above.

    Examples
    --------
    >>> draws = split_normal_logit_draws(0.02, 0.01, 0.05, confidence_level=0.95,
    ...                                  order=np.random.default_rng(0).permutation(2001))
    >>> [round(float(q), 3) for q in np.quantile(draws, [0.025, 0.5, 0.975])]
    [0.01, 0.02, 0.05]
    """
    tiny = 1e-9
    centre = special.logit(np.clip(value, tiny, 1 - tiny))
    reach = special.ndtri(0.5 + 0.5 * confidence_level)
    below = (centre - special.logit(np.clip(low, tiny, 1 - tiny))) / reach
    above = (special.logit(np.clip(high, tiny, 1 - tiny)) - centre) / reach
    noise = _normal_quantiles(len(order))[order]
    return np.asarray(special.expit(centre + np.where(noise < 0, below, above) * noise))
