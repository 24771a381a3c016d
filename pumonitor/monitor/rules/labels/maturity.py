"""Label maturity: which share of the positives that will be confirmed is confirmed by now."""

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

from pumonitor.stats.confidence_draws import interval

__all__ = ["LabelMaturity", "ShareKnown", "label_maturity"]

FloatArray = NDArray[np.float64]

_DRAWS: Final = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareKnown:
    """Share of the eventual positives that are known, with its interval.

    Attributes
    ----------
    value, low, high : float
        NaN where it cannot be told.
    dispersion : float
        How many times as much this share varies from window to window as chance would make it.
    undefined_reason : str or None
        Why it cannot.
    """

    value: float
    low: float
    high: float
    dispersion: float = 1.0
    confidence_level: float = 0.95
    undefined_reason: str | None = None

    @classmethod
    def all_known(cls, *, confidence_level: float = 0.95) -> ShareKnown:
        """That of a window that is mature."""
        return cls(value=1.0, low=1.0, high=1.0, confidence_level=confidence_level)

    @classmethod
    def unknown(cls, reason: str, *, confidence_level: float = 0.95) -> ShareKnown:
        """Where nothing tells it."""
        return cls(
            value=math.nan,
            low=math.nan,
            high=math.nan,
            confidence_level=confidence_level,
            undefined_reason=reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelMaturity:
    """Share of the eventual positives that are known, by age.

    Attributes
    ----------
    ages : tuple of timedelta
        Ascending; at the last one, the maturity, all that count are known.
    known : ndarray of shape (ages,)
        Share known at each; NaN where it cannot be told.
    positives : float
        Positives in windows that are old enough to tell the last step.
    dispersions : ndarray of shape (ages,)
        The variance among windows over what chance alone would make it; 1 or more.
    undefined_reason : str or None
        Why nothing can be told.
    """

    ages: tuple[timedelta, ...]
    known: FloatArray
    positives: float
    dispersions: FloatArray
    confidence_level: float = 0.95
    undefined_reason: str | None = None
    _draws: FloatArray = field(repr=False)

    def share_known(self, age: timedelta) -> ShareKnown:
        """The share known at an age, linear between `ages`.

        Before the first age it is that of the first.
        """
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
    """Learn from earlier windows how labels arrive.

    Each window says how many of its positives were known at the ages it has reached; young
    windows have reached few. Wrong where labels have come to arrive otherwise than in the windows
    it has learned from, which are at least as old as the maturity for the last step.

    Parameters
    ----------
    known : array-like of shape (windows, ages)
        Positives known at each age, so that they grow from left to right; NaN at ages that the
        window has not reached.
    ages : sequence of timedelta
        Ascending, the last one the maturity: positives known later are none of the eventual ones.
    confidence_level : float
    rng : int or numpy Generator
        Seed of the interval's draws.

    Returns
    -------
    LabelMaturity
        With a reason, and no shares, where no window has reached the maturity or those that have
        hold no positive.

    Raises
    ------
    ValueError
        If shapes do not fit, ages do not ascend, or a window has an age after one it has not.

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
    """Why the share known cannot be told, if it cannot."""
    if not reached[:, -1].any():
        steps = int(np.count_nonzero(reached.any(axis=0)))
        seen = f"the oldest is seen up to {ages[steps - 1]}" if steps else "there is none yet"
        return f"no earlier window has reached the maturity of {ages[-1]}: {seen}"
    if len(totals) and totals[-1] == 0:
        windows = int(reached[:, -1].sum())
        return f"none of the {windows} earlier windows that are mature has a confirmed positive"
    return None


def _shares(share_new: FloatArray) -> FloatArray:
    """Share known at each age, from the share that each step after the first adds."""
    later = np.cumprod((1 - share_new)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.concatenate([later, np.ones((len(share_new), 1))], axis=1))


def _dispersion(
    new: FloatArray, totals: FloatArray, share_new: FloatArray
) -> tuple[list[float], list[float]]:
    """How many times as much windows scatter as by chance, and degrees of freedom, by age.

    A window slow in one step is slow in the next: what it adds to the logarithm of the share
    known at an age is summed over the later steps before it is squared.
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
            # One window does not show how windows scatter.
            found[at] = (max(ratio, 1.0), degrees) if degrees > 0 else (1.0, 1.0)
    return [ratio for ratio, _ in found], [degrees for _, degrees in found]


def _scattered(
    drawn: FloatArray,
    dispersion: Sequence[float],
    degrees: Sequence[float],
    generator: np.random.Generator,
) -> FloatArray:
    """Draws spread, on the logit scale, by how much more than chance the windows scatter."""
    logits = special.logit(np.clip(drawn, 1e-12, 1 - 1e-12))
    middle = np.median(logits, axis=0)
    found = drawn.copy()
    for at, (ratio, freedom) in enumerate(zip(dispersion, degrees, strict=True)):
        if ratio > 1:
            of_ratio = ratio * freedom / generator.chisquare(freedom, size=len(drawn))
            spread = np.sqrt(np.maximum(of_ratio, 1.0)) * (logits[:, at] - middle[at])
            found[:, at] = special.expit(middle[at] + spread)
    return found
