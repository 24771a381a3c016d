"""The filter at one pace of drift: a density on a grid, and moments of all else in each point."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.over_time.changes import CHANGES, PACES
from pumonitor.prior.over_time.conditionals import Frequency, Places
from pumonitor.prior.over_time.grid import (
    MOVES,
    UNMOVED,
    class_priors,
    drifts,
    from_reference,
    jumps,
)
from pumonitor.prior.over_time.level import Level
from pumonitor.prior.over_time.stored import rounded
from pumonitor.prior.over_time.variation import OwnPrior
from pumonitor.prior.over_time.window_summary import WindowSummary
from pumonitor.prior.over_time.window_update import KINDS, Own, Scales, updated

# What a point, and a level with all its points, must hold to be kept. A jump of the class prior
# brings a point back with more than that; nothing brings back a level.
_LEAST: Final = 1e-7
_LEAST_OF_LEVEL: Final = 1e-7
_LEAST_POSSIBLE: Final = 1e-3
KEPT: Final[Mapping[str, int]] = {
    "log_weight": 10,
    "frequency": 13,
    "relative": 11,
    "one": 14,
    "zero": 15,
    "variance": 11,
    "slope": 14,
    "left": 11,
    "own": 11,
    "own_variance": 8,
}
"""Binary digits after the first of what is followed: far within what windows can tell."""
_DIGITS: Final = 9
_FLOOR: Final = float(rounded(math.log(_LEAST), KEPT["log_weight"]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PacedFilter:
    """Density of (logit pi in the reference, how far it has moved), c and (mu1, mu0) given both.

    Attributes
    ----------
    pace : int
        Of `PACES`.
    level : ndarray of shape (levels,)
        Class priors of the reference that are still possible.
    class_prior : ndarray of shape (levels, moves)
        In each point.
    log_weight : ndarray of shape (KINDS, levels, moves)
        Of each kind of past.
    frequency : Frequency
        Of the same shape.
    places : Places
        Of the same shape.
    own : Own
        Of the last window: how far its own class prior is from the level.
    scales : Scales
    negatives_then : ndarray of shape (levels,)
        Where negatives scored in the reference, if its class prior was that level.
    log_evidence : float
        Log density of all windows so far.
    changes : ndarray of shape (hypotheses,)
        Chances of `CHANGES` about the last window.
    """

    pace: int
    level: FloatArray
    class_prior: FloatArray
    log_weight: FloatArray
    frequency: Frequency
    places: Places
    own: Own
    scales: Scales
    negatives_then: FloatArray
    log_evidence: float
    changes: FloatArray

    @classmethod
    def begun(
        cls,
        pace: int,
        reference: WindowSummary,
        level: Level,
        scales: Scales,
        *,
        prior_error: float,
    ) -> PacedFilter:
        """From the reference, taken as one window.

        Notes
        -----
        Given pi: c is gamma with K + 1/2 confirmed, mu1 = H with its error, and mu0 solves
        M = mu0 + pi (mu1 - mu0). The level that lasts differs from the reference's class prior by
        what the mean of so few windows is off.
        """
        pi = np.stack([class_priors(level.class_prior)] * KINDS)
        frequency = Frequency(
            mean=scales.confirmed_share / np.stack([pi[:, :, UNMOVED]] * len(MOVES), axis=-1),
            relative=np.full_like(pi, scales.frequency_error**2),
        )
        places = _anchored(reference, np.broadcast_to(pi[:, :, UNMOVED, np.newaxis], pi.shape))
        # Levels with fewer positives than were confirmed stay impossible, whatever the label
        # frequency becomes; those that may have had as many are weighed in `weights`.
        possible = level.weight * (frequency.at_most_one()[0, :, UNMOVED] > _LEAST_POSSIBLE)
        possible = possible / possible.sum() if possible.any() else level.weight
        weight = np.zeros(pi.shape)
        weight[0] = possible[:, np.newaxis] * from_reference(prior_error)
        return cls(
            pace=pace,
            level=level.class_prior,
            class_prior=pi[0],
            log_weight=np.log(np.maximum(weight, _LEAST)),
            frequency=frequency,
            places=places,
            own=Own(mean=np.zeros_like(pi), variance=np.zeros_like(pi)),
            scales=scales,
            negatives_then=places.zero[0, :, UNMOVED],
            log_evidence=0.0,
            changes=np.eye(len(CHANGES))[0],
        )._kept()

    def reanchored(self, reference: WindowSummary) -> PacedFilter:
        """With places, and what they are measured by, from windows of another score."""
        pi = np.stack([self.class_prior] * KINDS)
        places = _anchored(reference, pi)
        weight = np.exp(self.log_weight)
        parts = parts_of_mean(reference, float((weight * pi).sum() / weight.sum()))
        return replace(
            self,
            places=places,
            scales=replace(
                self.scales,
                positives=reference.confirmed_mean,
                positives_error=math.sqrt(reference.confirmed_variance),
                all_rows=reference.all_mean,
                all_rows_error=math.sqrt(reference.all_variance),
                negatives=parts["negatives"],
                distance=parts["distance"],
            ),
            negatives_then=(weight * places.zero).sum(axis=(0, 2)) / weight.sum(axis=(0, 2)),
        )._kept()

    def after(self, window: WindowSummary, expected: OwnPrior) -> PacedFilter:
        """With another window, and how much it may differ by itself."""
        weight = np.exp(self.log_weight)
        moments = weight * np.concatenate([self.frequency.moments(), self.places.moments()])
        stacked = np.concatenate([weight[np.newaxis], moments])
        # A point is reached from several: what is known there of c, mu1 and mu0 is the mixture of
        # what was known in those, by its moments.
        mixed = np.stack([stacked @ one for one in (drifts(self.pace), jumps())], axis=1)
        total = np.maximum(mixed[0], np.finfo(float).tiny)
        mixed = mixed[1:] / total
        pace = PACES[self.pace]
        frequency = Frequency.of_moments(mixed[:2])
        found = updated(
            np.log(total),
            replace(frequency, relative=frequency.relative + pace.frequency**2),
            Places.of_moments(mixed[2:]).wider(
                (pace.positives * self.scales.positives) ** 2,
                (pace.negatives * self.scales.negatives) ** 2,
            ),
            window,
            expected=expected,
            class_prior=self.class_prior,
            scales=self.scales,
        )
        return replace(
            self,
            log_weight=found.log_weight,
            frequency=found.frequency,
            places=found.places,
            own=found.own,
            log_evidence=self.log_evidence + found.log_evidence,
            changes=found.changes,
        )._kept()

    def updated_by(self, log_chance: FloatArray) -> PacedFilter:
        """Weigh each point by the log likelihood of other evidence on the last window's prior."""
        log_weight = self.log_weight + log_chance
        evidence = float(special.logsumexp(log_weight))
        return replace(
            self,
            log_weight=log_weight - evidence,
            log_evidence=self.log_evidence + evidence,
        )._kept()

    def _kept(self) -> PacedFilter:
        """Rounded as it is stored, without what holds next to nothing.

        What comes after a window is then the same whether the state was stored in between or not.
        """
        weight = np.exp(self.log_weight)
        levels = np.flatnonzero(weight.sum(axis=(0, 2)) > _LEAST_OF_LEVEL * weight.sum())
        weight = weight[:, levels]
        held = weight > _LEAST
        nearest = _nearest(weight, held, levels, len(self.level))

        def of(values: FloatArray, name: str) -> FloatArray:
            return rounded(values.ravel()[nearest], KEPT[name])

        variance, slope, left = self.places.regression()
        return replace(
            self,
            level=self.level[levels],
            class_prior=self.class_prior[levels],
            log_weight=np.where(
                held, rounded(self.log_weight[:, levels], KEPT["log_weight"]), _FLOOR
            ),
            frequency=Frequency(
                mean=of(self.frequency.mean, "frequency"),
                relative=of(self.frequency.relative, "relative"),
            ),
            places=Places.of_regression(
                of(self.places.one, "one"),
                of(self.places.zero, "zero"),
                variance=of(variance, "variance"),
                slope=of(slope, "slope"),
                left=of(left, "left"),
            ),
            own=Own(mean=of(self.own.mean, "own"), variance=of(self.own.variance, "own_variance")),
            negatives_then=self.negatives_then[levels],
            # Last digits of sums may depend on where numbers lie in memory.
            log_evidence=round(self.log_evidence, _DIGITS),
            changes=np.round(self.changes, _DIGITS),
        )

    def weights(self) -> FloatArray:
        """As `log_weight`, label frequencies above 1 ruled out; adding up to 1."""
        return _weights(self)


@lru_cache(maxsize=4)
def _weights(part: PacedFilter) -> FloatArray:
    """Of a state, of which all that is told is read off its weights."""
    weight = np.exp(part.log_weight)
    held = np.nonzero(weight > _LEAST)
    weight[held] *= part.frequency.at_most_one(held)
    weight = np.asarray(weight / weight.sum())
    weight.flags.writeable = False
    return weight


def _nearest(
    weight: FloatArray, held: NDArray[np.bool_], levels: NDArray[np.intp], all_levels: int
) -> NDArray[np.intp]:
    """For each point the one before it that holds weight, or the first: the moments it takes.

    Of a past that holds nothing at a level, the level's heaviest point. What holds none then costs
    nothing to store. Places are those in an array of all levels.
    """
    kinds, _, moves = held.shape
    last = np.maximum.accumulate(np.where(held, np.arange(moves), -1), axis=-1)
    move = np.where(last < 0, held.argmax(axis=-1)[..., np.newaxis], last)
    row = all_levels * np.arange(kinds)[:, np.newaxis] + levels
    nearest = moves * row[..., np.newaxis] + move
    past, heaviest = np.divmod(weight.swapaxes(0, 1).reshape(len(levels), -1).argmax(axis=1), moves)
    instead = moves * (all_levels * past + levels) + heaviest
    any_held = np.asarray(held.any(axis=-1))[..., np.newaxis]
    return np.asarray(np.where(any_held, nearest, instead[:, np.newaxis]))


def parts_of_mean(reference: WindowSummary, class_prior: float) -> dict[str, float]:
    """`Scales.negatives` and `Scales.distance` at a class prior of the reference."""
    rest = reference.confirmed_mean - reference.all_mean
    return {
        "negatives": class_prior * reference.confirmed_mean,
        "distance": class_prior * max(rest, 0.0) / (1 - class_prior),
    }


def _anchored(reference: WindowSummary, pi: FloatArray) -> Places:
    """Where positives and negatives score in windows of this class prior."""
    high, error = reference.confirmed_mean, reference.confirmed_variance
    return Places(
        one=np.full_like(pi, high),
        zero=(reference.all_mean - pi * high) / (1 - pi),
        one_one=np.full_like(pi, error),
        one_zero=-pi / (1 - pi) * error,
        zero_zero=(reference.all_variance + pi**2 * error) / (1 - pi) ** 2,
    )
