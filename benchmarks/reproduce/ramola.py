"""Ramola et al. (2019): accuracy, balanced accuracy, F and MCC, as they come and corrected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.reproduce import models
from benchmarks.reproduce.data import available, load
from benchmarks.reproduce.models import out_of_bag_scores, standardized
from benchmarks.reproduce.parts import remembered
from benchmarks.reproduce.rows import Figure, Report, Row, RowResult, generator
from pumonitor import ScoreTable
from pumonitor.metrics.accuracy import ACCURACY
from pumonitor.metrics.balanced_accuracy import BALANCED_ACCURACY
from pumonitor.metrics.conversions import corrected_mcc
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.matthews_correlation import MCC
from pumonitor.metrics.rates import Rates, corrected_rates
from pumonitor.prior import estimate_from_table
from pumonitor.prior.label_noise import estimate_label_purity

if TYPE_CHECKING:
    import altair

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


def _draw_figure_1(series: Mapping[str, Any]) -> altair.Chart:
    import altair as alt

    return (
        alt.Chart(alt.Data(values=series["curves"]))
        .mark_line()
        .encode(
            x=alt.X("threshold:Q", title="Decision threshold"),
            y=alt.Y("value:Q", title=None),
            color=alt.Color("kind:N", title=None),
            facet=alt.Facet("measure:N", columns=2, title=None),
        )
        .properties(width=230, height=170)
        .resolve_scale(y="independent")
    )


# -- Figure 2: real data ---------------------------------------------------------------------

_PURITIES = (1.0, 0.9, 0.8, 0.7)
_SIZES = (10_000, 5000, 2000, 1000)


def _number(target: NDArray[Any]) -> FloatArray:
    return np.asarray(target, dtype=np.float64)


_POSITIVE: Final[dict[str, Callable[[Any], NDArray[np.bool_]]]] = {
    "covertype_16pct": lambda found: _number(found.target) == 2,
    "mushroom": lambda found: found.target == "p",
    "thyroid_ann": lambda found: _number(found.target) < 3,
    "anuran": lambda found: found.meta["meta_family"] == "Leptodactylidae",
    "wilt": lambda found: found.target == "w",
    "abalone": lambda found: _number(found.target) >= 10,
    "splice": lambda found: found.target != "N",
    "casp": lambda found: _number(found.target) > _number(found.target).mean(),
}


def _one(name: str, purity: float, repetition: int) -> dict[str, float]:
    """Estimated less true performance, at the threshold where the estimate is highest."""
    found = load(name)
    positive = np.asarray(_POSITIVE[name](found))
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


def _figure_2(repetitions: int, report: Report) -> RowResult:
    names = [name for name in _POSITIVE if available(name)]
    found: dict[tuple[str, float], list[float]] = {}
    done = 0
    for repetition in range(repetitions):
        for name in names:
            for purity in _PURITIES:
                errors = remembered(_one, name, purity, repetition, depends_on=(models, _errors))
                for key, error in errors.items():
                    found.setdefault((key, purity), []).append(error)
            done += 1
            report(done, repetitions * len(names))

    def median(key: str, purity: float) -> tuple[float, float]:
        values = np.array(found[key, purity])
        spread = 1.2533 * float(values.std(ddof=1)) / np.sqrt(len(values))
        return float(np.median(values)), float(spread)

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
    for metric, title in _TITLES.items():
        for purity in (1.0, 0.7):
            value, error = median(f"{metric} PU", purity)
            figures.append(
                Figure(
                    name=f"median error of {title} as it comes, label purity {purity:g}",
                    ours=value,
                    error=error,
                    printed=0.0,
                    rule="at least" if metric == "accuracy" else "at most",
                    why="overestimated" if metric == "accuracy" else "underestimated",
                )
            )
            value, error = median(f"{metric} CR", purity)
            figures.append(
                Figure(
                    name=f"the same corrected with the real shares, label purity {purity:g}",
                    ours=value,
                    error=error,
                    printed=0.0,
                    rule="near",
                    tolerance=0.02,
                    why="near perfect recovery in print",
                )
            )
            value, error = median(f"{metric} CE", purity)
            figures.append(
                Figure(
                    name=f"and with estimated shares, label purity {purity:g}",
                    ours=value,
                    error=error,
                    printed=None,
                    rule="shown",
                )
            )
        clean, noisy = (np.abs(found[f"{metric} PU", purity]) for purity in (1.0, 0.7))
        figures.append(
            Figure(
                name=f"{title} as it comes: how much larger its error is at purity .7 than at 1",
                ours=float(np.mean(noisy) - np.mean(clean)),
                error=float(np.hypot(noisy.std(), clean.std()) / np.sqrt(len(clean))),
                printed=0.0,
                rule="at least",
                why="errors deteriorate with noise",
            )
        )
    return RowResult(
        figures=tuple(figures),
        note=(
            f"Data: {', '.join(names)}; {repetitions} repetitions each (the paper has 50). "
            "Estimated shares are those of this library (auto), not AlphaMax."
        ),
        series={
            "errors": [
                {"key": key.split()[1], "measure": _TITLES[key.split()[0]], "purity": f"{purity:g}",
                 "error": error}
                for (key, purity), errors in found.items()
                for error in errors
            ]
        },
    )  # fmt: skip


def _draw_figure_2(series: Mapping[str, Any]) -> altair.Chart:
    import altair as alt

    return (
        alt.Chart(alt.Data(values=series["errors"]))
        .mark_boxplot(size=9)
        .encode(
            x=alt.X("purity:N", sort=["1", "0.9", "0.8", "0.7"], title="Label purity"),
            xOffset=alt.XOffset("key:N", sort=["PU", "CR", "CE"]),
            y=alt.Y("error:Q", title="Estimated less true"),
            color=alt.Color("key:N", sort=["PU", "CR", "CE"], title=None),
            facet=alt.Facet("measure:N", columns=2, title=None),
        )
        .properties(width=260, height=180)
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
        draw=_draw_figure_1,
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
        draw=_draw_figure_2,
        caption=(
            "PU: as it comes; CR: corrected with the real shares; CE: with estimated ones. A "
            "hundred bagged networks, out of bag."
        ),
    ),
)
