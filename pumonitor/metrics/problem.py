"""Problem: the two score distributions and the class prior that every metric is a function of.

With G the distribution of labeled rows and F that of the population being monitored,

    G = b f1 + (1 - b) f0,        F = pi f1 + (1 - pi) f0,

where f1, f0 are the scores of positives and negatives, b is the label purity and pi the class
prior. In the single-training-set scenario F is every row; in case-control F is the unlabeled
rows. Everything else follows: the notation in terms of the unlabeled prior a (Jain et al. 2017,
equations 1-2) is the same algebra, since pi = q b + (1 - q) a with q the labeled fraction.
Confirmed negatives belong to the population in the single-training-set scenario, and come from
elsewhere, like the labeled rows, in case-control.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.metrics.on_demand import OnDemand
from pumonitor.metrics.prior_draws import (
    DRAWS,
    PriorDraws,
    draws_of_prior,
    population_prior,
    prior_at_frequency,
)
from pumonitor.metrics.running_sums import RunningSums, above
from pumonitor.metrics.settings import check_settings
from pumonitor.results import ClassPriorEstimate, Estimate, Scenario, Target, undefined
from pumonitor.stats.confidence_draws import Order, share_draws
from pumonitor.stats.effective_rows import effective_rows
from pumonitor.tables import ScoreTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """One table in one scenario, with what all metrics need computed once.

    Attributes
    ----------
    table : ScoreTable
    scenario, target, label_purity, confidence_level
        As in `pumonitor.evaluate`.
    class_prior : ClassPriorEstimate
        pi.
    labeled_above, population_above : ndarray of shape (cells + 1,)
        Share of G and of F in cell i and higher; the last is 0.
    labeled_fraction : float
        q: labeled rows over all rows of the table.
    labeled_size, rest_size, population_size : float
        Effective numbers of rows behind G, behind the rows of F that are not labeled, behind F
        (Kish: the squared sum of weights over the sum of squares).
    correct_prior_bias : bool
        Whether values are freed of the bias that an uncertain class prior gives them.
    seed : int
        Every metric draws from generators made of it, so results can be repeated.
    on_demand : OnDemand
        Draws and sums that not every use of a problem needs.
    """

    table: ScoreTable
    scenario: Scenario
    target: Target
    label_purity: float
    confidence_level: float
    class_prior: ClassPriorEstimate
    labeled_above: FloatArray
    population_above: FloatArray
    labeled_fraction: float
    labeled_size: float
    rest_size: float
    population_size: float
    correct_prior_bias: bool
    seed: int
    on_demand: OnDemand

    @property
    def prior_draws(self) -> FloatArray | None:
        """Confidence draws of pi; None when it is known."""
        return self.on_demand.of_prior.prior

    @property
    def unlabeled_draws(self) -> FloatArray | None:
        """Those of a (as a share of all rows not labeled), when a was estimated and pi follows."""
        return self.on_demand.of_prior.unlabeled

    @property
    def frequency_draws(self) -> FloatArray | None:
        """Those of the label frequency c, when that was given and pi = q b / c."""
        return self.on_demand.of_prior.frequency

    @property
    def fraction_draws(self) -> FloatArray:
        """Those of the labeled fraction q."""
        return self.on_demand.fraction

    @property
    def sums(self) -> RunningSums:
        """Second moments of the weights, for variances at any threshold."""
        return self.on_demand.sums

    @cached_property
    def labeled_share(self) -> FloatArray:
        """G: share of the labeled weight per cell."""
        return np.asarray(self.table.labeled / self.table.labeled.sum())

    @cached_property
    def rest(self) -> FloatArray:
        """Weight per cell of the population's rows that are not labeled."""
        return _rest(self.table, self.scenario)

    @cached_property
    def rest_squares(self) -> FloatArray:
        """Sum per cell of the squared weights of those rows."""
        return _rest_squares(self.table, self.scenario)

    @cached_property
    def population(self) -> FloatArray:
        """Weight per cell of the population's rows."""
        return _population(self.table, self.scenario)

    @cached_property
    def population_share(self) -> FloatArray:
        """F: share of the population's weight per cell."""
        population = self.population
        return np.asarray(population / population.sum())

    @cached_property
    def labeled_degrees(self) -> float:
        """Degrees of freedom of a variance estimated from the labeled rows; n_L - 1 unweighted.

        The variance of a sum of unequal weights w rests on (sum w^2)^2 / sum w^4 rows
        (Satterthwaite), which few heavy rows make few: far fewer than the (sum w)^2 / sum w^2 that
        the sum itself rests on. Intervals covered 97% or more with the first and 75 to 90% with
        the second at 20 to 50 effective rows; the geometric mean of both is taken.
        """
        if self.table.entities is not None:
            # As many as entities of equal size: few large ones tell little of a variance.
            return self.table.n_labeled / self.table.size_design_effect - 1
        squares = self.table.labeled_squares
        held = squares > 0
        rows = self.table.labeled_mass[held] ** 2 / self.table.labeled_mass_squares[held]
        of_variance = float(squares.sum()) ** 2 / float(np.sum(squares[held] ** 2 / rows))
        return math.sqrt(self.labeled_size * of_variance) - 1

    def generator(self, purpose: str) -> np.random.Generator:
        """The generator for one purpose: the same at every call, independent of the others.

        Draws of two quantities that are independent must not come from one stream begun twice.
        """
        return stream(self.seed, purpose)

    def order(self, purpose: str) -> Order:
        """The order of the draws for one purpose, which no generator is begun for besides."""
        return _order(self.seed, purpose)

    def prior_draws_with(self, fraction: FloatArray) -> FloatArray:
        """Draws of pi that go with draws of the labeled fraction q.

        A prior that was estimated is estimated as the unlabeled prior a: pi = q b + (1 - q) a.
        With a given label frequency it is pi = q b / c.
        """
        if self.frequency_draws is not None:
            return prior_at_frequency(
                fraction, self.frequency_draws, label_purity=self.label_purity
            )
        if self.unlabeled_draws is None:
            return (
                np.full(DRAWS, self.class_prior.value)
                if self.prior_draws is None
                else self.prior_draws
            )
        return population_prior(fraction, self.unlabeled_draws, label_purity=self.label_purity)

    @cached_property
    def prior_alone(self) -> FloatArray:
        """Draws of pi with the sample, and so the labeled fraction, held as it is."""
        return self.prior_draws_with(np.full(DRAWS, self.labeled_fraction))

    def on_table(self, table: ScoreTable) -> Problem:
        """The same settings on another table of the same rows; the draws are the same too."""
        return make_problem(
            table,
            self.class_prior,
            scenario=self.scenario,
            label_purity=self.label_purity,
            target=self.target,
            confidence_level=self.confidence_level,
            correct_prior_bias=self.correct_prior_bias,
            rng=self.seed,
        )

    def sample_facts(self) -> dict[str, Any]:
        """Numbers of rows, and whether they are weighted, as the settings of results state them."""
        return {
            "n_labeled": self.table.n_labeled,
            "n_unlabeled": self.table.n_unlabeled,
            "n_negative": self.table.n_negative,
            "effective_labeled": self.labeled_size,
            "weighted": self.table.weights is not None,
            "propensities": self.table.has_propensities,
            **self.table.weight_facts(),
            **self.table.entity_facts(),
        }

    def undefined(self, name: str, reason: str) -> Estimate:
        """An estimate without a value."""
        return undefined(
            name,
            reason,
            confidence_level=self.confidence_level,
            n_labeled=self.table.n_labeled,
            n_unlabeled=self.table.n_unlabeled,
        )

    @property
    def prior_for_ranges(self) -> float:
        """The class prior, NaN when the metric was asked for without one."""
        return math.nan if self.class_prior.method == "not used" else self.class_prior.value

    @property
    def label_share(self) -> float:
        """Labeled weight over the weight of the population's positives: c without propensities.

        With propensities a labeled row stands for 1 / propensity positives, and this is near 1.
        """
        return float(self.label_share_at(self.class_prior.value))

    def label_share_at(self, class_prior: FloatArray | float) -> FloatArray:
        """The same at other class priors."""
        positives = class_prior * float(self.population.sum())
        return np.asarray(float(self.table.labeled.sum()) / np.maximum(positives, 1e-300))

    @property
    def is_prior_counted(self) -> bool:
        """Whether the class prior is the total of the labeled rows' weights."""
        return self.class_prior.method == "propensity" and self.prior_draws is not None


def make_problem(
    table: ScoreTable,
    class_prior: ClassPriorEstimate,
    *,
    scenario: Scenario = "single-training-set",
    label_purity: float = 1.0,
    target: Target = "process",
    confidence_level: float = 0.95,
    correct_prior_bias: bool = False,
    rng: int | np.random.Generator | None = None,
) -> Problem:
    """Check the settings and compute what all metrics share.

    Raises
    ------
    ValueError
        Unless 0 < label_purity <= 1, class_prior < label_purity, 0 < confidence_level < 1.
    """
    check_settings(
        scenario=scenario,
        target=target,
        label_purity=label_purity,
        confidence_level=confidence_level,
    )
    _check_informative(class_prior, label_purity)
    seed = _seed(rng)
    in_population = scenario == "single-training-set"
    rest, rest_squares = _rest(table, scenario), _rest_squares(table, scenario)
    population = _population(table, scenario)
    mass_total = float(table.labeled_mass.sum())
    everything = mass_total + float((table.unlabeled + table.negative).sum())
    fraction = mass_total / everything
    rest_size = effective_rows(rest, rest_squares)
    mass_size = effective_rows(table.labeled_mass, table.labeled_own_mass_squares)

    def fraction_draws() -> FloatArray:
        if target == "process" and in_population:
            return _fraction_draws(table, rest_squares, fraction, everything, seed=seed)
        return np.full(DRAWS, fraction)

    def prior_draws(fractions: FloatArray) -> PriorDraws:
        return draws_of_prior(
            class_prior,
            fractions,
            unlabeled_of_rest=float(table.unlabeled.sum()) / float(rest.sum())
            if in_population
            else None,
            label_purity=label_purity,
            order=_order(seed, "class prior"),
        )

    return Problem(
        table=table,
        scenario=scenario,
        target=target,
        label_purity=label_purity,
        confidence_level=confidence_level,
        class_prior=class_prior,
        labeled_above=above(table.labeled) / float(table.labeled.sum()),
        population_above=above(population) / float(population.sum()),
        labeled_fraction=fraction,
        labeled_size=effective_rows(table.labeled, table.labeled_squares),
        rest_size=rest_size,
        population_size=rest_size + (mass_size if in_population else 0.0),
        correct_prior_bias=correct_prior_bias,
        seed=seed,
        on_demand=OnDemand(
            fraction=fraction_draws,
            of_prior=prior_draws,
            sums=lambda: RunningSums.of(table, rest, rest_squares),
        ),
    )


def _check_informative(class_prior: ClassPriorEstimate, label_purity: float) -> None:
    if class_prior.value >= label_purity:
        msg = (
            "class_prior must satisfy class_prior < label_purity: labels that are no purer "
            f"than the population carry no information; got class_prior={class_prior.value:g}, "
            f"label_purity={label_purity:g}"
        )
        raise ValueError(msg)


def _rest(table: ScoreTable, scenario: Scenario) -> FloatArray:
    """Weight per cell of the population's rows that are not labeled."""
    return table.unlabeled if scenario == "case-control" else table.unlabeled + table.negative


def _rest_squares(table: ScoreTable, scenario: Scenario) -> FloatArray:
    """Sum per cell of the squared weights of those rows."""
    if scenario == "case-control":
        return table.unlabeled_squares
    return table.unlabeled_squares + table.negative_squares


def _population(table: ScoreTable, scenario: Scenario) -> FloatArray:
    """Weight per cell of the population's rows."""
    rest = _rest(table, scenario)
    return rest if scenario == "case-control" else table.labeled_mass + rest


def _fraction_draws(
    table: ScoreTable, rest_squares: FloatArray, fraction: float, everything: float, *, seed: int
) -> FloatArray:
    """Draws of q for the process; rows of unequal weight count as fewer."""
    spread_of_rows = (1 - fraction) ** 2 * float(
        table.labeled_mass_squares.sum()
    ) + fraction**2 * float(rest_squares.sum())
    rows = fraction * (1 - fraction) * everything**2 / spread_of_rows
    rng = stream(seed, "labeled fraction")
    sized = rows * uncertain_size(table, rng)
    return share_draws(fraction * sized, sized, size=DRAWS, rng=rng)


def uncertain_size(table: ScoreTable, rng: np.random.Generator) -> FloatArray | float:
    """Draws of how many independent rows tell as much, over the number taken for it; around 1.

    Where labeled rows share entities that number is known as well as a variance of as many
    entities of equal size is; elsewhere it is 1.
    """
    effect = table.size_design_effect
    if effect == 1.0:
        return 1.0
    degrees = max(table.n_labeled / effect - 1, 1.0)
    return np.asarray(rng.chisquare(degrees, size=DRAWS) / degrees)


def stream(seed: int, purpose: str) -> np.random.Generator:
    """The generator for one purpose, made of a seed."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


@lru_cache(maxsize=1024)
def _order(seed: int, purpose: str) -> NDArray[np.uint16]:
    """Kept, as the panes of a window that are evaluated together have one seed."""
    return stream(seed, purpose).permutation(DRAWS).astype(np.uint16)


def _seed(rng: int | np.random.Generator | None) -> int:
    """None gives a fixed seed, so that the same data give the same interval."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    return 0 if rng is None else int(rng)
