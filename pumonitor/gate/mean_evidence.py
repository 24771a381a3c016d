"""Evidence that the mean of paired differences lies above a value, at whatever time it is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.gate.stakes import STAKES, averaged, lower_end

_FEWEST_WINDOWS_TO_SEE: Final = 4.0
"""Windows' worth of no difference between windows that are assumed before any is seen."""
_LARGEST_LOG: Final = 690.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeanEvidence:
    """Paired differences of several windows, and what they say of their mean.

    A bettor who stakes a share of its capital on each difference gains nothing on average if the
    mean is at most m. So the capital, an average over many stakes, exceeds 1 / error at any time
    with probability at most `error` (Ville's inequality), and the means at which it does not are an
    interval that holds at all times together, however often it is looked at. It assumes nothing
    else of the differences than their range, and that those of one window vary around the same
    mean as those of another, or by as much as windows are seen to differ (`dispersion`).

    Attributes
    ----------
    differences : ndarray of float, shape (units,)
        Each in [-1, 1].
    weights : ndarray of float, shape (units,)
        Positives that a unit stands for; 1 without propensities.
    window : ndarray of int, shape (units,)
        Window of each.
    largest_weight : float
        That a unit could have had, as far as it is known from elsewhere.

    Notes
    -----
    Capital of one stake b is the product of 1 + b w (x - m) / (1 + abs(m)), w relative to the
    largest weight there can be. Waudby-Smith and Ramdas, "Estimating means of bounded random
    variables by betting" (2024), section 4; here stakes are averaged, so that the order within a
    window is of no consequence. The guarantee is good once the largest weight is known. Before a
    unit of that weight is seen, or `largest_weight` names it, all evidence comes from those that
    are seen often, and if these favour one model it is called better though it is not.

    Examples
    --------
    >>> wins = MeanEvidence.of([[1, 0, 1, 1, 0, 1, 1], [1, 1, 0, 1, 1, 1]])
    >>> round(wins.mean, 2), round(wins.lower(error=0.025), 2)
    (0.77, 0.13)
    >>> wins.capital() > 40
    True
    """

    differences: FloatArray
    weights: FloatArray
    window: NDArray[np.int64]
    largest_weight: float = 0.0

    @classmethod
    def of(
        cls,
        windows: list[ArrayLike] | tuple[ArrayLike, ...],
        weights: list[ArrayLike] | tuple[ArrayLike, ...] | None = None,
        *,
        largest_weight: float = 0.0,
    ) -> MeanEvidence:
        """Differences of each window, with weights where a unit stands for several positives.

        Raises
        ------
        InputError
            If a difference is not within [-1, 1], or a weight is not above 0.
        """
        parts = [np.asarray(one, dtype=np.float64).ravel() for one in windows]
        sizes = [len(one) for one in parts]
        differences = np.concatenate(parts) if parts else np.zeros(0)
        given = (
            np.ones(len(differences))
            if not weights
            else np.concatenate([np.asarray(one, dtype=np.float64).ravel() for one in weights])
        )
        # Not (a <= b) is true of NaN as well.
        outside = int((~(np.abs(differences) <= 1)).sum())
        if outside:
            msg = f"differences must be within [-1, 1]: {outside} of {len(differences)} are not"
            raise InputError(msg)
        wrong = int((~((given > 0) & np.isfinite(given))).sum())
        if wrong or len(given) != len(differences):
            msg = f"weights must be finite and above 0, one for each difference: {wrong} are not"
            raise InputError(msg)
        return cls(
            differences=differences,
            weights=given,
            window=np.repeat(np.arange(len(parts)), sizes),
            largest_weight=largest_weight,
        )

    @property
    def units(self) -> int:
        """How many differences there are."""
        return len(self.differences)

    @property
    def mean(self) -> float | None:
        """Their weighted mean; None without any."""
        if not self.units:
            return None
        return float(np.average(self.differences, weights=self.weights))

    @property
    def dispersion(self) -> float:
        """How many times the variance between windows is that of equal windows; 1 at least.

        The sum of squared departures of the windows' means over its expectation, with four windows
        of no difference added: of few windows it cannot be known how they differ.
        """
        windows = int(self.window[-1]) + 1 if self.units else 0
        mean = self.mean
        if mean is None or windows < 2:
            return 1.0
        scores = self.weights * (self.differences - mean)
        sums = np.bincount(self.window, scores, minlength=windows)
        variances = np.bincount(self.window, scores**2, minlength=windows)
        there = variances.sum()
        if there <= 0:
            return 1.0
        # Of equal windows the square of a sum is, on average, the sum of the squares.
        expected = there * (
            1 - (np.bincount(self.window, self.weights) ** 2).sum() / self.weights.sum() ** 2
        )
        seen = int((variances > 0).sum()) - 1
        if seen < 1 or expected <= 0:
            return 1.0
        ratio = float((sums**2).sum() / expected)
        return max(1.0, (ratio * seen + _FEWEST_WINDOWS_TO_SEE) / (seen + _FEWEST_WINDOWS_TO_SEE))

    def capital(self, mean: float = 0.0) -> float:
        """What 1 has become of bets that the mean is above this value; at most 1e300."""
        return float(np.exp(min(_Bets.on(self).log_capital(mean), _LARGEST_LOG)))

    def lower(self, *, error: float) -> float:
        """Lower end of the interval; the mean is ever below it with probability `error`."""
        if self.mean is None:
            return -1.0
        return lower_end(_Bets.on(self).log_capital, lowest=-1.0, inside=self.mean, error=error)

    def upper(self, *, error: float) -> float:
        """Upper end of the interval."""
        return -self.reversed().lower(error=error)

    def resampled_capitals(
        self, mean: float, *, labels: int, runs: int, rng: np.random.Generator
    ) -> FloatArray:
        """Logarithms of capitals after so many differences drawn from these, a number a run."""
        bets = _Bets.on(self)
        counts = rng.multinomial(labels, bets.counts / bets.counts.sum(), size=runs)
        return bets.log_capitals(mean, counts.astype(np.float64))

    def reversed(self) -> MeanEvidence:
        """The differences with the two models exchanged."""
        return replace(self, differences=-self.differences)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Bets:
    """Distinct differences with their weights, relative to the largest, and how often each is."""

    differences: FloatArray
    weights: FloatArray
    counts: FloatArray
    dispersion: float

    @classmethod
    def on(cls, evidence: MeanEvidence) -> _Bets:
        pairs = np.stack([evidence.differences, evidence.weights], axis=1)
        distinct, counts = np.unique(pairs, axis=0, return_counts=True)
        largest = max(evidence.largest_weight, distinct[:, 1].max(initial=1e-300))
        return cls(
            differences=distinct[:, 0],
            weights=distinct[:, 1] / largest,
            counts=counts.astype(np.float64),
            dispersion=evidence.dispersion,
        )

    def log_capital(self, mean: float) -> float:
        """The average over stakes, of bets that the mean is above a value."""
        return float(self.log_capitals(mean, self.counts[np.newaxis])[0])

    def log_capitals(self, mean: float, counts: FloatArray) -> FloatArray:
        """The same had each difference been there so often, a row of counts each."""
        gains = self.weights * (self.differences - mean) / (1.0 + abs(mean))
        return averaged(counts @ np.log1p(gains[:, np.newaxis] * STAKES) / self.dispersion)
