"""Class priors of consecutive windows, each estimate pooled with its neighbours'.

A day with 20 confirmed positives cannot tell a class prior alone. Priors mostly drift slowly, so
the days before (and after) say much about it, and how much is learnt from the estimates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.prior_over_time.pooled.local_level import LocalLevel, TwoPieceNormal
from pumonitor.results import ClassPriorEstimate

__all__ = ["GivenWindow", "PooledClassPriors", "pool_class_priors"]

FloatArray = NDArray[np.float64]

GivenWindow = ClassPriorEstimate | float | tuple[float, float] | tuple[float, float, float] | None
"""The estimate of a window; None where there is none."""

# Priors are compared as arcsin(sqrt(prior)): there the error of a share hardly depends on it.
_LONGEST = 0.5 * math.pi


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledClassPriors:
    """Class priors of consecutive windows after pooling.

    Attributes
    ----------
    estimates : tuple of ClassPriorEstimate or None, one per window
        The pooled class prior with its interval. A window without an estimate of its own has what
        its neighbours say, and None when there is nothing to go by yet. The unlabeled prior and
        the label frequency are those of the window's own rows under the pooled class prior.
    own_share : tuple of float, one per window
        How far the pooled value follows the window's own: 1 when it moves as much, 0 when not.
    drift_per_window : tuple of float
        Typical change of the class prior from one window to the next, as (value, low, high), in
        shares at the level of the last window.
    common_error : float
        Share of the variance that the windows' intervals state which is taken to be the same error
        in all windows, so that pooling cannot remove it.
    """

    estimates: tuple[ClassPriorEstimate | None, ...]
    own_share: tuple[float, ...]
    drift_per_window: tuple[float, float, float]
    common_error: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "estimates": [None if one is None else one.to_dict() for one in self.estimates],
            "own_share": list(self.own_share),
            "drift_per_window": list(self.drift_per_window),
            "common_error": self.common_error,
        }


def pool_class_priors(
    estimates: Sequence[GivenWindow],
    *,
    reference: GivenWindow = None,
    times: ArrayLike | None = None,
    smooth: bool = False,
    common_error: float | None = None,
    jump_chance: float = 0.02,
    confidence_level: float | None = None,
) -> PooledClassPriors:
    """Pool the class priors of consecutive windows that drift slowly, and now and then jump.

    Each window's estimate is weighed against the windows before it, the nearer the more. How much
    depends on the widths of the intervals and on how far the estimates move from window to window
    beyond that. Wrong where the windows' own intervals are wrong, and slow to follow a jump that
    is small against them: a window of 20 confirmed positives hardly shows that a prior doubled.

    Parameters
    ----------
    estimates : sequence of ClassPriorEstimate, float, (low, high), (value, low, high) or None
        One per window in order of time; None, or an estimate whose value is NaN, where the window
        has none. All of one scenario and, best, of one method.
    reference : the same, optional
        A class prior one window before the first that is free of the error common to the windows:
        counted, not estimated by the same method.
    times : array-like of shape (windows,), optional
        When each window was, ascending, in units of the usual distance between windows; 0, 1, 2
        and so on where not given.
    smooth : bool
        Whether later windows count as well, for looking back. By default each window's pooled
        prior rests on what was known by then, and appending windows does not change it.
    common_error : float, optional
        Share, from 0 to below 1, of the variance stated by the intervals that is the same error in
        every window: the bias of an estimator does not average out. Learnt from how far the
        estimates scatter less than their intervals say where not given, and at least 0.1.
    jump_chance : float
        Chance per window that the prior jumps to a new level.
    confidence_level : float, optional
        Of the pooled intervals; that of the first window's estimate where not given.

    Returns
    -------
    PooledClassPriors

    Raises
    ------
    ValueError
        If there is no window, a window's estimate is no class prior with an interval around it,
        times do not ascend, or an option is out of range.

    Notes
    -----
    With x = arcsin(sqrt(class prior)), window t has x_t = x_{t-1} + u_t, where u_t is normal of
    variance d^2 per unit of time, and of 0.2^2 for the share `jump_chance` of windows; the estimate
    is y_t = x_t + sqrt(k) b + sqrt(1 - k) s_t e_t, with e_t of its own and b the same in all
    windows. s_t is the interval's, with another width below the value than above it: a two-piece
    normal whose quantiles are low, value and high, or low and high alone where the value is nearer
    an end than such a distribution can have its median.

    Not known are the drift d (exponential prior of mean 0.02), the share k (0.1, 0.4 or 0.8) and
    b. They are averaged over with the weight that the windows up to then give them, so intervals
    hold what is not known of them. Only a reference tells b, normal of the first window's spread.
    Without one it is added to x_t at the end, with the spread of the most exact window so far: no
    interval becomes narrower than sqrt(k) of that window's.

    The density of x is kept on a grid, since it has two peaks after a jump; a step in time is a
    product in its cosine transform. Linear in the windows. `own_share` is the derivative of the
    mean of x_t with respect to y_t.

    References
    ----------
    Harvey (1989), Forecasting, structural time series models and the Kalman filter, section 2.3
    (local level); Kitagawa (1987), Non-Gaussian state-space modeling of nonstationary time series,
    equations 2.3 to 2.5.

    """
    read = [_read(one, name=f"estimates[{at}]") for at, one in enumerate(estimates)]
    if not read:
        msg = "estimates must hold at least one window, got none"
        raise ValueError(msg)
    _check_shares(common_error, jump_chance, confidence_level)
    gaps = _gaps(times, windows=len(read))
    known = [_read(reference, name="reference"), *read]
    stated = [one.confidence_level for one in known[1:] + known[:1] if one is not None]
    level = confidence_level or (stated or [0.95])[0]
    observed = [None if one is None else _observation(one) for one in known]
    model = LocalLevel.fine_enough_for(
        observed, longest=_LONGEST, common_share=common_error, jump_chance=jump_chance
    )
    # The error of the most exact estimate there has been by then, infinite before the first.
    errors = np.minimum.accumulate([math.inf if one is None else one.spread for one in observed])
    steps = model.filtered(observed, gaps)
    order = list(range(len(known)))
    if smooth:
        steps, order = model.smoothed(observed, gaps), order[::-1]
        errors[:] = errors[-1]
    tail = 0.5 * (1 - level)
    pooled: list[ClassPriorEstimate | None] = [None] * len(known)
    own_shares = [0.0] * len(known)
    drift, common = (math.nan,) * 3, math.nan
    for at, density in zip(order, steps, strict=True):
        own_shares[at] = model.own_share(density, observed[at])
        if math.isfinite(errors[at]):
            quantiles = model.quantiles(density, (tail, 0.5, 1 - tail), narrowest=float(errors[at]))
            low, value, high = (math.sin(root) ** 2 for root in quantiles)
            pooled[at] = _pooled(
                known[at],
                (low, value, high),
                own_share=own_shares[at],
                confidence_level=level,
            )
        if at == len(known) - 1:
            drift = _drift(model, density, pooled[at], tail=tail)
            common = model.mean_common_share(density)
    return PooledClassPriors(
        estimates=tuple(pooled[1:]),
        own_share=tuple(own_shares[1:]),
        drift_per_window=drift,
        common_error=common,
    )


def _read(given: GivenWindow, *, name: str) -> ClassPriorEstimate | None:
    """The estimate, None where there is none."""
    if given is None or (isinstance(given, ClassPriorEstimate) and math.isnan(given.value)):
        return None
    try:
        estimate = ClassPriorEstimate.given(given)
    except (TypeError, ValueError) as error:
        msg = f"{name}: {error}"
        raise type(error)(msg) from error
    if not 0 <= estimate.low <= estimate.value <= estimate.high <= 1:
        msg = (
            f"{name} must satisfy 0 <= low <= value <= high <= 1, got low={estimate.low:g}, "
            f"value={estimate.value:g}, high={estimate.high:g}; give None where there is none"
        )
        raise ValueError(msg)
    return estimate


def _check_shares(
    common_error: float | None, jump_chance: float, confidence_level: float | None
) -> None:
    if common_error is not None and not 0 <= common_error < 1:
        msg = f"common_error must satisfy 0 <= common_error < 1, got {common_error}"
        raise ValueError(msg)
    if not 0 < jump_chance < 1:
        msg = f"jump_chance must satisfy 0 < jump_chance < 1, got {jump_chance}"
        raise ValueError(msg)
    if confidence_level is not None and not 0 < confidence_level < 1:
        msg = f"confidence_level must satisfy 0 < confidence_level < 1, got {confidence_level}"
        raise ValueError(msg)


def _gaps(times: ArrayLike | None, *, windows: int) -> FloatArray:
    """Time before each window, after 0 for the reference, which is one unit before the first."""
    if times is None:
        return np.concatenate([[0.0], np.ones(windows)])
    when = np.asarray(times, dtype=np.float64)
    if when.shape != (windows,):
        msg = f"times must have one number per window: got shape {when.shape} for {windows} windows"
        raise ValueError(msg)
    wrong = ~np.isfinite(when)
    wrong[1:] |= ~(np.diff(when) > 0)
    if wrong.any():
        msg = (
            f"times must be finite and ascend: {int(wrong.sum())} of {windows} do not, first "
            f"times[{int(np.argmax(wrong))}]={when[np.argmax(wrong)]:g}"
        )
        raise ValueError(msg)
    return np.concatenate([[0.0, 1.0], np.diff(when)])


def _observation(estimate: ClassPriorEstimate) -> TwoPieceNormal:
    low, value, high = (
        math.asin(math.sqrt(end)) for end in (estimate.low, estimate.value, estimate.high)
    )
    return TwoPieceNormal.with_quantiles(
        low, value, high, tail=0.5 * (1 - estimate.confidence_level)
    )


def _pooled(
    own: ClassPriorEstimate | None,
    ends: tuple[float, float, float],
    *,
    own_share: float,
    confidence_level: float,
) -> ClassPriorEstimate:
    """The pooled class prior, and what it makes of the rows of the window."""
    low, value, high = ends
    return ClassPriorEstimate(
        value=value,
        low=low,
        high=high,
        method="pooled" if own is None else f"pooled {own.method}",
        confidence_level=confidence_level,
        diagnostics={
            "own_value": None if own is None else own.value,
            "own_low": None if own is None else own.low,
            "own_high": None if own is None else own.high,
            "own_share": own_share,
        },
    )


def _drift(
    model: LocalLevel, density: FloatArray, last: ClassPriorEstimate | None, *, tail: float
) -> tuple[float, float, float]:
    """The drift in shares, where the class prior is that of the last window."""
    prior = 0.5 if last is None else last.value
    slope = 2 * math.sqrt(prior * (1 - prior))
    value, low, high = (
        slope * step for step in model.drift_quantiles(density, (0.5, tail, 1 - tail))
    )
    return value, low, high
