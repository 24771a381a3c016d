"""Which estimate of AUC to use everywhere: `python -m benchmarks.auc_routes`.

Three estimates from the same rows and class prior are compared with the AUC of the process:

- ``direct``: the observed AUL solved for AUC, (AUL - pi / 2) / (1 - pi);
- ``indirect``: the area under the recovered ROC curve (Jain et al. 2017, Algorithm 1);
- ``blend``: the direct one at AUC .75 and below, the indirect one at .85 and above.

The class prior is exact, stated with an interval, stated wrongly, or estimated by ``auto``. Values
are held to [0, 1], as they are shown. The direct interval is that of `pumonitor.metrics.auc`; the
indirect estimate has none, and gets quantiles of the areas of 400 redrawn curves here. ``gap`` is
|AUL - pi / 2 - (1 - pi) AUC| of the blend, which is 0 for the direct estimate.

Rows are simulated, or drawn from real data sets scored by a cross-fitted model (left out where
their files are not there).
"""

from __future__ import annotations

import argparse
import itertools
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.prior.real import present
from benchmarks.prior.tasks import Task
from benchmarks.propensities import POLICIES
from benchmarks.propensities import simulate as simulate_with_propensities
from benchmarks.recovered_curves import area, indirect_auc
from benchmarks.simulation import Design, process_truth, simulate
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.ranking import auc_from_lift, observed_lift
from pumonitor.metrics.resampled import resample
from pumonitor.prior import resolve_class_prior
from pumonitor.results import ClassPriorEstimate, Scenario
from pumonitor.tables import ScoreTable

FloatArray = NDArray[np.float64]

ROUTES: Final = ("direct", "indirect", "blend")
_BLENDED: Final = (0.75, 0.85)
_OWN_CELLS: Final = 200
_STATED_ERROR: Final = 0.15
PRIORS_GIVEN: Final = ("exact", "interval", "a third too high", "a quarter too low", "auto")
LABELED: Final = (20, 50, 200, 1000)
PRIORS: Final = (0.02, 0.1, 0.3)
AUCS: Final = (0.65, 0.8, 0.9, 0.95, 0.98)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one sample gave: an error by route, and the intervals."""

    errors: tuple[float, float, float]
    held: bool
    width: float
    own_held: float
    own_width: float
    gap: float


def stated_prior(
    kind: str, truth: float, table: ScoreTable, *, scenario: Scenario, rng: np.random.Generator
) -> ClassPriorEstimate:
    """The class prior as somebody would give it."""
    if kind == "auto":
        return resolve_class_prior(
            "auto", table, scenario=scenario, label_purity=1.0, confidence_level=0.95, rng=0
        )
    if kind == "interval":
        value = truth * float(np.exp(_STATED_ERROR * rng.normal()))
        reach = float(np.exp(1.96 * _STATED_ERROR))
        return ClassPriorEstimate.given((value, value / reach, min(value * reach, 0.95)))
    times = {"exact": 1.0, "a third too high": 4 / 3, "a quarter too low": 3 / 4}[kind]
    return ClassPriorEstimate.given(truth * times)


def own_interval(problem: Problem) -> tuple[float, float]:
    """Quantiles of the areas under redrawn curves, with redrawn priors."""
    drawn = resample(problem, cells=_OWN_CELLS)
    areas = [
        area(labeled, population, float(prior), label_purity=problem.label_purity)
        for labeled, population, prior in zip(
            drawn.labeled_draws, drawn.population_draws, drawn.prior_draws[:, 0], strict=True
        )
    ]
    low, high = np.quantile(areas, [0.025, 0.975])
    return float(low), float(high)


def measured(
    table: ScoreTable,
    prior: ClassPriorEstimate,
    truth: float,
    *,
    scenario: Scenario,
    label_purity: float,
    own: bool,
) -> Found:
    """All routes on one table with one class prior."""
    problem = make_problem(table, prior, scenario=scenario, label_purity=label_purity)
    lift = observed_lift(problem)
    shown = auc_estimate(problem, lift)
    pi = prior.value
    direct = float(auc_from_lift(lift.value, pi, label_purity))
    indirect = indirect_auc(problem)
    sampling = float(np.std(auc_from_lift(lift.draws, pi, label_purity)))
    low, high = _BLENDED
    weight = min(max((direct + sampling - low) / (high - low), 0.0), 1.0)
    blend = (1 - weight) * direct + weight * indirect
    low, high = own_interval(problem) if own else (np.nan, np.nan)
    errors = np.clip([direct, indirect, blend], 0.0, 1.0) - truth
    return Found(
        errors=(float(errors[0]), float(errors[1]), float(errors[2])),
        held=shown.low <= truth <= shown.high,
        width=shown.displayed[2] - shown.displayed[1],
        own_held=float(low <= truth <= high) if own else np.nan,
        own_width=high - low,
        gap=abs(aul_estimate(problem, lift).value - pi / 2 - (1 - pi) * blend),
    )


def of_design(
    design: Design, kinds: Iterable[str], *, runs: int, own: bool, policy: str | None = None
) -> Iterator[tuple[str, Found]]:
    """Every kind of class prior on the same simulated windows."""
    truth, key = process_truth(design)["auc"], zlib.crc32(repr((design, policy)).encode())
    for run in range(runs):
        rng = np.random.default_rng([run, key])
        propensity = None
        window = simulate(design, rng)
        if policy is not None:
            drawn = simulate_with_propensities(
                design, POLICIES[policy], effective=design.n_labeled, rng=rng
            )
            window, propensity = drawn.window, drawn.propensity
        if np.count_nonzero(window.labels == 1) < 2:
            continue
        table = ScoreTable.from_arrays(
            window.labels, window.scores, propensity=propensity, density_edges=0
        )
        for kind in kinds:
            prior = stated_prior(kind, design.class_prior, table, scenario=design.scenario, rng=rng)
            if prior.value < 0.99 * design.label_purity:
                yield (
                    kind,
                    measured(
                        table,
                        prior,
                        truth,
                        scenario=design.scenario,
                        label_purity=design.label_purity,
                        own=own,
                    ),
                )


@lru_cache(maxsize=1)
def scored(task: Task) -> tuple[FloatArray, NDArray[np.bool_], float]:
    """Scores of all rows of a task by models that did not see them, classes, and their AUC."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    features, positive = task.rows()
    rows = np.random.default_rng(0).permutation(len(positive))[:20_000]
    features, positive = features[rows], positive[rows]
    # A model that knows a few hundred rows: with all of them most of these data sets are solved.
    model = HistGradientBoostingClassifier(random_state=0, max_iter=20, max_leaf_nodes=4)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_predict(model, features, positive, cv=folds, method="predict_proba")[:, 1]
    return np.asarray(scores), positive, float(roc_auc_score(positive, scores))


def of_task(
    task: Task, kinds: Iterable[str], *, n_labeled: int, prior: float, runs: int, own: bool
) -> Iterator[tuple[str, Found]]:
    """Windows drawn with replacement from the scored rows of a task."""
    scores, positive, truth = scored(task)
    groups = np.flatnonzero(~positive), np.flatnonzero(positive)
    rows = round(n_labeled / (0.3 * prior))
    for run in range(runs):
        rng = np.random.default_rng([run, n_labeled, round(1000 * prior), len(positive)])
        is_positive = rng.random(rows) < prior
        picked = np.where(
            is_positive, rng.choice(groups[1], size=rows), rng.choice(groups[0], size=rows)
        )
        labels = (is_positive & (rng.random(rows) < 0.3)).astype(np.int8)
        if labels.sum() < 2:
            continue
        table = ScoreTable.from_arrays(labels, scores[picked], density_edges=0)
        for kind in kinds:
            stated = stated_prior(kind, prior, table, scenario="single-training-set", rng=rng)
            if stated.value < 0.99:
                yield (
                    kind,
                    measured(
                        table,
                        stated,
                        truth,
                        scenario="single-training-set",
                        label_purity=1.0,
                        own=own,
                    ),
                )


def other_designs() -> Iterator[tuple[str, Design, str | None]]:
    """Designs beside the plain ones, with the policy of labeling."""
    for auc, n_labeled in itertools.product((0.8, 0.95), (50, 200)):
        plain = Design(
            scenario="single-training-set", n_labeled=n_labeled, class_prior=0.1, auc=auc
        )
        yield "ties", replace(plain, decimals=0), None
        yield "purity .9", replace(plain, label_purity=0.9), None
        yield "purity .75", replace(plain, label_purity=0.75), None
        yield "case-control", replace(plain, scenario="case-control"), None
        yield "propensities", plain, "rising"


HEADER: Final = (
    f"{'':34}{'root mean squared error':>27}{'bias':>27}{'95% interval: held, width':>28}"
    f"{'AUL gap of the blend':>27}\n"
    f"{'':34}" + "".join(f"{route:>9}" for route in ROUTES)
    + "".join(f"{route:>9}" for route in ROUTES)
    + f"{'direct':>14}{'indirect':>14}{'mean':>11}{'most':>8}{'>.001':>8}"
)  # fmt: skip


def line(title: str, found: list[Found]) -> str:
    """One line of the table."""
    errors = np.array([one.errors for one in found])
    gaps = np.array([one.gap for one in found])
    root = np.sqrt(np.mean(errors**2, axis=0))
    return (
        f"{title:34}"
        + "".join(f"{value:9.4f}" for value in root)
        + "".join(f"{value:+9.4f}" for value in errors.mean(axis=0))
        + f"{np.mean([one.held for one in found]):8.3f}"
        + f"{np.mean([one.width for one in found]):6.3f}"
        + f"{np.mean([one.own_held for one in found]):8.3f}"
        + f"{np.mean([one.own_width for one in found]):6.3f}"
        + f"{gaps.mean():11.4f}{gaps.max():8.4f}{np.mean(gaps > 0.001):8.3f}"
    )


def show(found: Mapping[tuple[str, str], list[Found]]) -> None:
    """All lines, those of a kind of class prior together."""
    print(HEADER)
    rank = {kind: place for place, kind in enumerate(PRIORS_GIVEN)}
    for key in sorted(found, key=lambda key: rank.get(key[0], -1)):
        print(line(f"{key[0]:17} {key[1]}", found[key]), flush=True)


def simulated(*, runs: int, own: bool) -> None:
    """Every kind of class prior over label counts, priors and AUCs."""
    tables: dict[str, dict[tuple[str, str], list[Found]]] = {
        "AUC": defaultdict(list),
        "labeled rows": defaultdict(list),
        "class prior": defaultdict(list),
    }
    for n_labeled, prior, auc in itertools.product(LABELED, PRIORS, AUCS):
        design = Design(
            scenario="single-training-set", n_labeled=n_labeled, class_prior=prior, auc=auc
        )
        for kind, found in of_design(design, PRIORS_GIVEN, runs=runs, own=own):
            tables["AUC"][kind, f"AUC {auc}"].append(found)
            tables["labeled rows"][kind, f"{n_labeled} labeled"].append(found)
            tables["class prior"][kind, f"prior {prior}"].append(found)
    for title, found_by in tables.items():
        print(f"\nBy {title}: simulated, {runs} windows per design")
        show(found_by)


def other_samples(*, runs: int, own: bool) -> None:
    """Ties, mistaken labels, case-control and propensities, with the class prior exact."""
    found_by: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for name, design, policy in other_designs():
        for _, found in of_design(design, ("exact",), runs=runs, own=own, policy=policy):
            found_by[name, f"AUC {design.auc}"].append(found)
    print("\nSimulated, class prior .1 and exact, 50 and 200 labeled")
    show(found_by)


def real(*, runs: int, own: bool) -> None:
    """Rows of real data sets."""
    by_task: dict[tuple[str, str], list[Found]] = defaultdict(list)
    together: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for task in present():
        auc = scored(task)[2]
        for n_labeled, prior in itertools.product((50, 200), (0.03, 0.2)):
            for kind, found in of_task(
                task, PRIORS_GIVEN, n_labeled=n_labeled, prior=prior, runs=runs, own=own
            ):
                together[kind, f"{n_labeled} labeled"].append(found)
                if kind in ("exact", "auto"):
                    by_task[f"{task.name} {auc:.3f}", kind].append(found)
    print(f"\nReal data sets with their AUC, 50 and 200 labeled, priors .03 and .2, {runs} windows")
    show(by_task)
    print("\nAll of them")
    show(together)


SECTIONS: Final = {"simulated": simulated, "other": other_samples, "real": real}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="samples per design")
    parser.add_argument("--only", choices=SECTIONS, help="one part of it")
    parser.add_argument("--no-own-interval", action="store_true", help="no redrawn curves: fast")
    arguments = parser.parse_args()
    for name, section in SECTIONS.items():
        if arguments.only in (None, name):
            section(runs=arguments.runs, own=not arguments.no_own_interval)


if __name__ == "__main__":
    main()
