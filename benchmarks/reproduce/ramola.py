"""Ramola et al. (2019): accuracy, balanced accuracy, F and MCC, as they come and corrected."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.reproduce import models, ramola_data
from benchmarks.reproduce.data import available, load
from benchmarks.reproduce.models import out_of_bag_scores, standardized
from benchmarks.reproduce.parts import remembered
from benchmarks.reproduce.ramola_charts import curves_chart, errors_chart
from benchmarks.reproduce.ramola_data import POSITIVE
from benchmarks.reproduce.rows import Figure, Report, Row, RowResult, generator
from pumonitor import ScoreTable
from pumonitor.metrics.accuracy import ACCURACY
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY
from pumonitor.metrics.conversions import corrected_mcc
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.matthews_correlation import MCC
from pumonitor.metrics.rates import Rates, corrected_rates
from pumonitor.prior import estimate_from_table
from pumonitor.prior.labels.label_noise import estimate_label_purity

__all__ = ["ROWS"]

FloatArray = NDArray[np.float64]

_METRICS = {"accuracy": ACCURACY, "balanced_accuracy": BALANCED_ACCURACY, "f1": F1, "mcc": MCC}
_TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F",
    "mcc": "MCC",
}
_RANGES = {
    "accuracy": (0.0, 1.0),
    "balanced_accuracy": (0.5, 1.0),
    "f1": (0.0, 1.0),
    "mcc": (-1.0, 1.0),
}

# -- Figure 1: two normal densities, exact ---------------------------------------------------

_PRINTED: Final = {
    ("accuracy", ""): (0.86, 0.42),
    ("accuracy", "_pu"): (0.90, 5.0),
    ("balanced_accuracy", ""): (0.84, 0.0),
    ("balanced_accuracy", "_pu"): (0.67, 0.0),
    ("f1", ""): (0.77, 0.19),
    ("f1", "_pu"): (0.30, 0.50),
    ("mcc", ""): (0.66, 0.29),
    ("mcc", "_pu"): (0.22, 0.29),
}
_PURITY, _FRACTION = 0.75, 0.1


def case_study(unlabeled_prior: float) -> tuple[FloatArray, dict[tuple[str, str], FloatArray]]:
    """Thresholds, and each measure corrected ("") and as it comes ("_pu") at every one."""
    thresholds = np.linspace(-5.0, 5.0, 10_001)
    positives, negatives = norm.sf(thresholds, loc=1), norm.sf(thresholds, loc=-1)
    labeled = _PURITY * positives + (1 - _PURITY) * negatives
    unlabeled = unlabeled_prior * positives + (1 - unlabeled_prior) * negatives
    prior = _FRACTION * _PURITY + (1 - _FRACTION) * unlabeled_prior
    flagged = _FRACTION * labeled + (1 - _FRACTION) * unlabeled
    rates = {
        "": corrected_rates(labeled, flagged, prior, label_purity=_PURITY),
        "_pu": corrected_rates(labeled, flagged, _FRACTION, label_purity=1.0),
    }
    return thresholds, {
        (name, suffix): np.asarray(metric.formula(found))
        for name, metric in _METRICS.items()
        for suffix, found in rates.items()
    }


def _figure_1(repetitions: int, report: Report) -> RowResult:
    thresholds, curves = case_study(0.25)
    figures = []
    for (name, suffix), (value, where) in _PRINTED.items():
        curve = curves[name, suffix]
        best = int(np.argmax(curve))
        title = f"highest {_TITLES[name]}{', uncorrected' if suffix else ''}"
        for what, ours, printed in (
            (title, float(curve[best]), value),
            (f"threshold of the {title}", float(thresholds[best]), where),
        ):
            figures.append(
                Figure(
                    name=what,
                    ours=ours,
                    error=0.0,
                    printed=printed,
                    rule="near",
                    tolerance=0.005 + 1e-9,
                    why="two digits in print",
                )
            )
    _, other = case_study(0.5)
    report(repetitions, repetitions)
    return RowResult(
        figures=tuple(figures),
        note=(
            "The fractions in the text have lost their bars: 'alpha = 12, beta = 34, c = 110; thus "
            "pi = 310'. The threshold of the highest accuracy is log((1 - pi) / pi) / 2, so .42 "
            "means pi = 3/10, and c b + (1 - c) a = 3/10 with b = 3/4 and c = 1/10 gives a = 1/4. "
            "The reading a = 1/2 has pi = .525 and its highest balanced accuracy, uncorrected, "
            f"would be {other['balanced_accuracy', '_pu'].max():.2f} and not .67."
        ),
        series={
            "curves": [
                {
                    "threshold": float(thresholds[i]),
                    "value": float(curve[i]),
                    "measure": _TITLES[name],
                    "kind": "as it comes" if suffix else "true, and corrected",
                }
                for (name, suffix), curve in curves.items()
                for i in range(0, len(thresholds), 125)
                if np.isfinite(curve[i])
            ]
        },
    )


# -- Figure 2: real data ---------------------------------------------------------------------

_PURITIES = (1.0, 0.9, 0.8, 0.7)
_REDRAWN = 400
_SIZES = (10_000, 5000, 2000, 1000)


def _one(name: str, purity: float, repetition: int) -> dict[str, float]:
    """Estimated less true performance, at the threshold where the estimate is highest."""
    found = load(name)
    positive = np.asarray(POSITIVE[name](found))
    features = standardized(found.features)
    rng = generator(f"ramola-{name}", repetition, purpose=f"purity {purity:g}")
    # The largest unlabeled sample that a tenth as many labels leave positives for.
    unlabeled = next(
        size
        for size in _SIZES
        if 1.1 * size <= len(positive) and 0.2 * size <= min(positive.sum(), (~positive).sum())
    )
    labeled = unlabeled // 10
    positives, negatives = (
        rng.permutation(np.flatnonzero(which)) for which in (positive, ~positive)
    )
    pure = round(purity * labeled)
    rest_positive, rest_negative = positives[pure:], negatives[labeled - pure :]
    prior = len(rest_positive) / (len(rest_positive) + len(rest_negative))
    hidden = round(prior * unlabeled)
    rows = np.concatenate(
        [
            positives[:pure],
            negatives[: labeled - pure],
            rest_positive[:hidden],
            rest_negative[: unlabeled - hidden],
        ]
    )
    labels = np.arange(len(rows)) < labeled
    scores = out_of_bag_scores(features[rows], labels, rng=rng, hidden=7)
    return _errors(labels, scores, positive[rows], prior=hidden / unlabeled, purity=purity)


def _errors(
    labels: NDArray[np.bool_],
    scores: FloatArray,
    positive: NDArray[np.bool_],
    *,
    prior: float,
    purity: float,
) -> dict[str, float]:
    thresholds = np.unique(scores)
    g, true_recall, false = (_share_above(scores[which], thresholds) for which in
                             (labels, positive, ~positive))  # fmt: skip
    flagged = _share_above(scores, thresholds)
    fraction, own = labels.mean(), positive.mean()
    truth = Rates(
        class_prior=np.asarray(own),
        recall=true_recall,
        false_positive_rate=false,
        predicted_positive_rate=flagged,
    )
    table = ScoreTable.from_arrays(labels, scores)
    pure = estimate_label_purity(table).value
    estimated = estimate_from_table(table, label_purity=pure, rng=0).value
    naive = corrected_rates(g, flagged, fraction, label_purity=1.0)
    real = fraction * purity + (1 - fraction) * prior
    versions = {
        "PU": naive,
        "CR": corrected_rates(g, flagged, real, label_purity=purity),
        "CE": corrected_rates(g, flagged, min(estimated, pure - 1e-6), label_purity=pure),
    }
    errors = {}
    for name, metric in _METRICS.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            true_values = np.nan_to_num(np.asarray(metric.formula(truth)))
            for version, rates in versions.items():
                values = np.asarray(metric.formula(rates))
                if name == "mcc" and version == "CR":
                    # The direct route of theorem 2.1, from the uncorrected value.
                    values = corrected_mcc(
                        np.asarray(metric.formula(naive)),
                        unlabeled_prior=prior,
                        labeled_fraction=fraction,
                        label_purity=purity,
                    )
                shown = np.clip(np.nan_to_num(values), *_RANGES[name])
                best = int(np.argmax(shown))
                errors[f"{name} {version}"] = float(shown[best] - true_values[best])
    return errors


def _share_above(scores: FloatArray, thresholds: FloatArray) -> FloatArray:
    return np.asarray(1 - np.searchsorted(np.sort(scores), thresholds, side="left") / len(scores))


Errors = dict[tuple[str, float], FloatArray]
"""By measure and version, and label purity: one error per data set and repetition."""


def _all_errors(names: list[str], repetitions: int, report: Report) -> Errors:
    found: dict[tuple[str, float], list[float]] = {}
    for done, name in enumerate(names):
        for repetition in range(repetitions):
            for purity in _PURITIES:
                errors = remembered(
                    _one, name, purity, repetition, depends_on=(models, ramola_data, _errors)
                )
                for key, error in errors.items():
                    found.setdefault((key, purity), []).append(error)
            report(done * repetitions + repetition + 1, repetitions * len(names))
    shape = (len(names), repetitions)
    return {key: np.array(values).reshape(shape) for key, values in found.items()}


def _median(errors: FloatArray) -> tuple[float, float]:
    """Median over all data sets and repetitions, and its error by redrawing the repetitions.

    The data sets stay as they are: how much they differ is no Monte-Carlo error.
    """
    sets, repetitions = errors.shape
    picked = generator("ramola-figure2", 0, purpose="redraw").integers(
        repetitions, size=(_REDRAWN, sets, repetitions)
    )
    redrawn = np.take_along_axis(errors[np.newaxis], picked, axis=2).reshape(_REDRAWN, -1)
    return float(np.median(errors)), float(np.median(redrawn, axis=1).std(ddof=1))


def _figures_of(metric: str, purity: float, found: Errors) -> list[Figure]:
    """PU, CR and CE of one measure at one label purity."""
    title = f"{_TITLES[metric]}, label purity {purity:g}"
    as_it_comes, real, estimated = (
        _median(found[f"{metric} {version}", purity]) for version in ("PU", "CR", "CE")
    )
    over = metric == "accuracy"
    return [
        Figure(
            name=f"median error of {title}: as it comes",
            ours=as_it_comes[0],
            error=as_it_comes[1],
            printed=0.0,
            rule="at least" if over else "at most",
            why="overestimated" if over else "underestimated",
        ),
        Figure(
            name=f"median error of {title}: corrected with the real shares",
            ours=real[0],
            error=real[1],
            printed=0.0,
            rule="near",
            tolerance=0.02 if purity > 0.75 else 0.05,
            why=(
                "near perfect recovery in print; the highest point of a noisy curve is too high, "
                "the more the noisier the labels"
            ),
        ),
        Figure(
            name=f"median error of {title}: corrected with estimated shares",
            ours=estimated[0],
            error=estimated[1],
            printed=None,
            rule="shown",
            why="slightly overestimated in print, by AlphaMax",
        ),
    ]


def _growth(metric: str, found: Errors) -> Figure:
    """How much larger the mean absolute error is at the lowest purity than with clean labels."""
    clean, noisy = (np.abs(found[f"{metric} PU", purity]) for purity in (1.0, 0.7))
    change = noisy - clean
    repetitions = change.shape[1]
    variance = change.var(axis=1, ddof=1) if repetitions > 1 else np.zeros(len(change))
    of_accuracy = metric == "accuracy"
    return Figure(
        name=f"{_TITLES[metric]} as it comes: mean error at label purity .7 less that at 1",
        ours=float(change.mean()),
        error=float(np.sqrt(np.sum(variance / repetitions))) / len(change),
        printed=None if of_accuracy else 0.0,
        rule="shown" if of_accuracy else "at least",
        why=(
            "hardly a row is flagged where it is highest: its error is then pi - c at any purity"
            if of_accuracy
            else "errors generally grow with noise"
        ),
    )


def _figure_2(repetitions: int, report: Report) -> RowResult:
    names = [name for name in POSITIVE if available(name)]
    found = _all_errors(names, repetitions, report)
    figures = [
        Figure(
            name="data sets",
            ours=float(len(names)),
            error=0.0,
            printed=8.0,
            rule="at least",
            why="the paper has 14, eight of them are here",
        )
    ]
    for metric in _TITLES:
        for purity in (1.0, 0.7):
            figures += _figures_of(metric, purity, found)
        figures.append(_growth(metric, found))
    return RowResult(
        figures=tuple(figures),
        note=(
            f"Data: {', '.join(names)}; {repetitions} repetitions each (the paper has 50). Which "
            "class is positive is not in print: see ramola_data.py. Estimated shares are those of "
            "this library (auto), not of AlphaMax."
        ),
        series={
            "errors": [
                {
                    "key": key.split()[1],
                    "measure": _TITLES[key.split()[0]],
                    "purity": f"{purity:g}",
                    "error": float(error),
                }
                for (key, purity), errors in found.items()
                for error in errors.ravel()
            ]
        },
    )


ROWS: tuple[Row, ...] = (
    Row(
        id="ramola-figure1",
        paper="ramola",
        title="Figure 1: two normal densities, all sixteen numbers",
        data=(),
        run=_figure_1,
        repetitions=1,
        quick=1,
        draw=curves_chart,
        caption="Each measure against the threshold.",
    ),
    Row(
        id="ramola-figure2",
        paper="ramola",
        title="Figure 2: errors on real data, before and after correction",
        data=("mushroom", "casp"),
        run=_figure_2,
        repetitions=50,
        quick=1,
        draw=errors_chart,
        caption=(
            "PU: as it comes; CR: corrected with the real shares; CE: with estimated ones. A "
            "hundred bagged networks, out of bag."
        ),
    ),
)
