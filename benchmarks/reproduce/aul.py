"""AUL is a better optimization metric in PU learning: Figure 1, Table 1, Figure 2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.reproduce import aul_charts as charts
from benchmarks.reproduce import aul_learners
from benchmarks.reproduce.aul_settings import (
    FREQUENCIES,
    SETTINGS,
    Setting,
    expected_error,
    scored,
)
from benchmarks.reproduce.rows import (
    Figure,
    Report,
    Row,
    RowResult,
    generator,
    monte_carlo_error,
)
from pumonitor import estimate_class_prior, evaluate
from pumonitor.metrics import auc, aul

__all__ = ["ROWS"]

_ROUNDING: Final = 0.0005
_DRAWS_PRINTED: Final = 50
_RELATIVE_ERROR: Final = float(np.sqrt(np.pi / 2 - 1))
"""Standard deviation of the absolute value of a normal error, over its mean."""

_EVERY: Final = 5
"""The class prior is estimated for every fifth draw."""

_SCORES: Final = (
    0.92, 0.82, 0.73, 0.66, 0.6, 0.58, 0.54, 0.5, 0.45, 0.43,
    0.41, 0.39, 0.38, 0.36, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1,
)  # fmt: skip
_POSITIVE: Final = (1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0)
_LABELED: Final = (1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Errors:
    """Estimates less the truth over the draws of one data set and label frequency."""

    aul: NDArray[np.float64]
    auc: NDArray[np.float64]
    expected: float


def _figure1(_repetitions: int, report: Report) -> RowResult:
    prior = float(np.mean(_POSITIVE))
    ours = {
        "AUC": auc(_POSITIVE, _SCORES, class_prior=prior).value,
        "AUC from the labels": evaluate(_LABELED, _SCORES, class_prior=prior)["auc_pu"].value,
        "AUL": aul(_POSITIVE, _SCORES).value,
        "AUL from the labels": aul(_LABELED, _SCORES).value,
    }
    printed = (0.740, 0.653, 0.620, 0.615)
    figures = tuple(
        Figure(
            name=name,
            ours=value,
            error=0.0,
            printed=number,
            rule="near",
            tolerance=_ROUNDING,
        )
        for (name, value), number in zip(ours.items(), printed, strict=True)
    )
    report(1, 1)
    series = {"scores": _SCORES, "positive": _POSITIVE, "labeled": _LABELED}
    return RowResult(figures=figures, series={name: list(of) for name, of in series.items()})


@lru_cache(maxsize=64)
def _errors(name: str, frequency: float, repetitions: int) -> _Errors:
    """Draw labels without replacement and estimate; the true scores and classes stay the same."""
    from sklearn.metrics import roc_auc_score

    of = scored(name)
    places = np.flatnonzero(of.is_positive)
    true_auc = float(roc_auc_score(of.is_positive, of.scores))
    placements = (stats.rankdata(of.scores) - 0.5) / len(of.scores)
    true_aul = float(placements[of.is_positive].mean())
    by_aul, by_auc = [], []
    for repetition in range(repetitions):
        rng = generator(f"aul-{name}", repetition, purpose=f"labels {frequency}")
        labels = np.zeros(len(of.scores), dtype=np.int8)
        labels[rng.choice(places, round(frequency * len(places)), replace=False)] = 1
        by_aul.append(aul(labels, of.scores).value - true_aul)
        if repetition % _EVERY == 0:
            prior = estimate_class_prior(labels, of.scores, method="auto", rng=repetition)
            by_auc.append(auc(labels, of.scores, class_prior=prior.value).value - true_auc)
    return _Errors(
        aul=np.array(by_aul), auc=np.array(by_auc), expected=expected_error(of, frequency)
    )


def _table1(name: str, repetitions: int, report: Report) -> RowResult:
    """The three lines of a data set."""
    from sklearn.metrics import roc_auc_score

    setting, of = SETTINGS[name], scored(name)
    true_auc = float(roc_auc_score(of.is_positive, of.scores))
    prior = float(of.is_positive.mean())
    figures = [
        _exact("rows", len(of.scores), setting.rows, 0.0),
        _exact("class prior", prior, setting.class_prior, _ROUNDING),
        _exact("AUC", true_auc, setting.auc, _ROUNDING),
        _exact("AUL", aul(of.is_positive.astype(int), of.scores).value, setting.aul, 0.001),
    ]
    for index, frequency in enumerate(FREQUENCIES):
        figures += _figures_at(setting, index, _errors(name, frequency, repetitions))
        report(index + 1, len(FREQUENCIES))
    note = (
        f"Positive: {setting.rule}. Boosted trees have AUC {of.model_auc:.3f} here; mixed with "
        f"{100 * of.noise:.0f}% noise they have the printed one."
    )
    return RowResult(figures=tuple(figures), note=note)


def _exact(name: str, ours: float, printed: float, tolerance: float) -> Figure:
    return Figure(
        name=name, ours=ours, error=0.0, printed=printed, rule="near", tolerance=tolerance
    )


def _figures_at(setting: Setting, index: int, errors: _Errors) -> list[Figure]:
    frequency, printed = FREQUENCIES[index], setting.aul_errors[index]
    absolute = np.abs(errors.aul)
    own = monte_carlo_error(absolute)
    theirs = _error_of_print(printed)
    where = f"label frequency {frequency:g}"
    return [
        Figure(
            name=f"MAE of AUL, {where}",
            ours=float(absolute.mean()),
            error=own,
            printed=printed,
            rule="near",
            # Independent errors add in squares; `inside` adds three of our own by itself.
            tolerance=_ROUNDING + 3 * (float(np.hypot(own, theirs)) - own),
            why=""
            if index
            else "The print is a mean of 50 draws too: three errors of the difference and half of "
            "its last digit are allowed.",
        ),
        Figure(
            name=f"MAE of AUL by Theorem 1, {where}",
            ours=errors.expected,
            error=0.0,
            printed=printed,
            rule="near",
            tolerance=_ROUNDING + 3 * theirs,
            why="" if index else "Exact for our scores: no draws of ours in it.",
        ),
        Figure(
            name=f"MAE of AUL over that by Theorem 1, {where}",
            ours=float(absolute.mean()) / errors.expected,
            error=own / errors.expected,
            printed=1.0,
            rule="near",
            why="" if index else "The estimator alone, whatever the classifier.",
        ),
        Figure(
            name=f"MAE of AUC with class prior by auto, {where}",
            ours=float(np.abs(errors.auc).mean()),
            error=monte_carlo_error(np.abs(errors.auc)),
            printed=setting.auc_errors[index],
            rule="shown",
            why="" if index else "Printed: the best of KM1, KM2 and Distance. Every fifth draw.",
        ),
    ]


def _error_of_print(printed: float) -> float:
    """Standard error of a printed MAE, a mean of 50 absolute normal errors."""
    return printed * _RELATIVE_ERROR / float(np.sqrt(_DRAWS_PRINTED))


def _means(repetitions: int, report: Report) -> RowResult:
    """The MAE columns of Table 1 as a whole."""
    rows: list[dict[str, Any]] = []
    for name, setting in SETTINGS.items():
        for index, frequency in enumerate(FREQUENCIES):
            errors = _errors(name, frequency, repetitions)
            rows.append(
                {
                    "data": setting.title,
                    "frequency": frequency,
                    "printed": setting.aul_errors[index],
                    "ours": float(np.abs(errors.aul).mean()),
                    "error": monte_carlo_error(np.abs(errors.aul)),
                    "expected": errors.expected,
                    "auc": float(np.abs(errors.auc).mean()),
                    "auc_error": monte_carlo_error(np.abs(errors.auc)),
                    "auc_printed": setting.auc_errors[index],
                }
            )
            report(len(rows), len(SETTINGS) * len(FREQUENCIES))
    column = {key: np.array([row[key] for row in rows]) for key in rows[0] if key != "data"}
    return RowResult(
        figures=_mean_figures(column),
        note="AUC is the worse for it where the prior is hard to tell; AUL needs none.",
        series={"settings": rows},
    )


def _mean_figures(column: dict[str, NDArray[np.float64]]) -> tuple[Figure, ...]:
    settings = len(column["ours"])
    printed = float(column["printed"].mean())
    own = float(np.sqrt(np.sum(column["error"] ** 2))) / settings
    theirs = _error_of_print(float(np.sqrt(np.sum(column["printed"] ** 2)))) / settings
    auc_error = float(np.sqrt(np.sum(column["auc_error"] ** 2))) / settings
    return (
        Figure(
            name="MAE of AUL, mean of the 27 settings",
            ours=float(column["ours"].mean()),
            error=own,
            printed=printed,
            rule="near",
            tolerance=_ROUNDING / 2 + 3 * (float(np.hypot(own, theirs)) - own),
            why="Rounding in 27 numbers mostly cancels: half of it is allowed.",
        ),
        Figure(
            name="MAE of AUL by Theorem 1, mean of the 27 settings",
            ours=float(column["expected"].mean()),
            error=0.0,
            printed=printed,
            rule="near",
            tolerance=_ROUNDING / 2 + 3 * theirs,
        ),
        Figure(
            name="MAE of AUC with class prior by auto, mean of the 27 settings",
            ours=float(column["auc"].mean()),
            error=auc_error,
            printed=float(column["auc_printed"].mean()),
            rule="at most",
            why="Printed: the mean over the settings of the best of KM1, KM2 and Distance.",
        ),
        Figure(
            name="MAE of AUL over that of AUC with class prior by auto",
            ours=float(column["ours"].mean() / column["auc"].mean()),
            error=float(column["ours"].mean() / column["auc"].mean() ** 2 * auc_error),
            printed=0.5,
            rule="at most",
            why="Pattern: AUL errs far less. The paper has 1/6 of the best prior estimator's.",
        ),
        Figure(
            name="settings of 27 where AUL errs less than AUC",
            ours=float(np.sum(column["ours"] < column["auc"])),
            error=0.0,
            printed=27.0,
            rule="shown",
        ),
    )


def _figure2(repetitions: int, report: Report) -> RowResult:
    """Errors of AUL and AUC per data set, all label frequencies together."""
    boxes: list[dict[str, Any]] = []
    standardised, narrower = [], 0
    for done, (name, setting) in enumerate(SETTINGS.items()):
        found = [_errors(name, frequency, repetitions) for frequency in FREQUENCIES]
        by = {
            "AUL": np.concatenate([one.aul for one in found]),
            "AUC": np.concatenate([one.auc for one in found]),
        }
        standardised += [
            np.sqrt(2 / np.pi) * one.aul.mean() / (one.expected / np.sqrt(repetitions))
            for one in found
        ]
        width = {
            which: float(np.diff(np.quantile(of, (0.25, 0.75)))[0]) for which, of in by.items()
        }
        narrower += width["AUL"] < width["AUC"]
        for which, of in by.items():
            low, first, middle, third, high = np.quantile(of, (0, 0.25, 0.5, 0.75, 1)).tolist()
            boxes.append(
                {
                    "data": setting.title, "which": which, "low": low, "first": first,
                    "middle": middle, "third": third, "high": high, "mean": float(of.mean()),
                }
            )  # fmt: skip
        report(done + 1, len(SETTINGS))
    figures = (
        Figure(
            name="bias of AUL in standard errors, mean of the 27 settings",
            ours=float(np.mean(standardised)),
            error=1 / float(np.sqrt(len(standardised))),
            printed=0.0,
            rule="near",
            why="Theorem 1: unbiased. One setting's mean error has standard deviation 1 so.",
        ),
        Figure(
            name="data sets of 9 where AUL has the smaller interquartile range",
            ours=float(narrower),
            error=0.0,
            printed=9.0,
            rule="near",
            why="The text: it is the smallest for AUL.",
        ),
    )
    return RowResult(figures=figures, series={"boxes": boxes})


def _rows() -> tuple[Row, ...]:
    names = tuple(SETTINGS)
    lines = tuple(
        Row(
            id=f"aul-table1-{name}",
            paper="aul",
            title=f"Table 1, {setting.title}",
            data=(name,),
            run=partial(_table1, name),
            repetitions=_DRAWS_PRINTED,
            quick=10,
        )
        for name, setting in SETTINGS.items()
    )
    return (
        Row(
            id="aul-figure1",
            paper="aul",
            title="Figure 1: AUC and AUL of twenty rows",
            data=(),
            run=_figure1,
            repetitions=1,
            quick=1,
            draw=charts.curves,
            caption="ROC and lift curve of the twenty rows, with the true classes (blue) and with "
            "the labels alone (orange, dashed): the lift curves stay together.",
        ),
        Row(
            id="aul-table1-means",
            paper="aul",
            title="Table 1 as a whole: mean absolute errors",
            data=names,
            run=_means,
            repetitions=_DRAWS_PRINTED,
            quick=10,
            draw=charts.settings,
            caption="Mean absolute error in each of the 27 settings, ours against printed; AUL "
            "blue, AUC with an estimated class prior orange. On the line both agree.",
        ),
        Row(
            id="aul-figure2",
            paper="aul",
            title="Figure 2: distribution of the errors",
            data=names,
            run=_figure2,
            repetitions=_DRAWS_PRINTED,
            quick=10,
            draw=charts.boxes,
            caption="Errors of AUL (blue) and of AUC with an estimated class prior (orange): "
            "least to greatest, quartiles (bar), median (white) and mean (diamond).",
        ),
        *lines,
    )


ROWS: Final = (*_rows(), *aul_learners.ROWS)
