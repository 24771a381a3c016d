"""The class prior of a series of windows, followed through changes of all else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.over_time.changes import CHANGES, PACES
from pumonitor.prior.over_time.explanation import Explanation, Movement
from pumonitor.prior.over_time.grid import cells, quantiles_of_cells
from pumonitor.prior.over_time.level import MOST, Level, log_density
from pumonitor.prior.over_time.paced_filter import PacedFilter, parts_of_mean
from pumonitor.prior.over_time.since_reference import (
    explanations,
    least_move,
    movements,
    own_factor,
    own_quantiles,
)
from pumonitor.prior.over_time.stored_filter import parts_from_bytes, parts_to_bytes
from pumonitor.prior.over_time.variation import Residual, Variation
from pumonitor.prior.over_time.window_summary import WindowSummary
from pumonitor.prior.over_time.window_update import Scales

_LEAST_OF_PACE: Final = math.log(1 / 200)
_LEAST_POWER: Final = 0.25
_LEAST_DISTANCE: Final = 1e-6


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
    variation : Variation
        How much windows differ by themselves.

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
    variation: Variation

    @classmethod
    def begun(
        cls, reference: WindowSummary, level: Level, *, windows: Sequence[WindowSummary] = ()
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
        windows : sequence of WindowSummary
            Each of its windows, from which it is learned how much windows differ by themselves.
            Without any they do not, for certain.

        Raises
        ------
        ValueError
            Without confirmed rows, or without an index.
        """
        _check_reference(reference)
        parts = parts_of_mean(reference, float(level.class_prior @ level.weight))
        variation = _variation(reference, windows, parts["distance"])
        of_prior, of_frequency, of_negatives = variation.of_mean(max(len(windows), 1))
        reference = replace(
            reference,
            all_variance=reference.all_variance + of_negatives * parts["distance"] ** 2,
        )
        confirmed = reference.confirmed + 0.5
        relative = 1 / confirmed + of_frequency + reference.arrived_variance
        scales = Scales(
            positives=reference.confirmed_mean,
            positives_error=math.sqrt(reference.confirmed_variance),
            all_rows=reference.all_mean,
            all_rows_error=math.sqrt(reference.all_variance),
            **parts,
            confirmed_share=confirmed / (reference.rows * reference.arrived),
            frequency_error=math.sqrt(relative),
            windows=max(len(windows), 1),
        )
        return cls(
            [
                PacedFilter.begun(pace, reference, level, scales, prior_error=math.sqrt(of_prior))
                for pace in range(len(PACES))
            ],
            variation,
        )

    def after(self, window: WindowSummary) -> PriorFilter:
        """With another window."""
        residual, number = self._residual(window)
        expected = self.variation.next_window(expected=number)
        parts = [part.after(window, expected) for part in self.parts]
        # A series that never drifted may begin to: no pace is ever ruled out.
        least = max(part.log_evidence for part in parts) + _LEAST_OF_PACE
        followed = PriorFilter(
            [replace(part, log_evidence=max(part.log_evidence, least)) for part in parts],
            self.variation,
        )
        ordinary = followed.changes()["nothing"]
        return replace(
            followed,
            variation=self.variation.after(residual, power=max(ordinary, _LEAST_POWER)),
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
        return self._with(
            [
                part.updated_by(
                    np.asarray(
                        special.xlogy(positives, part.class_prior)
                        + special.xlog1py(cases - positives, -part.class_prior)
                    )
                )
                for part in self.parts
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
        return self._with(
            [
                part.updated_by(log_density(part.class_prior, value, low, high))
                for part in self.parts
            ]
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
        return self._with([part.reanchored(reference) for part in self.parts])

    def to_bytes(self) -> bytes:
        """All of it, to go on with later to the very same numbers."""
        return parts_to_bytes(self.parts, self.variation)

    @classmethod
    def from_bytes(cls, stored: bytes) -> PriorFilter:
        """What `to_bytes` stored.

        Raises
        ------
        ValueError
            If it stored nothing of the kind.
        """
        return cls(*parts_from_bytes(stored))

    def shares(self) -> FloatArray:
        """Of the paces, by how well each has foretold the windows."""
        return np.asarray(special.softmax([part.log_evidence for part in self.parts]))

    def quantiles(self, levels: ArrayLike) -> FloatArray:
        """Of the level of the class prior now, which windows differ from by themselves.

        Parameters
        ----------
        levels : array_like
            Between 0 and 1.
        """
        ends = np.concatenate([cells(part.level).reshape(2, -1) for part in self.parts], axis=1)
        wanted = np.asarray(levels, dtype=float)
        return np.asarray(special.expit(quantiles_of_cells(ends, self._weights(), wanted)))

    def window_quantiles(self, levels: ArrayLike) -> FloatArray:
        """Of the last window's own class prior.

        Parameters
        ----------
        levels : array_like
            Between 0 and 1.
        """
        return np.minimum(np.exp(own_quantiles(self.parts, self.shares(), levels)), MOST)

    def moved(self) -> float:
        """Chance that the level of the class prior has moved since the reference.

        See `pumonitor.prior.over_time.since_reference.movements` for what counts as moved.
        """
        far = least_move(self._prior_error())
        moved = [
            np.abs(np.log(part.class_prior / part.level[:, np.newaxis])).ravel() > far
            for part in self.parts
        ]
        return float(self._weights()[np.concatenate(moved)].sum())

    def window_factor(self) -> tuple[float, float, float]:
        """Low, value and high of the last window's own class prior over the reference's."""
        return own_factor(self.parts, self.shares())

    def since_reference(self) -> dict[str, Movement]:
        """How far class prior, label frequency, ranking and negatives have moved.

        See `pumonitor.prior.over_time.since_reference.movements` for what counts as moved.
        """
        return movements(self.parts, self.shares(), prior_error=self._prior_error())

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
        return explanations(self.parts, self.shares(), prior_error=self._prior_error())

    def changes(self) -> dict[str, float]:
        """Chances of what happened in the last window, by name; they add up to 1."""
        chances = self.shares() @ np.stack([part.changes for part in self.parts])
        chance_by_name: dict[str, float] = {}
        for change, chance in zip(CHANGES, chances.tolist(), strict=True):
            chance_by_name[change.name] = chance_by_name.get(change.name, 0.0) + chance
        return chance_by_name

    def _prior_error(self) -> float:
        """Of the logarithm of the reference's class prior over the level that lasts."""
        return math.sqrt(self.variation.of_mean(self.parts[0].scales.windows)[0])

    def _with(self, parts: Sequence[PacedFilter]) -> PriorFilter:
        return PriorFilter(parts, self.variation)

    def _residual(self, window: WindowSummary) -> tuple[Residual, float]:
        """How far a window is from what the level predicts, and how many confirmed it predicts."""
        weight = np.concatenate(
            [
                share * part.weights().ravel()
                for share, part in zip(self.shares(), self.parts, strict=True)
            ]
        )
        shares, squares, means, mean_squares, distances = (
            np.concatenate(parts)
            for parts in zip(*(_predicted(part) for part in self.parts), strict=True)
        )
        share, mean = float(weight @ shares), float(weight @ means)
        expected = window.rows * window.arrived * share
        distance = max(float(weight @ distances), _LEAST_DISTANCE * abs(mean))
        off = float(weight @ squares) / share**2 - 1
        of_index = float(weight @ mean_squares) - mean**2 + window.all_variance
        return Residual(
            confirmed=math.log((window.confirmed + 0.5) / (expected + 0.5)),
            confirmed_variance=1 / (expected + 0.5) + off + window.arrived_variance,
            index=(window.all_mean - mean) / distance,
            index_variance=of_index / distance**2,
        ), expected

    def _weights(self) -> FloatArray:
        return np.concatenate(
            [
                share * part.weights().sum(axis=0).ravel()
                for share, part in zip(self.shares(), self.parts, strict=True)
            ]
        )


def _predicted(part: PacedFilter) -> tuple[FloatArray, ...]:
    """Share confirmed, mean index, and the distance of `Scales`, in each point; with squares."""
    pi, places = part.class_prior, part.places
    share = pi * part.frequency.mean
    mean = places.zero + pi * (places.one - places.zero)
    variance = (
        pi**2 * places.one_one
        + 2 * pi * (1 - pi) * places.one_zero
        + (1 - pi) ** 2 * places.zero_zero
    )
    predicted = (
        share,
        share**2 * (1 + part.frequency.relative),
        mean,
        mean**2 + variance,
        np.broadcast_to(pi * (places.one - places.zero), share.shape),
    )
    return tuple(moments.ravel() for moments in predicted)


def _variation(
    reference: WindowSummary, windows: Sequence[WindowSummary], distance: float
) -> Variation:
    """From the windows of the reference, each compared with their mean."""
    if not windows:
        return Variation.none()
    variation = Variation.unknown()
    share = reference.confirmed / reference.rows
    for window in windows:
        expected = window.rows * share
        residual = Residual(
            confirmed=math.log((window.confirmed + 0.5) / (expected + 0.5)),
            confirmed_variance=1 / (expected + 0.5),
            index=(window.all_mean - reference.all_mean) / distance if distance > 0 else math.nan,
            index_variance=window.all_variance / distance**2 if distance > 0 else math.nan,
        )
        # A mean of theirs is no other's: they tell as much as one less.
        variation = variation.after(residual, power=1 - 1 / len(windows))
    return variation


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
