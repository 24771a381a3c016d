"""Figures 2 and 3 of Tabatabaei et al. (2020): the label frequency, and how F1 scatters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.reproduce.rows import Figure, Report, RowResult, generator, monte_carlo_error
from benchmarks.reproduce.tabatabaei_simulation import (
    Pool,
    estimated_f1,
    labels_of_size,
    true_f1,
)
from pumonitor.metrics import f1
from pumonitor.prior import METHODS, TwoSamples
from pumonitor.tables import ScoreTable

__all__ = ["elkan_noto_over_frequency", "pool_with_f1", "scatter_of_f1"]

FloatArray = NDArray[np.float64]

_SHARES: Final = np.arange(1, 10) / 10
_LABELED_FOR_ERRORS: Final = (10, 20, 30, 40)
_RUNS_FOR_ERRORS: Final = 25


def pool_with_f1(
    rng: np.random.Generator, make: Callable[[np.random.Generator], Pool], *, value: float
) -> Pool:
    """A pool whose only classifier has this F1, to .005, found by trying."""
    while True:
        pool = make(rng)
        near = np.flatnonzero(np.abs(true_f1(pool) - value) < 0.005)
        if near.size:
            return Pool(is_positive=pool.is_positive, flagged=pool.flagged[near[:1]])


def scatter_of_f1(row_id: str, pool: Pool, repetitions: int, report: Report) -> RowResult:
    """Figure 3: estimated F1 of one classifier over labelings, against the hypergeometric law."""
    truth = float(true_f1(pool)[0])
    sizes = np.arange(1, pool.positives)
    estimates = np.zeros((len(sizes), repetitions))
    for index, size in enumerate(sizes):
        rng = generator(row_id, index)
        labeled = labels_of_size(pool.is_positive, np.full(repetitions, size), rng)
        estimates[index] = estimated_f1(pool, labeled)[:, 0]
        report(index + 1, len(sizes) + len(_LABELED_FOR_ERRORS))
    deviations = np.array([_computed_deviation(pool, int(size)) for size in sizes])
    standardised = (estimates.mean(axis=1) - truth) / (deviations / np.sqrt(repetitions))
    variance_ratio = estimates.var(axis=1, ddof=1) / deviations**2
    figures = (
        Figure(
            name="F1 of the classifier",
            ours=truth,
            error=0.0,
            printed=0.44,
            rule="near",
            tolerance=0.005,
            why="Random classifiers are drawn until one has it, to rounding.",
        ),
        Figure(
            name="bias of estimated F1 in standard errors, mean over label frequencies",
            ours=float(standardised.mean()),
            error=monte_carlo_error(standardised),
            printed=0.0,
            rule="near",
            why="Section 4.1: the estimator is unbiased.",
        ),
        Figure(
            name="variance of estimated F1 over the computed one, mean over label frequencies",
            ours=float(variance_ratio.mean()),
            error=monte_carlo_error(variance_ratio),
            printed=1.0,
            rule="near",
            why="Section 4.1: Var = 4 Var(S1) / (rho M1 + S)^2, S1 hypergeometric.",
        ),
        *_standard_errors(row_id, pool, report, done=len(sizes)),
    )
    return RowResult(
        figures=figures, series=_points(sizes / pool.positives, estimates, truth, deviations)
    )


def _computed_deviation(pool: Pool, labeled: int) -> float:
    """Standard deviation of estimated F1, section 4.1."""
    positives = pool.positives
    flagged, hits = pool.flagged[0].sum(), (pool.flagged[0] & pool.is_positive).sum()
    share = hits / positives
    variance = labeled * share * (1 - share) * (positives - labeled) / (positives - 1)
    return float(2 * np.sqrt(variance) / (labeled / positives * flagged + labeled))


def _standard_errors(row_id: str, pool: Pool, report: Report, *, done: int) -> tuple[Figure, ...]:
    """pumonitor's own standard error for the window target, beside the computed deviation."""
    figures = []
    prior = float(pool.is_positive.mean())
    scores = pool.flagged[0].astype(np.float64)
    for index, size in enumerate(_LABELED_FOR_ERRORS):
        rng = generator(row_id, index, purpose="standard errors")
        labeled = labels_of_size(pool.is_positive, np.full(_RUNS_FOR_ERRORS, size), rng)
        errors = np.array(
            [
                f1(one.astype(np.int8), scores, class_prior=prior, target="window").se_sampling
                for one in labeled
            ]
        )
        exact = _computed_deviation(pool, size)
        figures.append(
            Figure(
                name=f"standard error by pumonitor, {size} labeled",
                ours=float(np.sqrt(np.mean(errors**2))),
                error=monte_carlo_error(errors**2) / (2 * float(np.sqrt(np.mean(errors**2)))),
                printed=exact,
                rule="near",
                tolerance=0.1 * exact,
                why=""
                if index
                else "Printed stands for the computed deviation. Estimated from the labeled rows, "
                "with half a row added to each count: a tenth is allowed.",
            )
        )
        report(done + index + 1, done + len(_LABELED_FOR_ERRORS))
    return tuple(figures)


def _points(
    frequency: FloatArray, estimates: FloatArray, truth: float, deviations: FloatArray
) -> dict[str, Any]:
    return {
        "frequency": frequency.tolist(),
        "estimates": np.round(estimates, 5).tolist(),
        "mean": estimates.mean(axis=1).tolist(),
        "deviation": estimates.std(axis=1, ddof=1).tolist(),
        "truth": truth,
        "computed": deviations.tolist(),
    }


def elkan_noto_over_frequency(
    row_id: str,
    features: FloatArray,
    is_positive: NDArray[np.bool_],
    repetitions: int,
    report: Report,
) -> RowResult:
    """Figure 2: the label frequency from a classifier of labeled against unlabeled rows."""
    sizes = np.round(_SHARES * is_positive.sum()).astype(np.int64)
    estimates = np.zeros((len(sizes), repetitions))
    for index, size in enumerate(sizes):
        rng = generator(row_id, index)
        labeled = labels_of_size(is_positive, np.full(repetitions, size), rng)
        estimates[index] = [_frequency(features, one) for one in labeled]
        report(index + 1, len(sizes))
    frequency = sizes / is_positive.sum()
    relative = estimates / frequency[:, np.newaxis]
    spread = relative.std(axis=1, ddof=1)
    # A standard deviation from n draws has itself one of about sd / sqrt(2 (n - 1)).
    shrink = spread[0] - spread[-1]
    noise = np.sqrt((spread[0] ** 2 + spread[-1] ** 2) / (2 * (repetitions - 1)))
    figures = (
        Figure(
            name=f"relative spread of the estimate at {frequency[0]:.2f} less at "
            f"{frequency[-1]:.2f}",
            ours=float(shrink),
            error=float(noise),
            printed=0.0,
            rule="at least",
            why="The text: as the label frequency rises, the estimate varies less.",
        ),
        *(
            Figure(
                name=f"mean estimate at {frequency[index]:.2f}",
                ours=float(estimates[index].mean()),
                error=monte_carlo_error(estimates[index]),
                printed=None,
                rule="shown",
            )
            for index in (0, 4, 8)
        ),
    )
    series = {"frequency": frequency.tolist()} | {
        name: np.quantile(estimates, share, axis=1).tolist()
        for name, share in (("low", 0.0), ("p10", 0.1), ("p90", 0.9), ("high", 1.0))
    }
    note = (
        "Random forests of ten trees learn labeled against unlabeled; each labeled row is scored "
        "by one that has not seen it. The authors also tried logistic regression, whose scores are "
        "further from the probability of a label."
    )
    series["mean"] = estimates.mean(axis=1).tolist()
    return RowResult(figures=figures, note=note, series=series)


def _frequency(features: FloatArray, labeled: NDArray[np.bool_]) -> float:
    """Elkan-Noto's c through pumonitor; labeled rows are scored by models that left them out."""
    from sklearn.ensemble import RandomForestClassifier

    # Ten trees: scikit-learn's default when the authors ran their notebooks.
    model = RandomForestClassifier(n_estimators=10, random_state=0)
    scores = model.fit(features, labeled).predict_proba(features)[:, 1]
    for row in np.flatnonzero(labeled):
        others = np.arange(len(labeled)) != row
        model.fit(features[others], labeled[others])
        scores[row] = model.predict_proba(features[row : row + 1])[0, 1]
    table = ScoreTable.from_arrays(labeled.astype(np.int8), scores)
    unlabeled_prior = float(METHODS["elkan_noto"](TwoSamples.from_table(table))[0])
    count = float(labeled.sum())
    return count / (count + unlabeled_prior * (len(labeled) - count))
