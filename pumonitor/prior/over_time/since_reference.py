"""What has moved since the reference, how far, and which explanations the windows leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.over_time.explanation import Explanation, Movement
from pumonitor.prior.over_time.grid import cells, cells_of_moves, quantiles_of_cells
from pumonitor.prior.over_time.paced_filter import PacedFilter

_A_QUARTER: Final = math.log(1.25)
_PART: Final = 0.25
_BEYOND_ERROR: Final = 2.0
_COUNTED: Final = 1e-8
_EXACT: Final = 1e-7
_LEFT_OUT: Final = 1e-4
_LIGHT: Final = 0.03
_MOST_STEPS: Final = 100
_WITHIN: Final = (np.arange(9) + 0.5) / 9
_LEVELS: Final = np.array([0.025, 0.5, 0.975])


@dataclass(frozen=True, eq=False)
class _Normals:
    """What has been added since the reference, in each point, and how much of it is a move."""

    mean: FloatArray
    deviation: FloatArray
    far: FloatArray

    @cached_property
    def above(self) -> FloatArray:
        """Standard deviations from the mean up to where a rise is a move."""
        return np.asarray((self.far - self.mean) / self.deviation)

    @cached_property
    def below(self) -> FloatArray:
        """The same to where a fall is a move: negative where the mean lies above it."""
        return np.asarray((-self.far - self.mean) / self.deviation)

    @cached_property
    def fallen(self) -> FloatArray:
        """Chance of a fall that is a move, in each point."""
        return np.asarray(special.ndtr(self.below))

    @cached_property
    def moved(self) -> FloatArray:
        """Chance of a move in either direction, in each point."""
        return np.asarray(special.ndtr(-self.above) + self.fallen)

    def mean_if_moved(self) -> FloatArray:
        """What was added, in each point, on average of where it is a move."""
        density = np.exp(-0.5 * self.above**2) - np.exp(-0.5 * self.below**2)
        beyond = self.deviation * density / math.sqrt(2 * math.pi)
        return np.asarray(self.mean + beyond / np.maximum(self.moved, 1e-300))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Points:
    """All points that count of one pace, for every kind of past.

    Weights, and what was added since the reference in each.

    To log pi, which each point knows; to log c; to mu1 and mu0 (`slope` and `left` are the
    regression of mu0 on mu1).
    """

    weight: FloatArray
    prior: FloatArray
    prior_ends: FloatArray
    own: FloatArray
    own_variance: FloatArray
    level: FloatArray
    level_width: FloatArray
    frequency: _Normals
    positives: _Normals
    negatives: _Normals
    slope: FloatArray
    left: FloatArray

    @classmethod
    def of(cls, part: PacedFilter, share: float) -> _Points:
        weight = share * part.weights()
        held = weight > _COUNTED
        scales = part.scales

        def at(values: FloatArray) -> FloatArray:
            return np.asarray(np.broadcast_to(values, weight.shape)[held])

        level, then = part.level[:, np.newaxis], part.negatives_then[:, np.newaxis]
        spread = np.log1p(part.frequency.relative)
        frequency = np.log(part.frequency.mean * level / scales.confirmed_share) - 0.5 * spread
        distance = np.maximum(scales.positives - then, 0.0)
        error = np.hypot(scales.all_rows_error, level * scales.positives_error) / (1 - level)
        variance, slope, left = part.places.regression()
        return cls(
            weight=at(weight),
            prior=at(np.log(part.class_prior / level)),
            prior_ends=np.stack([at(one) for one in cells_of_moves(part.level)]),
            own=at(part.own.mean),
            own_variance=at(part.own.variance),
            level=at(np.log(level)),
            level_width=at(np.diff(special.log_expit(cells(part.level)), axis=0)[0]),
            frequency=_Normals(
                at(frequency),
                at(np.sqrt(spread)),
                at(np.array(max(_A_QUARTER, _BEYOND_ERROR * scales.frequency_error))),
            ),
            positives=_Normals(
                at(part.places.one - scales.positives),
                at(np.sqrt(variance)),
                at(np.maximum(_PART * distance, _BEYOND_ERROR * scales.positives_error)),
            ),
            negatives=_Normals(
                at(part.places.zero - then),
                at(np.sqrt(part.places.zero_zero)),
                at(np.maximum(_PART * level * distance, _BEYOND_ERROR * error)),
            ),
            slope=at(slope),
            left=at(np.sqrt(left)),
        )

    def negatives_alone(self) -> FloatArray:
        """Chance that negatives have moved while positives have not."""
        first, last = self.positives.fallen, special.ndtr(self.positives.above)
        # mu1 at middles of equal parts of its chance not to have moved; mu0 is normal given that.
        parts = first + (last - first) * _WITHIN[:, np.newaxis]
        off = self.positives.deviation * special.ndtri(np.clip(parts, 1e-12, 1 - 1e-12))
        alone = _beyond(self.negatives.mean + self.slope * off, self.left, self.negatives.far)
        return np.asarray((last - first) * alone.mean(axis=0))


def least_move(prior_error: float) -> float:
    """Of the logarithm of the class prior's level, from which on it has moved.

    Parameters
    ----------
    prior_error : float
        Standard deviation of the logarithm of the reference's class prior over the level of its
        time: its windows differ by themselves.
    """
    return max(_A_QUARTER, _BEYOND_ERROR * prior_error)


@lru_cache(maxsize=4)
def _points(part: PacedFilter, share: float) -> _Points:
    """Those of a state, of which movements and explanations are asked one after the other."""
    return _Points.of(part, share)


def movements(
    parts: Sequence[PacedFilter], shares: FloatArray, prior_error: float
) -> dict[str, Movement]:
    """How far each has moved, by name.

    Returns
    -------
    dict of str to Movement
        "class_prior" (its level), "label_frequency": over the reference's; moved is by more than a
        quarter.
        "ranking": mean index of positives over the reference's; moved is by more than a quarter of
        the reference's distance between positives and negatives.
        "negatives": mean index of all rows if negatives alone had moved, over the reference's;
        moved is by more than a quarter of what the positives add to that mean. All must
        have moved by twice the reference's own standard error as well.
    """
    points = [_points(part, share) for part, share in zip(parts, shares.tolist(), strict=True)]
    scales = parts[0].scales
    weight = np.concatenate([point.weight for point in points])
    weight = weight / weight.sum()
    ends = np.concatenate([point.prior_ends for point in points], axis=1)
    moved = np.abs(np.concatenate([point.prior for point in points])) > least_move(prior_error)
    movement_by_name = {"class_prior": _movement_of_prior(moved, ends, weight)}
    for name, of in {
        "label_frequency": [one.frequency for one in points],
        "ranking": [one.positives for one in points],
        "negatives": [one.negatives for one in points],
    }.items():
        mean = np.concatenate([one.mean for one in of])
        deviation = np.concatenate([one.deviation for one in of])
        low, value, high = _quantiles(mean, deviation, weight)
        if name == "label_frequency":
            low, value, high = (math.exp(one) for one in (low, value, high))
        else:
            then = scales.positives if name == "ranking" else scales.all_rows
            low, value, high = (1 + one / then for one in (low, value, high))
        chance = float(weight @ np.concatenate([one.moved for one in of]))
        movement_by_name[name] = Movement(value=value, low=low, high=high, chance=chance)
    return movement_by_name


def explanations(
    parts: Sequence[PacedFilter], shares: FloatArray, prior_error: float
) -> list[Explanation]:
    """Every combination of what has moved, likeliest first.

    Where ranking has moved negatives are not named: a model that ranks otherwise moves both.
    """
    total: dict[tuple[str, ...], float] = {}
    added: dict[tuple[str, ...], dict[str, float]] = {}
    for part, share in zip(parts, shares.tolist(), strict=True):
        points = _points(part, share)
        sizes = {
            "class prior": points.prior,
            "label frequency": points.frequency.mean_if_moved(),
            "ranking": points.positives.mean_if_moved(),
        }
        moved = np.abs(points.prior) > least_move(prior_error)
        frequency = points.frequency.moved
        ranking = points.positives.moved
        negatives = points.negatives_alone()
        scores = {"": 1 - ranking - negatives, "ranking": ranking, "negatives": negatives}
        for prior, counted, placed in product((False, True), (False, True), scores):
            chance = points.weight * (moved == prior) * np.maximum(scores[placed], 0.0)
            chance = chance * (frequency if counted else 1 - frequency)
            changed = tuple(
                name
                for name, is_so in (("class prior", prior), ("label frequency", counted))
                if is_so
            ) + ((placed,) if placed else ())
            total[changed] = total.get(changed, 0.0) + float(chance.sum())
            sums = added.setdefault(changed, dict.fromkeys(sizes.keys() & changed, 0.0))
            for name in sums:
                sums[name] += float(chance @ sizes[name])
    whole, positives = sum(total.values()), parts[0].scales.positives
    found = [
        Explanation(
            changed=changed,
            chance=chance / whole,
            factors={
                name: _factor(name, added[changed][name] / chance, positives)
                for name in changed
                if name in added[changed] and chance > 0
            },
        )
        for changed, chance in total.items()
    ]
    return sorted(found, key=lambda one: (-one.chance, one.changed))


def _factor(name: str, added: float, positives: float) -> float:
    """Of what was added to a logarithm, or to the mean index of positives."""
    return 1 + added / positives if name == "ranking" else math.exp(added)


def own_quantiles(
    parts: Sequence[PacedFilter], shares: FloatArray, levels: ArrayLike
) -> FloatArray:
    """Of the logarithm of the last window's own class prior."""
    points = [_points(part, share) for part, share in zip(parts, shares.tolist(), strict=True)]
    return _own(
        points, [point.level for point in points], [point.level_width for point in points], levels
    )


def own_factor(parts: Sequence[PacedFilter], shares: FloatArray) -> tuple[float, float, float]:
    """Low, value and high of the last window's own class prior over the reference's."""
    points = [_points(part, share) for part, share in zip(parts, shares.tolist(), strict=True)]
    none = [np.zeros_like(point.level) for point in points]
    widths = [point.prior_ends[1] - point.prior_ends[0] for point in points]
    low, value, high = np.exp(_own(points, none, widths, _LEVELS)).tolist()
    return low, value, high


def _own(
    points: Sequence[_Points],
    origins: Sequence[FloatArray],
    widths: Sequence[FloatArray],
    levels: ArrayLike,
) -> FloatArray:
    """Each point stands for its cell, an even distribution, which is taken for a normal one."""
    mean = np.concatenate(
        [origin + point.prior + point.own for origin, point in zip(origins, points, strict=True)]
    )
    variance = np.concatenate(
        [point.own_variance + width**2 / 12 for width, point in zip(widths, points, strict=True)]
    )
    weight = np.concatenate([point.weight for point in points])
    return np.array(
        _quantiles(mean, np.sqrt(variance), weight / weight.sum(), np.asarray(levels, dtype=float))
    )


def _movement_of_prior(moved: NDArray[np.bool_], ends: FloatArray, weight: FloatArray) -> Movement:
    # Of what has moved each point stands for its cell: windows may tell more than a step apart.
    low, value, high = np.exp(quantiles_of_cells(ends, weight, _LEVELS)).tolist()
    return Movement(value=value, low=low, high=high, chance=float(weight[moved].sum()))


def _beyond(mean: FloatArray, deviation: FloatArray, far: FloatArray | float) -> FloatArray:
    """Chance that a normal is further than so much from 0, in either direction."""
    above = special.ndtr((mean - far) / deviation)
    return np.asarray(above + special.ndtr((-far - mean) / deviation))


def _quantiles(
    mean: FloatArray, deviation: FloatArray, weight: FloatArray, levels: FloatArray = _LEVELS
) -> list[float]:
    """Of a mixture of normals; by default ends and middle of its 95% interval.

    Most parts together hold next to nothing, and are left out. The heaviest are few, and say where
    to begin with all.
    """
    order = np.argsort(weight, kind="stable")
    below = np.cumsum(weight[order])
    heaviest, kept = (
        _Mixture.of(mean[parts], deviation[parts], weight[parts])
        for parts in (order[below > _LIGHT], order[below > _LEFT_OUT])
    )
    middle = float(heaviest.weight @ heaviest.mean)
    return [kept.quantile(level, heaviest.quantile(level, middle)) for level in levels.tolist()]


class _Mixture(NamedTuple):
    """A mixture of normals."""

    mean: FloatArray
    deviation: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, mean: FloatArray, deviation: FloatArray, weight: FloatArray) -> _Mixture:
        """With weights that add up to 1."""
        return cls(mean, deviation, weight / weight.sum())

    def quantile(self, level: float, value: float) -> float:
        """By Newton steps from a value, halving what is left wherever one would leave it."""
        low = float((self.mean - 9 * self.deviation).min())
        high = float((self.mean + 9 * self.deviation).max())
        exact = _EXACT * (high - low)
        height = self.weight / (self.deviation * math.sqrt(2 * math.pi))
        for _ in range(_MOST_STEPS):
            value = value if low < value < high else 0.5 * (low + high)
            scaled = (value - self.mean) / self.deviation
            off = float(self.weight @ special.ndtr(scaled)) - level
            low, high = (low, value) if off > 0 else (value, high)
            density = float(height @ np.exp(-0.5 * scaled**2))
            step = off / density if density > 0 else math.inf
            value -= step
            if abs(step) < exact or high - low < exact:
                break
        return min(max(value, low), high)
