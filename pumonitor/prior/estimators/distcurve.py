"""DistCurve: how far positives must reach for an unlabeled row as those run out (Zeiberg 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples

BINS = 96
CURVE_POINTS = 100
# Sizes among which the regressor was trained; beyond them it reads the nearest.
_SIZES = (20.0, 100_000.0)
_NOTHING = 1e-12


def distcurve(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows from a curve of nearest-neighbour distances.

    Positives drawn at random each take the nearest unlabeled row that is left. While there are
    positives among the unlabeled rows that row is near; once they are used up the distances grow.
    Where they begin to grow is read off by a regressor trained on simulated pairs of samples
    (`benchmarks/prior/train_distcurve.py`). Too high where no group of negatives is unlike the
    positives; at small samples drawn towards what was common among the simulated pairs.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Notes
    -----
    `distance_curve` is the curve in expectation over the draws, hence nothing is random.
    Distances are of normal scores of the pooled ranks, so that only the order of the scores
    matters. Unlike in the paper, the points of the curve are dense near 0, where priors usually
    are; the regressor is told both numbers of rows, which decide how soft the corner is; and what
    it learned is the largest share that could be positives (judged by the purest 0.3% of them), not
    the share that was: where classes overlap throughout no curve shows that. On two normals 2 apart
    with 1000 labeled and 10 000 unlabeled rows the mean absolute error is .013 (the published
    network: .055).

    References
    ----------
    Zeiberg, Jain, Radivojac (2020), Fast nonparametric estimation of class proportions in the
    positive-unlabeled classification setting, Algorithm 1 (the curve) and section 4 (regression).

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(3 * positive))
    >>> bool(abs(distcurve(TwoSamples.from_table(table))[0] - 0.3) < 0.05)
    True
    """
    return _regressor()(regressor_inputs(sample))


def distcurves(samples: Sequence[TwoSamples]) -> FloatArray:
    """`distcurve` of several samples, each the only one of its rows, whose curves are one pass."""
    binned = [binned_normal_scores(one, bins=BINS) for one in samples]
    labeled, unlabeled = (np.concatenate([one[part] for one in binned]) for part in (1, 2))
    curves = distance_curve(labeled, unlabeled, binned[0][0])[:, np.newaxis]
    rows = np.array([[[one.n_labeled, one.n_unlabeled]] for one in samples])
    read = map(regressor_inputs_of_curve, curves, rows)
    return np.concatenate([_regressor()(one) for one in read])


def regressor_inputs(sample: TwoSamples) -> FloatArray:
    """What the regressor reads, shape (samples, CURVE_POINTS + 2): distances, then sizes."""
    centres, labeled, unlabeled = binned_normal_scores(sample, bins=BINS)
    curve = distance_curve(labeled, unlabeled, centres)
    rows = np.tile([sample.n_labeled, sample.n_unlabeled], (len(curve), 1))
    return regressor_inputs_of_curve(curve, rows)


def regressor_inputs_of_curve(curve: FloatArray, rows: FloatArray) -> FloatArray:
    """The same from curves, shape (samples, CURVE_POINTS), and numbers of rows, (samples, 2)."""
    return np.hstack([curve / (1 + curve), np.log(np.clip(rows, *_SIZES))])


def distance_curve(labeled: FloatArray, unlabeled: FloatArray, centres: FloatArray) -> FloatArray:
    """Mean distance from a positive to the nearest remaining unlabeled row, as rows are taken.

    Parameters
    ----------
    labeled, unlabeled : ndarray of shape (samples, bins)
        Shares per bin; rows sum to 1.
    centres : ndarray of shape (bins,)
        Ascending and equally spaced; distances are in their units.

    Returns
    -------
    ndarray of shape (samples, CURVE_POINTS)
        Point k is the mean distance while the share of unlabeled rows already taken goes from
        (k / CURVE_POINTS)^2 to ((k + 1) / CURVE_POINTS)^2. Never falls along the curve.

    Notes
    -----
    The limit of many draws. Positives arrive in bin j at rate p_j per unlabeled share taken and
    all go to the nearest bin with rows left, half each way when two are as near. A bin with u_j
    left, taken at rate v_j, is empty after u_j / v_j; nothing changes before the first is. So the
    curve is a staircase with at most as many steps as bins, followed exactly. Its first rise is
    at the least u_j / p_j: the prior itself, if some bin holds no negatives.

    Examples
    --------
    Positives are in the upper bin only, which holds 0.25 of the unlabeled rows.

    >>> curve = distance_curve(np.array([[0.0, 1.0]]), np.array([[0.75, 0.25]]), np.arange(2.0))
    >>> curve[0, [0, 49, 50, 99]].tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    samples, bins = labeled.shape
    place = np.arange(bins)
    first_of_sample = bins * np.arange(samples)[:, np.newaxis]
    left = unlabeled.copy()
    taken, travelled = np.zeros((2, samples, bins + 1))
    for event in range(bins):
        held = left > 0
        if not held.any():
            taken, travelled = taken[:, : event + 1], travelled[:, : event + 1]
            break
        below, above = _nearest_with_rows(held)
        down, up = place - below, above - place
        going_down = labeled * (0.5 * (down < up) + 0.5 * (down <= up))
        going_up = labeled - going_down
        goals = np.concatenate([np.maximum(below, 0), np.minimum(above, bins - 1)])
        rate = np.bincount(
            (goals + np.tile(first_of_sample, (2, 1))).ravel(),
            weights=np.concatenate([going_down, going_up]).ravel(),
            minlength=samples * bins,
        ).reshape(samples, bins)
        emptied_after = np.full((samples, bins), np.inf)
        np.divide(left, rate, out=emptied_after, where=(rate > 0) & held)
        lasts = emptied_after.min(axis=1)
        lasts = np.where(np.isfinite(lasts), lasts, 0.0)  # nothing is left
        left = left - rate * lasts[:, np.newaxis]
        left[left < _NOTHING] = 0.0
        taken[:, event + 1] = taken[:, event] + lasts
        reach = (labeled * np.minimum(down, up)).sum(axis=1)
        travelled[:, event + 1] = travelled[:, event] + lasts * reach
    points = np.linspace(0.0, 1.0, CURVE_POINTS + 1) ** 2
    by_point = np.stack([np.interp(points, *both) for both in zip(taken, travelled, strict=True)])
    return np.asarray((centres[1] - centres[0]) * np.diff(by_point, axis=1) / np.diff(points))


def _nearest_with_rows(held: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Nearest bin that holds rows at or below, and at or above, each bin; far off if none does."""
    bins = held.shape[1]
    place = np.arange(bins)
    below = np.maximum.accumulate(np.where(held, place, -2 * bins), axis=1)
    above = np.minimum.accumulate(np.where(held, place, 3 * bins)[:, ::-1], axis=1)[:, ::-1]
    return below, above


@dataclass(frozen=True, slots=True, kw_only=True)
class _Regressor:
    """The mean of a few small networks: standardised inputs, rectified layers, one output.

    The output is the arcsine of the root of the prior, on which its sampling error is even.
    Weights are of shape (networks, inputs, outputs), biases (networks, 1, outputs).
    """

    mean: FloatArray
    scale: FloatArray
    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]

    def __call__(self, inputs: FloatArray) -> FloatArray:
        layer = (inputs - self.mean) / self.scale
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layer = np.maximum(layer @ weight + bias, 0.0)
        angle = (layer @ self.weights[-1] + self.biases[-1])[:, :, 0].mean(axis=0)
        return np.asarray(np.sin(np.clip(angle, 0.0, 0.5 * np.pi)) ** 2)


@cache
def _regressor() -> _Regressor:
    """The trained one, from the file that `benchmarks/prior/train_distcurve.py` wrote."""
    where = resources.files("pumonitor.prior") / "data" / "distcurve.npz"
    with where.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        numbers = {
            name: stored[name].astype(np.float64) for name in stored.files if name != "recipe"
        }
    layers = sum(name.startswith("weight") for name in numbers)
    return _Regressor(
        mean=numbers["mean"],
        scale=numbers["scale"],
        weights=tuple(numbers[f"weight_{layer}"] for layer in range(layers)),
        biases=tuple(numbers[f"bias_{layer}"] for layer in range(layers)),
    )
