"""Table 2 of Tabatabaei et al. (2020): how far estimated F1 and LL are from F1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from benchmarks.reproduce.rows import Figure, Report, RowResult, generator, monte_carlo_error
from benchmarks.reproduce.tabatabaei_simulation import (
    Pool,
    estimated_f1,
    estimated_ll,
    generated_points,
    heart_forests,
    iris_hyperplanes,
    labels_of_size,
    true_f1,
)

__all__ = ["generated", "heart", "iris"]

_FREQUENCY: Final = 0.30
_CLASSIFIERS: Final = 100
_ONE_RUN: Final = "The paper's number is one run: twice the spread between our runs is allowed."


def _run(
    row_id: str,
    make_pool: Callable[[np.random.Generator], Pool],
    repetitions: int,
    report: Report,
    *,
    printed: tuple[float, float],
    undefined_as_zero: bool,
) -> tuple[list[Figure], dict[str, Any]]:
    """RMSE of estimated F1 and of LL against F1, over the classifiers of a run."""
    squares: dict[str, list[float]] = {"F1": [], "LL": [], "LL without M": []}
    series: dict[str, Any] = {}
    for repetition in range(repetitions):
        rng = generator(row_id, repetition)
        pool = make_pool(rng)
        size = np.array([round(_FREQUENCY * pool.positives)])
        labeled = labels_of_size(pool.is_positive, size, rng)
        truth = true_f1(pool)
        estimated, score = estimated_f1(pool, labeled)[0], estimated_ll(pool, labeled)[0]
        kept = np.ones(len(truth), bool) if undefined_as_zero else (truth > 0) & (score > 0)
        rows = len(pool.is_positive)
        for name, values in (("F1", estimated), ("LL", score), ("LL without M", score / rows)):
            squares[name].append(float(np.sqrt(np.mean((values[kept] - truth[kept]) ** 2))))
        if not series:
            shown = np.flatnonzero(kept)[:300]
            series = {
                "truth": truth[shown].tolist(),
                "f1": estimated[shown].tolist(),
                "ll": score[shown].tolist(),
            }
        report(repetition + 1, repetitions)
    figures = [
        _one_run_figure(f"RMSE of {name}", squares[name], value)
        for name, value in zip(("F1", "LL"), printed, strict=True)
    ]
    if undefined_as_zero:
        figures.append(
            _one_run_figure("RMSE of LL without its factor M", squares["LL without M"], printed[1])
        )
    return figures, series


def _one_run_figure(name: str, runs: list[float], printed: float) -> Figure:
    spread = float(np.std(runs, ddof=1))
    return Figure(
        name=name,
        ours=float(np.mean(runs)),
        error=monte_carlo_error(runs),
        printed=printed,
        rule="near",
        tolerance=2 * spread,
        why=f"{_ONE_RUN} One run varies by {spread:.3f}.",
    )


def generated(repetitions: int, report: Report) -> RowResult:
    """The first column."""
    figures, series = _run(
        "tabatabaei-table2-generated",
        partial(generated_points, classifiers=_CLASSIFIERS),
        repetitions,
        report,
        printed=(0.064, 0.772),
        undefined_as_zero=False,
    )
    note = (
        "200 points, 100 lines; lines whose F1 is undefined are left out, as in the authors' "
        "notebook, which prints .0649 and .7725 for one data set. The text does not say which "
        "side of a line is flagged: above it is taken (below it LL would come to about .35)."
    )
    return RowResult(figures=tuple(figures), note=note, series=series)


def iris(repetitions: int, report: Report) -> RowResult:
    """The second column."""
    figures, series = _run(
        "tabatabaei-table2-iris",
        partial(iris_hyperplanes, classifiers=1000, positive="virginica"),
        repetitions,
        report,
        printed=(0.060, 0.420),
        undefined_as_zero=True,
    )
    by_formula, as_printed = figures[1], figures[2]
    figures[1] = Figure(
        name="RMSE of LL by the paper's formula",
        ours=by_formula.ours,
        error=by_formula.error,
        printed=by_formula.printed,
        rule="shown",
        why="Not what was printed: see the note.",
    )
    note = (
        "Virginica against the others, 1000 hyperplanes, undefined scores count as 0, as in the "
        "authors' notebook. Its LL score divides by the number of flagged rows and not by their "
        "share (it shows .0055 where F1 is .47), which leaves the order as it is but not the "
        "distance: without the factor M the printed .420 comes out, with it .55."
    )
    return RowResult(figures=(figures[0], as_printed, figures[1]), note=note, series=series)


def heart(repetitions: int, report: Report) -> RowResult:
    """The third column."""
    figures, series = _run(
        "tabatabaei-table2-heart",
        partial(heart_forests, classifiers=_CLASSIFIERS),
        repetitions,
        report,
        printed=(0.089, 0.344),
        undefined_as_zero=False,
    )
    note = (
        "Neither the text nor the published notebooks say what the forests are trained and judged "
        "on. Here they learn the true classes of 70% of the patients and are judged on the "
        "others, 100 forests a run. With some 12 labeled patients one run says little about LL: "
        "its distance depends on whether the labeled ones happened to be flagged."
    )
    return RowResult(figures=tuple(figures), note=note, series=series)
