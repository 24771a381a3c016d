"""Label maturity: share of the eventual confirmed positives that is confirmed at a given age."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.stats.confidence_draws import interval

_DRAWS: Final = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareKnown:
    """Share of the eventual confirmed positives that is known, with its interval.

    Attributes
    ----------
    value, low, high : float
        NaN if undefined.
    dispersion : float
        Variance of this share between windows over that by chance; 1 or more.
    undefined_reason : str or None
        Why it is undefined.
    """

    value: float
    low: float
    high: float
    dispersion: float = 1.0
    confidence_level: float = 0.95
    undefined_reason: str | None = None

    @classmethod
    def all_known(cls, *, confidence_level: float = 0.95) -> ShareKnown:
        """The share of a mature window: 1."""
        return cls(value=1.0, low=1.0, high=1.0, confidence_level=confidence_level)

    @classmethod
    def unknown(cls, reason: str, *, confidence_level: float = 0.95) -> ShareKnown:
        """An undefined share with its reason."""
        return cls(
            value=math.nan,
            low=math.nan,
            high=math.nan,
            confidence_level=confidence_level,
            undefined_reason=reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelMaturity:
    """Share of the eventual confirmed positives that is known, by age of the window.

    Attributes
    ----------
    ages : tuple of timedelta
        Ascending. The last one is the maturity, at which all labels that count are known.
    known : ndarray of shape (ages,)
        Share known at each age; NaN if undefined.
    positives : float
        Confirmed positives in windows that have reached the maturity.
    dispersions : ndarray of shape (ages,)
        Variance between windows over that by chance; 1 or more.
    undefined_reason : str or None
        Why the shares are undefined.
    """

    ages: tuple[timedelta, ...]
    known: FloatArray
    positives: float
    dispersions: FloatArray
    confidence_level: float = 0.95
    undefined_reason: str | None = None
    _draws: FloatArray = field(repr=False)

    def share_known(self, age: timedelta) -> ShareKnown:
        """Share known at an age, linearly interpolated; before the first age, that of the first."""
        if self.undefined_reason is not None:
            return ShareKnown.unknown(self.undefined_reason, confidence_level=self.confidence_level)
        seconds = np.array([one.total_seconds() for one in self.ages])
        units = np.eye(len(seconds))
        weights = np.array([np.interp(age.total_seconds(), seconds, unit) for unit in units])
        if weights[-1] == 1.0:
            return ShareKnown.all_known(confidence_level=self.confidence_level)
        value = float(weights @ self.known)
        low, high = interval(self._draws @ weights, confidence_level=self.confidence_level)
        return ShareKnown(
            value=value,
            low=min(low, value),
            high=max(high, value),
            dispersion=float(max(self.dispersions[weights > 0])),
            confidence_level=self.confidence_level,
        )


def label_maturity(
    known: ArrayLike,
    *,
    ages: Sequence[timedelta],
    confidence_level: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> LabelMaturity:
    """Estimate from earlier windows what share of labels is known at each age.

    Each window contributes its numbers of confirmed positives at the ages it has reached. Wrong if
    the label delay has changed since those windows; for the last step they are at least one
    maturity old.

    Parameters
    ----------
    known : array-like of shape (windows, ages)
        Confirmed positives known at each age, cumulative; NaN at ages not reached yet.
    ages : sequence of timedelta
        Ascending; the last one is the maturity. Labels known later do not count.
    confidence_level : float
    rng : int or numpy Generator
        Seed of the interval's draws.

    Returns
    -------
    LabelMaturity
        Undefined, with a reason, if no window has reached the maturity or those that have hold no
        confirmed positive.

    Raises
    ------
    ValueError
        If shapes do not match, ages do not ascend, or a window has NaN before a number.

    Notes
    -----
    Right-truncated delays: a positive is seen only if its label came by then. Backwards in age,
    r_j = P(known in step j given known by its end) is estimated by the windows that have reached
    age j, and the share known at age i is the product of 1 - r_j over later steps j: Lynden-Bell's
    estimator, the chain ladder of insurance.

    Interval: r_j drawn from Beta distributions, to whose counts one positive more, spread evenly
    over the steps, is added. Where windows scatter about the common shares more than chance
    would have them, the draws are spread as much more, on the logit scale (over-dispersion, by
    window and not by step: a window slow in one step is slow in the next).

    References
    ----------
    Lynden-Bell (1971), A method of allowing for known observational selection in small samples
    applied to 3CR quasars; England, Verrall (2002), Stochastic claims reserving in general
    insurance, section 2 (over-dispersion).

    Examples
    --------
    >>> days = [timedelta(days=day) for day in (0, 7, 30)]
    >>> nan = float("nan")
    >>> found = label_maturity([[10, 40, 50], [12, 36, nan], [9, nan, nan]], ages=days)
    >>> round(found.share_known(timedelta(days=7)).value, 3)
    0.8
    >>> round(found.share_known(timedelta(days=0)).value, 3)
    0.232
    """
    seen = _checked(np.asarray(known, dtype=np.float64), ages)
    reached = np.isfinite(seen)
    late = reached[:, 1:]
    before = np.where(late, seen[:, :-1], 0.0)
    after = np.where(late, seen[:, 1:], 0.0)
    totals = after.sum(axis=0)
    reason = _reason(reached, totals, ages)
    steps = len(ages)
    if reason is not None:
        return LabelMaturity(
            ages=tuple(ages),
            known=np.full(steps, math.nan),
            positives=0.0,
            dispersions=np.ones(steps),
            confidence_level=confidence_level,
            undefined_reason=reason,
            _draws=np.empty((0, steps)),
        )
    # Net of retractions there may be fewer than before: the share known is then 1.
    new = np.clip(totals - before.sum(axis=0), 0.0, totals)
    share_new = np.divide(new, totals, out=np.zeros_like(new), where=totals > 0)
    generator = np.random.default_rng(rng)
    drawn = _shares(
        generator.beta(
            new + 1 / steps, totals - new + np.arange(1, steps) / steps, size=(_DRAWS, steps - 1)
        )
    )
    dispersion, degrees = _dispersion(after - before, after, share_new)
    return LabelMaturity(
        ages=tuple(ages),
        known=_shares(share_new[np.newaxis])[0],
        positives=float(totals[-1]) if len(totals) else float(np.nansum(seen[:, -1])),
        dispersions=np.array([*dispersion, 1.0]),
        confidence_level=confidence_level,
        _draws=_scattered(drawn, dispersion, degrees, generator),
    )


def _checked(known: FloatArray, ages: Sequence[timedelta]) -> FloatArray:
    if not ages or any(later <= age for age, later in itertools.pairwise(ages)):
        msg = f"ages must ascend and hold one at least, got {len(ages)}"
        raise ValueError(msg)
    if known.size == 0:
        return np.empty((0, len(ages)))
    if known.ndim != 2 or known.shape[1] != len(ages):
        msg = f"known must have one column per age: got shape {known.shape} for {len(ages)} ages"
        raise ValueError(msg)
    reached = np.isfinite(known)
    if (reached[:, 1:] & ~reached[:, :-1]).any():
        msg = "a window must have been seen at every age before its last one, NaN only after it"
        raise ValueError(msg)
    return known


def _reason(
    reached: NDArray[np.bool_], totals: FloatArray, ages: Sequence[timedelta]
) -> str | None:
    """Why the share known is undefined, or None."""
    if not reached[:, -1].any():
        steps = int(np.count_nonzero(reached.any(axis=0)))
        seen = (
            (f"the oldest has been followed up to an age of {ages[steps - 1]}")
            if steps
            else "there is none yet"
        )
        return f"no earlier window has reached the maturity of {ages[-1]}: {seen}"
    if len(totals) and totals[-1] == 0:
        windows = int(reached[:, -1].sum())
        return f"none of the {windows} earlier windows that are mature has a confirmed positive"
    return None


def _shares(share_new: FloatArray) -> FloatArray:
    """Cumulative share known at each age, from the share that each later step adds."""
    later = np.cumprod((1 - share_new)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.concatenate([later, np.ones((len(share_new), 1))], axis=1))


def _dispersion(
    new: FloatArray, totals: FloatArray, share_new: FloatArray
) -> tuple[list[float], list[float]]:
    """Dispersion between windows and its degrees of freedom, by age.

    A window that is slow in one step is slow in the next. So a window's contributions to the log of
    the share known at an age are summed over the later steps before they are squared.
    """
    together = np.maximum(totals.sum(axis=0), 1.0)
    kept = np.maximum(1 - share_new, 1 / together)
    error = (new - totals * share_new) / (together * kept)
    chance = totals * (1 - totals / together) * share_new / kept / together**2
    added = np.cumsum(error[:, ::-1], axis=1)[:, ::-1]
    expected = np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]
    found = [(1.0, 1.0) for _ in share_new]
    for at, by_chance in enumerate(expected.T):
        total = float(by_chance.sum())
        if total > 0:
            ratio = float(np.sum(added[:, at] ** 2)) / total
            windows = int(np.count_nonzero(by_chance))
            degrees = total**2 / float(np.sum(by_chance**2)) * (windows - 1) / windows
            # One window has no variance between windows.
            found[at] = (max(ratio, 1.0), degrees) if degrees > 0 else (1.0, 1.0)
    return [ratio for ratio, _ in found], [degrees for _, degrees in found]


def _scattered(
    drawn: FloatArray,
    dispersion: Sequence[float],
    degrees: Sequence[float],
    generator: np.random.Generator,
) -> FloatArray:
    """Draws widened on the logit scale by the square root of the dispersion."""
    logits = special.logit(np.clip(drawn, 1e-12, 1 - 1e-12))
    middle = np.median(logits, axis=0)
    found = drawn.copy()
    for at, (ratio, freedom) in enumerate(zip(dispersion, degrees, strict=True)):
        if ratio > 1:
            of_ratio = ratio * freedom / generator.chisquare(freedom, size=len(drawn))
            spread = np.sqrt(np.maximum(of_ratio, 1.0)) * (logits[:, at] - middle[at])
            found[:, at] = special.expit(middle[at] + spread)
    return found
