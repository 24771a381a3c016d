"""Streams of daily windows as a monitor sees them.

Each stream has 4000 rows a day, a class prior about .08 to .2 that wanders (AR(1) of .9 a day and
standard deviation .15 on the logit), and as many labeled positives a day as a Poisson number about
a level of 20 to 200 that itself varies by a quarter from day to day. Scores are normal, put on
[0, 1] and rounded to 1/16 up to 1/256; the distance of positives from negatives, AUC .85, varies
from day to day (standard deviation of AUC .008). Labeled positives and all rows are multinomial
counts in the cells, so AUL is exact with ties, and its standard error the evaluation's.

The class prior of AUC is estimated. Estimating and pooling it for every window would take hours,
so errors are drawn that look like those of `auto`, measured on 14 such streams of 100 windows, on
the arcsine root: an error common to all windows of a stream (mean .042, standard deviation .016),
one of each window (.58 over the root of its labeled rows, without autocorrelation), and a stated
error 1.7 times that one, which itself varies by a fifth. Windows are then pooled by a local level
whose gain is .25 and whose stated error is .6 of the window's, as `pooled_class_prior` does on
those streams (errors correlated by .5 to .9 from day to day).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["METRICS", "Streams", "simulate"]

FloatArray = NDArray[np.float64]

METRICS: Final = ("auc", "auc, true prior", "aul", "recall", "class_prior")

_AUC: Final = 0.85
_ROWS: Final = 4000
_CELLS: Final = (16, 32, 64, 128, 256)
_DISTANCE_SPREAD: Final = 0.05  # standard deviation of AUC .008
_RECALL: Final = 0.6

_COMMON, _COMMON_SPREAD = 0.042, 0.016
_OWN: Final = 0.58
_STATED, _STATED_SPREAD = 1.7, 0.2
_GAIN, _POOLED = 0.25, 0.6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Streams:
    """What was simulated; arrays of shape (streams, windows).

    Attributes
    ----------
    values, errors : dict of str to ndarray
        Estimates and their standard errors, by metric.
    labeled : ndarray
        Labeled positives.
    bounds : dict of str to ndarray of shape (streams, windows, 2)
        What the placement of one positive can be, of metrics that are means of such.
    auc_level, auc_spread : ndarray
        Mean and standard deviation of the AUC estimate of each window while nothing changes, as
        nobody but the simulation knows them.
    """

    values: dict[str, FloatArray]
    errors: dict[str, FloatArray]
    labeled: FloatArray
    bounds: dict[str, FloatArray]
    auc_level: FloatArray
    auc_spread: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stream:
    """Rows of one stream, by window."""

    lift: FloatArray
    lift_error: FloatArray
    placement_variance: float
    recall: FloatArray
    labeled: FloatArray
    prior: FloatArray
    pooled: FloatArray
    pooled_error: FloatArray
    usual_auc: float


def simulate(
    streams: int,
    windows: int,
    *,
    rng: np.random.Generator,
    level: float | None = None,
    drops: FloatArray | None = None,
) -> Streams:
    """Streams whose AUC is lower by `drops` (one number per window) than .85.

    `level` is the usual number of labeled positives a day; drawn for each stream if not given.
    """
    drops = np.zeros(windows) if drops is None else drops
    made = [_stream(windows, level, drops, rng) for _ in range(streams)]

    def of(name: str) -> FloatArray:
        return np.array([getattr(one, name) for one in made])

    lift, lift_error, pooled, pooled_error = (
        of(name) for name in ("lift", "lift_error", "pooled", "pooled_error")
    )
    prior, labeled, recall = of("prior"), of("labeled"), of("recall")
    auc = (lift - 0.5 * pooled) / (1 - pooled)
    by_prior = (lift - 0.5) / (1 - pooled) ** 2
    hits = recall * labeled
    values = {
        "auc": auc,
        "auc, true prior": (lift - 0.5 * prior) / (1 - prior),
        "aul": lift,
        "recall": recall,
        "class_prior": pooled,
    }
    errors = {
        "auc": np.hypot(lift_error / (1 - pooled), by_prior * pooled_error),
        "auc, true prior": lift_error / (1 - prior),
        "aul": lift_error,
        "recall": np.sqrt((hits + 0.5) * (labeled - hits + 0.5) / (labeled + 2)) / (labeled + 1),
        "class_prior": pooled_error,
    }
    # What the estimate would be without sampling of rows: what remains varies by the prior.
    usual_auc = of("usual_auc")[:, np.newaxis]
    smooth = (0.5 * prior + (1 - prior) * usual_auc - 0.5 * pooled) / (1 - pooled)
    sampling = np.array([[one.placement_variance] for one in made]) / labeled
    spread = np.sqrt(
        sampling / (1 - pooled) ** 2
        + (_DISTANCE_SPREAD * _slope()) ** 2
        + np.var(smooth, axis=1, keepdims=True)
    )
    return Streams(
        values=values,
        errors=errors,
        labeled=labeled,
        bounds={
            "auc": _auc_bounds(pooled),
            "auc, true prior": _auc_bounds(prior),
            "aul": np.broadcast_to([0.0, 1.0], (*lift.shape, 2)),
            "recall": np.broadcast_to([0.0, 1.0], (*lift.shape, 2)),
        },
        auc_level=np.broadcast_to(np.mean(smooth, axis=1, keepdims=True), lift.shape),
        auc_spread=spread,
    )


def _stream(
    windows: int, level: float | None, drops: FloatArray, rng: np.random.Generator
) -> Stream:
    usual = math.exp(rng.uniform(math.log(20), math.log(200))) if level is None else level
    usual_prior = rng.uniform(0.08, 0.2)
    cells = int(rng.choice(_CELLS))
    prior = special.expit(special.logit(usual_prior) + _wandering(windows, rng))
    positives = rng.binomial(_ROWS, prior)
    labeled = rng.poisson(usual * np.exp(rng.normal(0.0, 0.25, windows)))
    labeled = np.clip(labeled, 5, (0.9 * positives).astype(int))
    distance = _distance(_AUC - drops) + rng.normal(0.0, _DISTANCE_SPREAD, windows)
    edges = special.logit(np.arange(1, cells) / cells)
    of_positives, of_negatives = (
        np.diff(special.ndtr(edges - shift[:, np.newaxis]), axis=1, prepend=0.0, append=1.0)
        for shift in (0.5 * distance, -0.5 * distance)
    )
    confirmed = rng.multinomial(labeled, of_positives)
    others = rng.multinomial(positives - labeled, of_positives) + rng.multinomial(
        _ROWS - positives, of_negatives
    )
    share = (confirmed + others) / _ROWS
    placement = np.cumsum(share, axis=1) - 0.5 * share
    lift = np.sum(confirmed * placement, axis=1) / labeled
    spread = np.sum(confirmed * (placement - lift[:, np.newaxis]) ** 2, axis=1) / (labeled - 1)
    above = np.cumsum(confirmed[:, ::-1], axis=1)[:, ::-1] - 0.5 * confirmed
    above = above / labeled[:, np.newaxis]
    of_rows = np.sum(share * (above - lift[:, np.newaxis]) ** 2, axis=1)
    unseen = (lift - 0.5) ** 2 / 8 / (labeled + 1) ** 2
    pooled, pooled_error = _pooled_prior(prior, labeled, rng)
    flagged = int(np.argmin(np.abs(special.ndtr(0.5 * _distance(_AUC) - edges) - _RECALL))) + 1
    return Stream(
        lift=lift,
        lift_error=np.sqrt(spread / labeled + of_rows / _ROWS + unseen),
        placement_variance=float(np.mean(spread)),
        recall=confirmed[:, flagged:].sum(axis=1) / labeled,
        labeled=labeled.astype(float),
        prior=prior,
        pooled=pooled,
        pooled_error=pooled_error,
        usual_auc=_auc_of(
            _cell_shares(edges, 0.5 * _distance(_AUC)), _cell_shares(edges, -0.5 * _distance(_AUC))
        ),
    )


def _cell_shares(edges: FloatArray, mean: FloatArray) -> FloatArray:
    """Chance of each cell for scores N(mean, 1)."""
    return np.diff(special.ndtr(edges - mean), axis=-1, prepend=0.0, append=1.0)


def _auc_of(of_positives: FloatArray, of_negatives: FloatArray) -> float:
    """With ties, which cells make."""
    return float(of_positives @ (np.cumsum(of_negatives) - 0.5 * of_negatives))


def _pooled_prior(
    prior: FloatArray, labeled: NDArray[np.int64], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The class prior as estimated and pooled, and its standard error."""
    windows = len(prior)
    own_error = _OWN / np.sqrt(labeled)
    common = rng.normal(_COMMON, _COMMON_SPREAD)
    own = np.arcsin(np.sqrt(prior)) + common + own_error * rng.normal(size=windows)
    stated = _STATED * own_error * np.exp(rng.normal(0.0, _STATED_SPREAD, windows))
    drift = _GAIN**2 / (1 - _GAIN) * float(np.median(stated)) ** 2
    root, variance = own[0], stated[0] ** 2
    roots = np.empty(windows)
    for at in range(windows):
        variance += drift
        gain = variance / (variance + stated[at] ** 2)
        root += gain * (own[at] - root)
        variance *= 1 - gain
        roots[at] = root
    pooled = np.sin(roots) ** 2
    error = _POOLED * float(np.median(stated)) * 2 * np.sqrt(pooled * (1 - pooled))
    return pooled, error * np.exp(rng.normal(0.0, 0.5 * _STATED_SPREAD, windows))


def _wandering(windows: int, rng: np.random.Generator) -> FloatArray:
    """A stationary AR(1) of .9 a window and standard deviation .15."""
    steps = rng.normal(0.0, 0.15, windows)
    at = steps[0]
    course = np.empty(windows)
    for window in range(windows):
        at = steps[0] if window == 0 else 0.9 * at + math.sqrt(1 - 0.81) * steps[window]
        course[window] = at
    return course


def _distance(auc: FloatArray | float) -> FloatArray:
    return np.asarray(math.sqrt(2) * special.ndtri(auc))


def _slope() -> float:
    """Of AUC by the distance."""
    return math.exp(-0.25 * float(_distance(_AUC)) ** 2) / math.sqrt(4 * math.pi)


def _auc_bounds(prior: FloatArray) -> FloatArray:
    return np.stack([-0.5 * prior / (1 - prior), (1 - 0.5 * prior) / (1 - prior)], axis=-1)
