"""The class prior of a series of windows, followed through changes of all else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pumonitor.prior.over_time.changes import CHANGES, PACES
from pumonitor.prior.over_time.explanation import Explanation, Movement
from pumonitor.prior.over_time.grid import cells, quantiles_of_cells
from pumonitor.prior.over_time.level import Level, log_density
from pumonitor.prior.over_time.paced_filter import PacedFilter
from pumonitor.prior.over_time.since_reference import A_QUARTER, explanations, movements
from pumonitor.prior.over_time.stored_filter import parts_from_bytes, parts_to_bytes
from pumonitor.prior.over_time.window_summary import WindowSummary

__all__ = ["PriorFilter"]

FloatArray = NDArray[np.float64]

_LEAST_OF_PACE: Final = math.log(1 / 200)


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
    window are enumerated, and what they make of c and (mu1, mu0) is one gamma and one normal again,
    by moments, in each point of the grid and for each of four pasts: whether c, whether scores have
    jumped of late. So explanations compete on equal terms, whatever the grid keeps apart. Nothing
    is drawn: the same windows give the same numbers.

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
    def begun(
        cls, reference: WindowSummary, level: Level, *, spread: float = 0.0, windows: int = 1
    ) -> PriorFilter:
        """From the reference.

        Parameters
        ----------
        reference : WindowSummary
            All its rows. Ten windows and 150 confirmed rows are a good one. With 30 everything
            works and intervals are honest, but the label frequency is known to a third only: what
            moves it or the prior by less is then not told from the reference's own error, and
            whether ranking has changed takes a long time to see.
        level : Level
            Of its class prior.
        spread : float
            Squared coefficient of variation of the confirmed share between windows, beyond
            sampling.
        windows : int
            How many windows the reference has.

        Raises
        ------
        ValueError
            Without confirmed rows, or without an index.
        """
        _check_reference(reference)
        return cls(
            [
                PacedFilter.begun(pace, reference, level, spread=spread, windows=windows)
                for pace in range(len(PACES))
            ]
        )

    def after(self, window: WindowSummary) -> PriorFilter:
        """With another window."""
        parts = [one.after(window) for one in self.parts]
        # A series that never drifted may begin to: no pace is ever ruled out.
        least = max(one.log_evidence for one in parts) + _LEAST_OF_PACE
        return PriorFilter(
            [replace(one, log_evidence=max(one.log_evidence, least)) for one in parts]
        )

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
        return PriorFilter(
            [
                one.updated_by(
                    np.asarray(
                        special.xlogy(positives, one.class_prior)
                        + special.xlog1py(cases - positives, -one.class_prior)
                    )
                )
                for one in self.parts
            ]
        )

    def observed(self, value: float, low: float, high: float) -> PriorFilter:
        """With the class prior of the last window known from elsewhere.

        Its error must have nothing to do with what the filter has seen: an audit, another source,
        no estimate from the same scores.

        Parameters
        ----------
        value, low, high : float
            With its 95% interval, 0 < low <= value <= high < 1.

        Raises
        ------
        ValueError
            If they are not in this order.
        """
        return PriorFilter(
            [one.updated_by(log_density(one.class_prior, value, low, high)) for one in self.parts]
        )

    def reanchored(self, reference: WindowSummary) -> PriorFilter:
        """For another score from now on: a new version of the model, another index.

        The class prior and the label frequency go on as they are; where positives and negatives
        score is learned anew.

        Parameters
        ----------
        reference : WindowSummary
            Windows with the new score, the class prior being what it is in the last window. Their
            numbers of rows and of confirmed ones say nothing here: they are, or will be, those of
            windows that are followed.

        Raises
        ------
        ValueError
            Without confirmed rows, or without an index.
        """
        _check_reference(reference)
        return PriorFilter([one.reanchored(reference) for one in self.parts])

    def to_bytes(self) -> bytes:
        """All of it, to go on with later to the very same numbers."""
        return parts_to_bytes(self.parts)

    @classmethod
    def from_bytes(cls, stored: bytes) -> PriorFilter:
        """What `to_bytes` stored.

        Raises
        ------
        ValueError
            If it stored nothing of the kind.
        """
        return cls(parts_from_bytes(stored))

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
        ends = np.concatenate([cells(one.level).reshape(2, -1) for one in self.parts], axis=1)
        wanted = np.asarray(levels, dtype=float)
        return np.asarray(special.expit(quantiles_of_cells(ends, self._weights(), wanted)))

    def moved(self, beyond: float = A_QUARTER) -> float:
        """Chance that the class prior differs from the reference's by more than a factor.

        Parameters
        ----------
        beyond : float
            Logarithm of the factor, 1.25 by default.
        """
        far = np.concatenate(
            [
                np.abs(np.log(one.class_prior / one.level[:, np.newaxis])).ravel() > beyond
                for one in self.parts
            ]
        )
        return float(self._weights()[far].sum())

    def since_reference(self) -> dict[str, Movement]:
        """How far class prior, label frequency, ranking and negatives have moved.

        See `pumonitor.prior.over_time.since_reference.movements` for what counts as moved.
        """
        return movements(self.parts, self.shares())

    def explanations(self) -> list[Explanation]:
        """Combinations of what has moved since the reference, likeliest first.

        Examples
        --------
        >>> followed = PriorFilter.begun(
        ...     WindowSummary(rows=20_000, confirmed=300, all_mean=1.0, all_variance=2e-4,
        ...         confirmed_mean=8.0, confirmed_variance=0.15),
        ...     Level.given(0.05, 0.04, 0.06),
        ... )
        >>> for _ in range(6):  # half as many are confirmed, and the scores are as they were
        ...     followed = followed.after(WindowSummary(rows=4000, confirmed=30, all_mean=1.0,
        ...         all_variance=1e-3, confirmed_mean=8.0, confirmed_variance=1.6))
        >>> likeliest = followed.explanations()[0]
        >>> likeliest.changed, likeliest.chance > 0.5
        (('label frequency',), True)
        """
        return explanations(self.parts, self.shares())

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
                share * one.weights().sum(axis=0).ravel()
                for share, one in zip(self.shares(), self.parts, strict=True)
            ]
        )


def _check_reference(reference: WindowSummary) -> None:
    if not reference.confirmed > 0:
        msg = "a class prior cannot be followed from a reference without confirmed rows"
        raise ValueError(msg)
    if not reference.has_index or math.isnan(reference.confirmed_mean):
        msg = (
            "a class prior cannot be followed from a reference of counts alone: give the mean "
            "index of all rows and of confirmed ones"
        )
        raise ValueError(msg)
