"""The filter at one pace of drift: a density on a grid, and moments of all else in each point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.prior.over_time.changes import CHANGES, PACES, drift, jump
from pumonitor.prior.over_time.conditionals import Frequency, Places
from pumonitor.prior.over_time.level import Level
from pumonitor.prior.over_time.stored import rounded
from pumonitor.prior.over_time.window_summary import WindowSummary

__all__ = ["MOVES", "PacedFilter"]

FloatArray = NDArray[np.float64]
Key = TypeVar("Key")

_STEP: Final = 0.085
_STEPS: Final = 28
MOVES: Final = _STEP * np.arange(-_STEPS, _STEPS + 1)
"""How far logit pi may be from the reference's."""

_PRIOR_JUMP: Final = 0.7
_FREQUENCY_JUMP: Final = 0.7
_POSITIVES_JUMP: Final = 0.6
_NEGATIVES_JUMP: Final = 1.2
# What a point, and a level with all its points, must hold to be kept. A jump of the class prior
# brings a point back with more than that; nothing brings back a level.
_LEAST: Final = 1e-9
_LEAST_OF_LEVEL: Final = 1e-7
KEPT: Final[Mapping[str, int]] = {
    "log_weight": 12,
    "frequency": 14,
    "relative": 9,
    "places": 16,
    "one": 11,
    "slope": 14,
    "zero": 11,
}
"""Binary digits after the first of what is followed: far within what windows can tell."""
_FLOOR: Final = float(rounded(math.log(_LEAST), KEPT["log_weight"]))


@lru_cache(maxsize=len(PACES))
def _drifts(pace: int) -> FloatArray:
    return drift(len(MOVES), _STEP, PACES[pace].prior)


@lru_cache(maxsize=1)
def _jumps() -> FloatArray:
    return jump(len(MOVES), _STEP, deviation=_PRIOR_JUMP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """What the reference shows, whatever its class prior: how far things may move, and from where.

    Attributes
    ----------
    positives, positives_error : float
        Mean index of confirmed rows, and its standard error.
    all_rows, all_rows_error : float
        The same of all rows.
    negatives : float
        A typical positive's part in the mean of all rows.
    confirmed_share : float
        Confirmed of all rows, once all labels have arrived.
    frequency_error : float
        Standard error of its logarithm.
    spread : float
        Squared coefficient of variation of the label frequency between windows.
    """

    positives: float
    positives_error: float
    all_rows: float
    all_rows_error: float
    negatives: float
    confirmed_share: float
    frequency_error: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PacedFilter:
    """Density of (logit pi in the reference, how far it has moved), c and (mu1, mu0) given both.

    Attributes
    ----------
    pace : int
        Of `PACES`.
    level : ndarray of shape (levels,)
        Class priors of the reference that are still possible.
    log_weight : ndarray of shape (levels, moves)
    frequency : Frequency
    places : Places
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
    log_weight: FloatArray
    frequency: Frequency
    places: Places
    scales: Scales
    negatives_then: FloatArray
    log_evidence: float
    changes: FloatArray

    @classmethod
    def begun(
        cls, pace: int, reference: WindowSummary, level: Level, *, spread: float, windows: int
    ) -> PacedFilter:
        """From the reference, taken as one window.

        Notes
        -----
        Given pi: c is gamma with K + 1/2 confirmed, mu1 = H with its error, and mu0 solves
        M = mu0 + pi (mu1 - mu0).
        """
        pi = _grid(level.class_prior)
        weight = np.zeros(pi.shape)
        weight[:, _STEPS] = level.weight
        confirmed = reference.confirmed + 0.5
        share = confirmed / (reference.rows * reference.arrived)
        relative = 1 / confirmed + spread / windows + reference.arrived_variance
        places = _anchored(reference, pi)
        return cls(
            pace=pace,
            level=level.class_prior,
            log_weight=np.log(np.maximum(weight, _LEAST)),
            frequency=Frequency(mean=share / pi, relative=relative * np.ones_like(pi)),
            places=places,
            scales=Scales(
                positives=reference.confirmed_mean,
                positives_error=math.sqrt(reference.confirmed_variance),
                all_rows=reference.all_mean,
                all_rows_error=math.sqrt(reference.all_variance),
                negatives=float(level.class_prior @ level.weight) * reference.confirmed_mean,
                confirmed_share=share,
                frequency_error=math.sqrt(relative),
                spread=spread,
            ),
            negatives_then=places.mean[1][:, _STEPS],
            log_evidence=0.0,
            changes=np.eye(len(CHANGES))[0],
        )._kept()

    @property
    def class_prior(self) -> FloatArray:
        """In each point, of shape (levels, moves)."""
        return _grid(self.level)

    def reanchored(self, reference: WindowSummary) -> PacedFilter:
        """With places, and what they are measured by, from windows of another score."""
        pi = self.class_prior
        places = _anchored(reference, pi)
        weight = np.exp(self.log_weight)
        return replace(
            self,
            places=places,
            scales=replace(
                self.scales,
                positives=reference.confirmed_mean,
                positives_error=math.sqrt(reference.confirmed_variance),
                all_rows=reference.all_mean,
                all_rows_error=math.sqrt(reference.all_variance),
                negatives=float((weight * pi).sum() / weight.sum()) * reference.confirmed_mean,
            ),
            negatives_then=(weight * places.mean[1]).sum(axis=1) / weight.sum(axis=1),
        )._kept()

    def after(self, window: WindowSummary) -> PacedFilter:
        """With another window."""
        moved = {prior: self._moved(_jumps() if prior else self._drifts) for prior in (False, True)}
        counted = {
            key: moved[key[0]]._counted(window, jumped=key[1])
            for key in {(one.prior, one.frequency) for one in CHANGES}
        }
        placed = {
            key: moved[key[0]]._placed(window, key[1])
            for key in sorted({(one.prior, one.scores) for one in CHANGES})
        }
        logs = np.stack(
            [
                math.log(one.probability)
                + moved[one.prior].log_weight
                + counted[one.prior, one.frequency][0]
                + placed[one.prior, one.scores][0]
                for one in CHANGES
            ]
        )
        return self._collapsed(
            logs,
            {key: frequency for key, (_, frequency) in counted.items()},
            {key: places for key, (_, places) in placed.items()},
        )

    def told(self, log_chance: FloatArray) -> PacedFilter:
        """With something else that tells of the class prior of the last window, in each point."""
        log_weight = self.log_weight + log_chance
        evidence = float(special.logsumexp(log_weight))
        return replace(
            self,
            log_weight=log_weight - evidence,
            log_evidence=self.log_evidence + evidence,
        )._kept()

    @property
    def _drifts(self) -> FloatArray:
        return _drifts(self.pace)

    def _moved(self, chances: FloatArray) -> PacedFilter:
        """After the class prior has moved, and everything has drifted.

        A point is reached from several: what is known there of c, mu1 and mu0 is the mixture of
        what was known in those, by its moments.
        """
        top = self.log_weight.max()
        weight = np.exp(self.log_weight - top)
        total = np.maximum(weight @ chances, np.finfo(float).tiny)

        def mixed(values: FloatArray) -> FloatArray:
            return np.asarray((weight * values) @ chances / total)

        pace = PACES[self.pace]
        frequency = Frequency.of_moments(
            mixed(self.frequency.mean),
            mixed(self.frequency.second_moment()),
        )
        places = Places.of_moments(mixed(self.places.mean), mixed(self.places.second_moments()))
        return replace(
            self,
            log_weight=np.log(total) + top,
            frequency=replace(frequency, relative=frequency.relative + pace.frequency**2),
            places=places.wider(
                pace.scores * self.scales.positives, pace.scores * self.scales.negatives
            ),
        )

    def _counted(self, window: WindowSummary, *, jumped: bool) -> tuple[FloatArray, Frequency]:
        frequency = self.frequency.jumped(_FREQUENCY_JUMP) if jumped else self.frequency
        return frequency.after(
            window.confirmed,
            window.rows * window.arrived * self.class_prior,
            spread=self.scales.spread + window.arrived_variance,
        )

    def _placed(self, window: WindowSummary, scores: str) -> tuple[FloatArray, Places]:
        if not window.has_index:
            # A change of where rows score is looked for in the first window that shows it.
            return np.zeros_like(self.log_weight), self.places
        places = self._jumped(scores)
        log_density: FloatArray | float = 0.0
        if not math.isnan(window.confirmed_mean):
            log_density, places = places.after(
                window.confirmed_mean, window.confirmed_variance, share=1.0
            )
        of_all, places = places.after(window.all_mean, window.all_variance, share=self.class_prior)
        return log_density + of_all, places

    def _jumped(self, scores: str) -> Places:
        if scores == "as before":
            return self.places
        what, _, far = scores.partition(", ")
        one = _POSITIVES_JUMP * self.scales.positives if what == "ranking" else 0.0
        zero = self.scales.all_rows if far else _NEGATIVES_JUMP * self.scales.negatives
        return self.places.wider(one, zero)

    def _collapsed(
        self,
        logs: FloatArray,
        frequencies: Mapping[tuple[bool, bool], Frequency],
        places: Mapping[tuple[bool, str], Places],
    ) -> PacedFilter:
        """One gamma and one normal in each point again, by the moments of all hypotheses."""
        top = logs.max(axis=0)
        shares = np.exp(logs - top)
        in_point = shares.sum(axis=0)
        log_weight = np.log(in_point) + top
        evidence = float(special.logsumexp(log_weight))
        changes = (shares * np.exp(top - evidence)).sum(axis=(1, 2))
        shares /= in_point
        of_frequency = _summed(shares, [(one.prior, one.frequency) for one in CHANGES])
        of_places = _summed(shares, [(one.prior, one.scores) for one in CHANGES])
        first, second = _moments(
            (weight, frequencies[key].mean, frequencies[key].second_moment())
            for key, weight in of_frequency.items()
        )
        mean, squares = _moments(
            (weight, places[key].mean, places[key].second_moments())
            for key, weight in of_places.items()
        )
        return replace(
            self,
            log_weight=log_weight - evidence,
            frequency=Frequency.of_moments(first, second),
            places=Places.of_moments(mean, squares),
            log_evidence=self.log_evidence + evidence,
            changes=changes / changes.sum(),
        )._kept()

    def _kept(self) -> PacedFilter:
        """Rounded as it is stored, without what holds next to nothing.

        What comes after a window is then the same whether the state was stored in between or not.
        """
        weight = np.exp(self.log_weight)
        levels = np.flatnonzero(weight.sum(axis=1) > _LEAST_OF_LEVEL * weight.sum())
        # A point without weight has the moments of the one before it: they cost nothing.
        held = weight[levels] > _LEAST
        nearest = np.maximum.accumulate(np.where(held, np.arange(len(MOVES)), -1), axis=1)
        nearest = np.where(nearest < 0, held.argmax(axis=1)[:, np.newaxis], nearest)

        def of(values: FloatArray, name: str) -> FloatArray:
            at = np.broadcast_to(nearest, (*values.shape[:-2], *nearest.shape))
            return rounded(np.take_along_axis(values[..., levels, :], at, axis=-1), KEPT[name])

        one, slope, zero = self.places.regression()
        return replace(
            self,
            level=self.level[levels],
            log_weight=np.where(held, rounded(self.log_weight[levels], KEPT["log_weight"]), _FLOOR),
            frequency=Frequency(
                mean=of(self.frequency.mean, "frequency"),
                relative=of(self.frequency.relative, "relative"),
            ),
            places=Places.of_regression(
                of(self.places.mean, "places"), of(one, "one"), of(slope, "slope"), of(zero, "zero")
            ),
            negatives_then=self.negatives_then[levels],
        )

    def weight(self) -> FloatArray:
        """Of each point, label frequencies above 1 ruled out; adding up to 1."""
        weight = np.exp(self.log_weight) * self.frequency.at_most_one()
        return np.asarray(weight / weight.sum())


def _grid(level: FloatArray) -> FloatArray:
    return np.asarray(special.expit(special.logit(level)[:, np.newaxis] + MOVES))


def _anchored(reference: WindowSummary, pi: FloatArray) -> Places:
    """Where positives and negatives score in windows of this class prior."""
    high, mean = reference.confirmed_mean, reference.all_mean
    error, error_of_all = reference.confirmed_variance, reference.all_variance
    flat = np.ones_like(pi)
    return Places(
        mean=np.stack([high * flat, (mean - pi * high) / (1 - pi)]),
        covariance=np.stack(
            [
                error * flat,
                -pi / (1 - pi) * error,
                (error_of_all + pi**2 * error) / (1 - pi) ** 2,
            ]
        ),
    )


def _summed(shares: FloatArray, keys: Sequence[Key]) -> dict[Key, FloatArray]:
    """Shares of the hypotheses that have a key in common."""
    found: dict[Key, FloatArray] = {}
    for key, share in zip(keys, shares, strict=True):
        found[key] = found[key] + share if key in found else share
    return found


def _moments(
    parts: Iterable[tuple[FloatArray, FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray]:
    """First and second moments of a mixture of weight, first and second moments."""
    first: FloatArray | float = 0.0
    second: FloatArray | float = 0.0
    for weight, mean, square in parts:
        first = first + weight * mean
        second = second + weight * square
    return np.asarray(first), np.asarray(second)
