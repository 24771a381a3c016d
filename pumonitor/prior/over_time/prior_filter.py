"""The class prior of a series of windows, followed through changes of all else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pumonitor.prior.over_time.changes import CHANGES, PACES
from pumonitor.prior.over_time.level import Level
from pumonitor.prior.over_time.paced_filter import MOVES, PacedFilter
from pumonitor.prior.over_time.window_summary import WindowSummary

__all__ = ["PriorFilter"]

FloatArray = NDArray[np.float64]

_BEYOND: Final = math.log(1.25)


@dataclass(frozen=True, slots=True, eq=False)
class PriorFilter:
    """What windows so far say of the class prior now.

    An estimator of each window by itself reads the largest prior that its scores allow, and that
    rises when the model ranks worse though the world is as it was. Here the level comes from the
    reference, and windows say what has changed since: the class prior pi, the label frequency c,
    or where positives and negatives score. A window shows n rows, K confirmed, and the mean of an
    index of the scores over all rows, M, and over confirmed ones, H:

        K ~ Poisson(n pi c),   H ~ N(mu1, .),   M ~ N(mu0 + pi (mu1 - mu0), .).

    When the prior moves K and M do; when ranking breaks H and M do; when the label frequency moves
    K does alone. Changes are rare, two at once rarer, and what a window cannot tell the following
    ones often can. It is wrong where a prior and a label frequency change together in a way that
    leaves K as it was, or where the ranking breaks in the very window in which the prior or the
    label frequency changes: both explanations are then kept, with their chances.

    Parameters
    ----------
    parts : sequence of PacedFilter
        One for each pace of drift; the evidence of the windows weighs them.

    Notes
    -----
    Given the path of pi, c is gamma and (mu1, mu0) normal, so pi alone needs a grid (one axis for
    the reference's level, which never moves, one for how far it is from it). Hypotheses about a
    window are enumerated, and what they make of c and (mu1, mu0) is one gamma and one normal again
    in each point of the grid, by moments. Nothing is drawn: the same windows give the same numbers.

    References
    ----------
    Blom, Bar-Shalom (1988), The interacting multiple model algorithm, for the moments; West,
    Harrison (1997), Bayesian forecasting and dynamic models, ch. 12, for hypotheses per window.

    Examples
    --------
    >>> def window(rows, confirmed, all_mean, confirmed_mean):
    ...     return WindowSummary(rows=rows, confirmed=confirmed, all_mean=all_mean,
    ...         all_variance=5 / rows, confirmed_mean=confirmed_mean,
    ...         confirmed_variance=50 / confirmed)
    >>> followed = PriorFilter.begun(window(20_000, 300, 1.0, 8.0), Level.given(0.05, 0.04, 0.06))
    >>> for _ in range(4):  # the mean index falls among all rows and among confirmed ones
    ...     followed = followed.after(window(2000, 30, 0.86, 5.0))
    >>> low, middle, high = followed.quantiles([0.025, 0.5, 0.975])
    >>> bool(0.035 < low < 0.05 < high < 0.07), bool(followed.moved() < 0.2)
    (True, True)
    >>> for _ in range(4):  # twice as many are confirmed, and the mean index is higher again
    ...     followed = followed.after(window(2000, 60, 1.08, 5.0))
    >>> bool(followed.quantiles([0.5])[0] > 0.08), bool(followed.moved() > 0.9)
    (True, True)
    """

    parts: Sequence[PacedFilter]

    @classmethod
    def begun(cls, reference: WindowSummary, level: Level, *, spread: float = 0.0) -> PriorFilter:
        """From the reference.

        Parameters
        ----------
        reference : WindowSummary
            All its rows.
        level : Level
            Of its class prior.
        spread : float
            Squared coefficient of variation of the confirmed share between windows, beyond
            sampling.

        Raises
        ------
        ValueError
            Without confirmed rows.
        """
        if not reference.confirmed > 0:
            msg = "a class prior cannot be followed from a reference without confirmed rows"
            raise ValueError(msg)
        return cls(
            [PacedFilter.begun(pace, reference, level, spread=spread) for pace in range(len(PACES))]
        )

    def after(self, window: WindowSummary) -> PriorFilter:
        """With another window."""
        return PriorFilter([one.after(window) for one in self.parts])

    def audited(self, positives: float, cases: float) -> PriorFilter:
        """With a random sample of the last window's rows whose truth somebody looked up.

        Parameters
        ----------
        positives, cases : float
            So many of so many; cases that were confirmed before are among them.

        Raises
        ------
        ValueError
            Unless 0 <= positives <= cases and cases > 0.
        """
        if not 0 <= positives <= cases or cases <= 0:
            msg = f"an audit must satisfy 0 <= positives <= cases > 0, got {positives} of {cases}"
            raise ValueError(msg)
        return PriorFilter([one.audited(positives, cases) for one in self.parts])

    def shares(self) -> FloatArray:
        """Of the paces, by how well each has foretold the windows."""
        return np.asarray(special.softmax([one.log_evidence for one in self.parts]))

    def quantiles(self, levels: ArrayLike) -> FloatArray:
        """Of the class prior now.

        Parameters
        ----------
        levels : array_like
            Between 0 and 1.
        """
        prior = np.concatenate([one.class_prior.ravel() for one in self.parts])
        weight = self._weights()
        order = np.argsort(prior, kind="stable")
        reached = np.cumsum(weight[order]) - 0.5 * weight[order]
        at = np.interp(np.asarray(levels, dtype=float), reached, np.log(prior[order]))
        return np.asarray(np.exp(at))

    def moved(self, beyond: float = _BEYOND) -> float:
        """Chance that the class prior differs from the reference's by more than a factor.

        Parameters
        ----------
        beyond : float
            Logarithm of the factor, 1.25 by default.
        """
        far = np.concatenate(
            [np.abs(np.log(one.class_prior / _level(one))).ravel() > beyond for one in self.parts]
        )
        return float(self._weights()[far].sum())

    def changes(self) -> dict[str, float]:
        """Chances of what happened in the last window, by name; they add up to 1."""
        chances = self.shares() @ np.stack([one.changes for one in self.parts])
        found: dict[str, float] = {}
        for change, chance in zip(CHANGES, chances.tolist(), strict=True):
            found[change.name] = found.get(change.name, 0.0) + chance
        return found

    def _weights(self) -> FloatArray:
        return np.concatenate(
            [
                share * one.weight().ravel()
                for share, one in zip(self.shares(), self.parts, strict=True)
            ]
        )


def _level(part: PacedFilter) -> FloatArray:
    """The reference's class prior in each row of the grid."""
    return part.class_prior[:, [len(MOVES) // 2]]
