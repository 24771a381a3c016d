"""How an estimate moves with the class prior: the same estimate at many priors, each as known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.diagnostics.prior_too_high import highest_possible_prior
from pumonitor.metrics import THRESHOLD_METRICS
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.average_precision import average_precision_estimate
from pumonitor.metrics.f_beta import f_beta_metric
from pumonitor.metrics.maxima import maxima
from pumonitor.metrics.predicted_positive_rate import PREDICTED_POSITIVE_RATE
from pumonitor.metrics.prior_quantities import (
    class_prior_estimate,
    label_frequency_estimate,
    unlabeled_prior_estimate,
)
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import rates_with_draws, share_draws_at
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.top_k import top_k_estimates
from pumonitor.metrics.uncorrected import (
    UNCORRECTED_AT_THRESHOLD,
    uncorrected_at,
    uncorrected_ranking,
)
from pumonitor.prior.samples.population import confirmed_share, refuse_below_confirmed
from pumonitor.results import ClassPriorEstimate, Estimate, Scenario, Target
from pumonitor.results.sensitivity import Sensitivity
from pumonitor.tables import ScoreTable

T = TypeVar("T")

_GRID = 37
_MOST_CELLS = 65_536
_AT_THRESHOLD = (*THRESHOLD_METRICS, PREDICTED_POSITIVE_RATE)
_RANKING = {
    "aul": aul_estimate,
    "auc": auc_estimate,
}
_WITHOUT_SHARED_DRAWS = {
    "average_precision": average_precision_estimate,
    "class_prior": class_prior_estimate,
    "unlabeled_prior": unlabeled_prior_estimate,
    "label_frequency": label_frequency_estimate,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AtPriors:
    """What is needed to estimate again at another class prior: the table and the settings.

    Nothing is computed before it is asked for. The table has about two cells for each labeled row
    (40 bytes each, 120 with weights); beyond 65,536 cells it is compressed, and the areas and best
    thresholds then differ from the evaluation's by its resolution.
    """

    table: ScoreTable
    class_prior: ClassPriorEstimate
    scenario: Scenario
    label_purity: float
    target: Target
    confidence_level: float
    seed: int
    threshold: float
    top_k: float
    f_beta: float
    cells: int

    @classmethod
    def of(
        cls,
        problem: Problem,
        class_prior: ClassPriorEstimate,
        *,
        threshold: float,
        top_k: float,
        f_beta: float,
        cells: int,
    ) -> AtPriors:
        """The table of a problem and how it was evaluated; `cells` are those of its resamples."""
        table = problem.table
        if len(table) > _MOST_CELLS:
            table = table.compress(_MOST_CELLS, thresholds=(threshold,))
        return cls(
            table=table,
            class_prior=class_prior,
            scenario=problem.scenario,
            label_purity=problem.label_purity,
            target=problem.target,
            confidence_level=problem.confidence_level,
            seed=problem.seed,
            threshold=threshold,
            top_k=top_k,
            f_beta=f_beta,
            cells=cells,
        )

    def __call__(
        self, name: str, class_priors: Sequence[float] | None, *, steps: int = _GRID
    ) -> Sensitivity:
        """The estimate of that name at the priors, or at a grid that holds all that matters.

        `steps` are even ones of the grid.
        """
        possible = self._possible()
        grid = self._grid(possible, steps) if class_priors is None else self._checked(class_priors)
        problem = make_problem(
            self.table,
            ClassPriorEstimate.given(float(grid[0])),
            scenario=self.scenario,
            label_purity=self.label_purity,
            target=self.target,
            confidence_level=self.confidence_level,
            rng=self.seed,
        )
        estimate = self._estimator(name, problem)
        return Sensitivity(
            name=name,
            priors=grid,
            estimates=tuple(
                estimate(replace(problem, class_prior=ClassPriorEstimate.given(prior)))
                for prior in grid.tolist()
            ),
            class_prior=self.class_prior,
            possible=possible,
            identified_set=self._identified_set(possible),
        )

    def _estimator(self, name: str, problem: Problem) -> Callable[[Problem], Estimate]:
        """The estimate as a function of a problem that differs in its (known) prior only."""
        at_threshold = {metric.name: metric for metric in _AT_THRESHOLD}
        at_threshold["f_beta"] = f_beta_metric(self.f_beta)
        if name in at_threshold:
            metric = at_threshold[name]
            index = self.table.index_of_threshold(self.threshold)
            g, theta = float(problem.labeled_above[index]), float(problem.population_above[index])
            drawn = _once(problem, lambda held: share_draws_at(held, index))
            return lambda held: metric.estimate(rates_with_draws(held, g, theta, drawn(held)))
        if name in _RANKING:
            lift, ranking = _once(problem, observed_lift), _RANKING[name]
            return lambda held: ranking(held, lift(held))
        if name in _WITHOUT_SHARED_DRAWS:
            return _WITHOUT_SHARED_DRAWS[name]
        if name.endswith("_at_k"):
            return lambda held: _named(name, top_k_estimates(held, self.top_k))
        if name.endswith("_pu"):
            return _once(problem, lambda held: self._uncorrected(name, held))
        # The best values over all thresholds and where they are.
        resampled = _once(
            problem,
            lambda held: resample(
                held, cells=self.cells, thresholds=(self.threshold,), at="labeled"
            ),
        )
        return lambda held: _named(name, maxima(held, resampled(held)))

    def _uncorrected(self, name: str, problem: Problem) -> Estimate:
        for metric in UNCORRECTED_AT_THRESHOLD:
            if name == f"{metric.name}_pu":
                index = problem.table.index_of_threshold(self.threshold)
                drawn = share_draws_at(problem, index)
                return metric.estimate(uncorrected_at(problem, index, drawn), name=name)
        return _named(name, uncorrected_ranking(problem))

    def _possible(self) -> tuple[float, float]:
        """Share of the population already confirmed, and the highest prior the scores allow."""
        highest = highest_possible_prior(
            self.table, scenario=self.scenario, label_purity=self.label_purity
        )
        least = confirmed_share(self.table, scenario=self.scenario, label_purity=self.label_purity)
        return least, highest

    def _identified_set(self, possible: tuple[float, float]) -> tuple[float, float]:
        """Priors that fit the data, whether or not some negatives are unlike all positives."""
        taken_as_known = self.class_prior.method in ("given", "given interval")
        return possible if taken_as_known else self.class_prior.identified_set

    def _grid(self, possible: tuple[float, float], steps: int) -> FloatArray:
        """Even steps over the priors that fit and a little more; all that is marked is a step.

        The highest prior that the scores allow can be far above any that is meant, with few
        confirmed positives: no further than twice the interval's upper end.
        """
        prior, (confirmed, highest) = self.class_prior, possible
        beyond = 1.1 * max(prior.high, min(highest, 2 * prior.high))
        # At the label purity itself labels tell nothing: formulas divide by the difference.
        last = max(min(beyond, 0.99 * self.label_purity), prior.value)
        first = min(max(confirmed, last / 1000), prior.low)
        marked = np.array([prior.value, prior.low, prior.high, highest])
        grid = np.concatenate([np.linspace(first, last, steps), marked])
        return np.unique(grid[(grid >= first) & (grid <= last)])

    def _checked(self, class_priors: Sequence[float]) -> FloatArray:
        grid = np.unique(np.asarray(class_priors, dtype=np.float64))
        if len(grid) == 0:
            msg = "class_priors must hold at least one class prior, got none"
            raise ValueError(msg)
        wrong = grid[~((grid > 0) & (grid < self.label_purity))]
        if len(wrong):
            msg = (
                f"class_priors must satisfy 0 < class prior < label_purity={self.label_purity:g}: "
                f"{len(wrong)} of {len(grid)} do not, for example {wrong[0]:g}"
            )
            raise ValueError(msg)
        if self.scenario == "single-training-set":
            least = ClassPriorEstimate.given(float(grid[0]))
            refuse_below_confirmed(least, self.table, label_purity=self.label_purity)
        return grid


def _once(problem: Problem, compute: Callable[[Problem], T]) -> Callable[[Problem], T]:
    """Of something whose draws no prior enters: the same at all, but for the window target.

    There how much of the window is known, and so the spread, depends on how many positives
    there are.
    """
    if problem.target == "window":
        return compute
    found = compute(problem)
    return lambda _: found


def _named(name: str, estimates: Iterable[Estimate]) -> Estimate:
    return next(estimate for estimate in estimates if estimate.name == name)
