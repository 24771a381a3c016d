"""Daily streams in which days differ by themselves, whole streams at once.

Scores are normal, positives a distance above negatives. Per stream: 10 to 50 confirmed positives
a usual day, a class prior of .05 to .2, AUC .85. From day to day the distance varies (heavy tails,
Student's t of 6 degrees, and the day before counts a little), and so does the prior; both have a
weekday and a season. Confirmed positives are a Poisson number about a level of its own for each
weekday and day. Rows are taken to be so many that confirmed positives alone are a sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["WORLDS", "DailyStreams", "World", "simulate_days"]

FloatArray = NDArray[np.float64]

_AUC: Final = 0.85
_RECALL: Final = 0.6
_TAILS: Final = 6
_FEWEST: Final = 3
_YEAR: Final = 365


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What days differ by.

    Attributes
    ----------
    labels : (float, float)
        Range of the usual number of confirmed positives a day.
    between : (float, float)
        Range of the standard deviation of AUC between days.
    correlation : float
        Of neighbouring days.
    weekday, season : float
        Standard deviations of what weekdays and the time of the year do to AUC, as shares of
        `between`. The class prior has .1 on the logit scale of either if this is above 0.
    heavy : bool
        Whether days have heavy tails.
    """

    labels: tuple[float, float] = (10.0, 50.0)
    between: tuple[float, float] = (0.01, 0.06)
    correlation: float = 0.0
    weekday: float = 0.0
    season: float = 0.0
    heavy: bool = True


WORLDS: Final = {
    "days differ": World(heavy=False),
    "days differ much": World(heavy=False, between=(0.06, 0.06)),
    "heavy tails, neighbours alike": World(correlation=0.3),
    "and weekdays": World(correlation=0.2, weekday=0.5),
    "and seasons": World(correlation=0.2, weekday=0.5, season=0.2),
    "all, 10 confirmed": World(correlation=0.2, weekday=0.5, season=0.2, labels=(10, 10)),
    "all, 50 confirmed": World(correlation=0.2, weekday=0.5, season=0.2, labels=(50, 50)),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DailyStreams:
    """What was simulated; arrays of shape (streams, days).

    Attributes
    ----------
    values, errors : dict of str to ndarray
        Estimates of AUL and recall, and their standard errors.
    labeled : ndarray
        Confirmed positives.
    """

    values: dict[str, FloatArray]
    errors: dict[str, FloatArray]
    labeled: FloatArray

    def followed_by(self, later: DailyStreams, day: int) -> DailyStreams:
        """These until a day, and others from then on."""

        def joined(one: FloatArray, other: FloatArray) -> FloatArray:
            return np.concatenate([one[:, :day], other[:, day:]], axis=1)

        return DailyStreams(
            values={name: joined(self.values[name], later.values[name]) for name in self.values},
            errors={name: joined(self.errors[name], later.errors[name]) for name in self.errors},
            labeled=joined(self.labeled, later.labeled),
        )


def simulate_days(
    world: World, *, streams: int, days: int, seed: int, fall: float = 0.0
) -> DailyStreams:
    """Streams with AUC lower by `fall`; the same seed has the same days and confirmations."""
    rng = np.random.default_rng(seed)
    shape = (streams, days)
    low, high = world.labels
    usual = np.exp(rng.uniform(math.log(low), math.log(high), (streams, 1)))
    between = rng.uniform(*world.between, (streams, 1))
    effect = _following(rng, shape, world.correlation, heavy=world.heavy)
    effect += world.weekday * _weekdays(rng, shape) + world.season * _season(rng, shape)
    distance = _distance(_AUC - fall) + between / _slope() * effect
    logit = special.logit(rng.uniform(0.05, 0.2, (streams, 1)))
    logit = logit + 0.15 * _following(rng, shape, 0.5, heavy=False)
    logit += 0.1 * (world.weekday > 0) * _weekdays(rng, shape)
    logit += 0.1 * (world.season > 0) * _season(rng, shape)
    rate = usual * np.exp(0.3 * _weekdays(rng, shape) + rng.normal(0.0, 0.25, shape))
    labeled = np.maximum(rng.poisson(rate), _FEWEST)
    drawn = [
        _estimates(rng, labeled[one], distance[one], special.expit(logit[one]))
        for one in range(streams)
    ]
    lift, lift_error, recall, recall_error = np.array(drawn).transpose(1, 0, 2)
    return DailyStreams(
        values={"aul": lift, "recall": recall},
        errors={"aul": lift_error, "recall": recall_error},
        labeled=labeled.astype(float),
    )


def _estimates(
    rng: np.random.Generator,
    labeled: NDArray[np.int64],
    distance: FloatArray,
    prior: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """AUL and recall of the days of one stream, each with its standard error."""
    there = np.arange(labeled.max()) < labeled[:, np.newaxis]
    middle, share = distance[:, np.newaxis], prior[:, np.newaxis]
    score = middle + rng.normal(size=there.shape)
    placement = share * special.ndtr(score - middle) + (1 - share) * special.ndtr(score)
    lift = np.sum(placement * there, axis=1) / labeled
    squares = np.sum((placement - lift[:, np.newaxis]) ** 2 * there, axis=1)
    unseen = (lift - 0.5) ** 2 / 8 / (labeled + 1) ** 2
    threshold = _distance(_AUC) - special.ndtri(_RECALL)
    hits = np.sum((score > threshold) & there, axis=1)
    # Jeffreys' standard deviation, as the evaluation has it.
    spread = np.sqrt((hits + 0.5) * (labeled - hits + 0.5) / (labeled + 2)) / (labeled + 1)
    lift_error = np.sqrt(squares / (labeled - 1) / labeled + unseen)
    return lift, lift_error, hits / labeled, spread


def _following(
    rng: np.random.Generator, shape: tuple[int, int], correlation: float, *, heavy: bool
) -> FloatArray:
    """Standard deviation 1, and a first-order autoregression."""
    steps = rng.normal(size=shape)
    if heavy:
        steps = rng.standard_t(_TAILS, shape) * math.sqrt(1 - 2 / _TAILS)
    course = np.empty(shape)
    course[:, 0] = steps[:, 0]
    for day in range(1, shape[1]):
        kept = correlation * course[:, day - 1]
        course[:, day] = kept + math.sqrt(1 - correlation**2) * steps[:, day]
    return course


def _weekdays(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    effect = rng.normal(size=(shape[0], 7))
    effect -= effect.mean(axis=1, keepdims=True)
    effect /= effect.std(axis=1, keepdims=True)
    return np.asarray(effect[:, np.arange(shape[1]) % 7])


def _season(rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    begins = rng.uniform(0, 2 * math.pi, (shape[0], 1))
    return np.asarray(math.sqrt(2) * np.cos(2 * math.pi * np.arange(shape[1]) / _YEAR + begins))


def _distance(auc: float) -> float:
    return math.sqrt(2) * float(special.ndtri(auc))


def _slope() -> float:
    """Of AUC by the distance."""
    return math.exp(-0.25 * _distance(_AUC) ** 2) / math.sqrt(4 * math.pi)
