"""What intervals by value cover: `python -m benchmarks.values --help`.

20,000 rows, normal scores of AUC .95, class prior .01 (.02 where labels are fair), threshold where
the queue begins. Values are lognormal (sigma 1 or 2) or Pareto (shape 1.5), and
independent: of score and of being positive; rising: those of positives are higher by a standard
deviation (Pareto: multiplied as the lognormal of the same ranks would be); with the score: half a
standard deviation a unit of the score besides; turning: those of positives are higher below the
threshold alone. Labels are fair (30% of the positives, class prior known or estimated), or come
from a queue and complaints.

A line a cell: coverage of the 95% intervals of these very rows, truths below and above them, median
width (caught and missed: as a share of the truth), and the median of value over truth.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.reviews.windows import Cell, Window, draw_window
from pumonitor._rows import value_design_effect
from pumonitor._valued import ValuedRows
from pumonitor.metrics.problem import make_problem
from pumonitor.names import VALUE
from pumonitor.prior.assumed import assumed_of
from pumonitor.results import Estimate
from pumonitor.reviews.front_door import reviewed_models
from pumonitor.tables import ScoreTable
from pumonitor.values import ValueDraws, draw_values

FloatArray = NDArray[np.float64]

GOAL: Final = 0.93
LEVEL: Final = 0.95
SHAPES: Final = ("lognormal 1", "lognormal 2", "pareto 1.5")
RELATIONS: Final = ("independent", "rising", "with the score", "turning")
LABELS: Final = ("fair, prior known", "fair, prior estimated", "blocks", "does not block")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValuedWindow:
    """A window, and what its rows are worth."""

    window: Window
    values: FloatArray
    known_prior: float
    entity: NDArray[np.intp] | None = None


def values_of(window: Window, shape: str, relation: str, rng: np.random.Generator) -> FloatArray:
    """What each row is worth."""
    kind, size = shape.split()
    normal = rng.normal(size=len(window.score))
    if window.entity is not None and len(np.unique(window.entity)) < len(normal):
        # Half of it is that of their entity.
        shared = rng.normal(size=len(normal))[window.entity]
        normal = np.where(window.positive, np.sqrt(0.5) * (shared + normal), normal)
    higher = window.positive & ((relation != "turning") | (window.score < window.threshold))
    if relation == "with the score":
        normal = normal + 0.5 * window.score
    if relation != "independent":
        normal = normal + higher
    if kind == "lognormal":
        return np.exp(float(size) * normal)
    return np.asarray(np.exp(-stats.norm.logsf(normal) / float(size)))


def drawn_window(
    labels: str, shape: str, relation: str, rng: np.random.Generator, *, most: int = 1
) -> ValuedWindow:
    """A window of one cell, whose entities have 1 to so many positives."""
    prior = 0.02 if labels.startswith("fair") else 0.01
    cell = Cell(class_prior=prior, blocks=labels != "does not block", most=most)
    window = draw_window(cell, rng)
    return ValuedWindow(
        window=window,
        values=values_of(window, shape, relation, rng),
        known_prior=prior,
        entity=window.entity if most > 1 else None,
    )


def draws_of(valued: ValuedWindow, labels: str, rng: np.random.Generator) -> ValueDraws:
    """Draws of what positives are worth."""
    window = valued.window
    settings: dict[str, Any] = {"confidence_level": LEVEL, "rng": None}
    if not labels.startswith("fair"):
        models = reviewed_models(
            window.complained,
            {"model": window.score},
            reviews=window.reviews,
            complaint_rate=None,
            thresholds={"model": (window.threshold,)},
            confidence_level=LEVEL,
            class_prior="auto",
            scenario="single-training-set",
            label_purity=1.0,
            worth=valued.values,
            entity=valued.entity,
            given={},
        )
        reading = models.readings["model"]
        problem = make_problem(models.tables["model"], reading.class_prior, **settings)
        (draws,) = draw_values(problem, reading, threshold=window.threshold)
        return draws
    chance, entity = rng.random(len(window.score)), valued.entity
    confirmed = window.positive & ((chance if entity is None else chance[window.entity]) < 0.3)
    confirmed = confirmed.astype(np.int8)
    table = ScoreTable.from_arrays(
        confirmed, window.score, thresholds=(window.threshold,), entity=entity
    )
    prior, _, _ = assumed_of(
        table,
        class_prior=valued.known_prior if labels.endswith("known") else "auto",
        label_frequency=None,
        label_purity=1.0,
        scenario="single-training-set",
        target="window",
        auxiliary=None,
        **settings,
    )
    rows = ValuedRows.of_rows(
        valued.values,
        confirmed,
        window.score,
        design_effect=value_design_effect(entity, confirmed, valued.values),
    )
    table = replace(table, values=rows)
    (draws,) = draw_values(make_problem(table, prior, **settings), None, threshold=window.threshold)
    return draws


def estimates_of(draws: ValueDraws, threshold: float, *, lower: float = 0.0) -> dict[str, Estimate]:
    """Estimates by value, at a threshold that is lower by so much than the present one."""
    above = draws.at(threshold)
    if lower:
        (above,) = draws.by_threshold(np.array([threshold - lower]))
    return above.estimates(confidence_level=LEVEL)


def truth_of(valued: ValuedWindow, *, lower: float = 0.0) -> dict[str, float]:
    """By the rows themselves."""
    window, values = valued.window, valued.values
    flagged = window.score >= window.threshold - lower
    caught = float(values[flagged & window.positive].sum())
    missed = float(values[~flagged & window.positive].sum())
    return {
        "recall_value": caught / (caught + missed),
        "precision_value": caught / float(values[flagged].sum()),
        "caught_value": caught,
        "missed_value": missed,
    }


def measure(
    labels: str, shape: str, relation: str, *, runs: int, seed: int, lower: float, most: int
) -> Iterator[tuple[str, float, str]]:
    """Name, coverage and a text of each estimate."""
    gathered: dict[str, list[tuple[float, ...]]] = {name: [] for name in VALUE}
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        valued = drawn_window(labels, shape, relation, rng, most=most)
        truth = truth_of(valued, lower=lower)
        draws = draws_of(valued, labels, rng)
        estimates = estimates_of(draws, valued.window.threshold, lower=lower)
        for name in VALUE:
            estimate, true = estimates[name], truth[name]
            scale = 1.0 if name in ("recall_value", "precision_value") else true
            gathered[name].append(
                (
                    float(true < estimate.low - 1e-9 * abs(true)),
                    float(true > estimate.high + 1e-9 * abs(true)),
                    (estimate.high - estimate.low) / scale,
                    estimate.value / true,
                )
            )
    for name, rows in gathered.items():
        below, above, width, ratio = np.array(rows).T
        covered = 1 - below.mean() - above.mean()
        text = (
            f"{name} {covered:.3f} (below {below.mean():.3f}, above {above.mean():.3f}, width "
            f"{np.median(width):.2f}, ratio {np.median(ratio):.2f})"
        )
        yield name, float(covered), text


def main() -> None:
    """A line a cell, then those that fall short by more than chance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cells whose name holds this")
    parser.add_argument(
        "--lower", type=float, default=0.0, help="a threshold that is lower by so much, as decide"
    )
    parser.add_argument("--most", type=int, default=1, help="positives of an entity, 1 to so many")
    arguments = parser.parse_args()
    short = []
    for cell in itertools.product(LABELS, SHAPES, RELATIONS):
        name = ", ".join(cell)
        if arguments.only not in name:
            continue
        settings = {name: getattr(arguments, name) for name in ("runs", "seed", "lower", "most")}
        measured = list(measure(*cell, **settings))
        print(f"{name}: {'; '.join(text for _, _, text in measured)}", flush=True)
        least = GOAL - 2.33 * math.sqrt(GOAL * (1 - GOAL) / arguments.runs)
        short += [f"{name}: {metric}" for metric, covered, _ in measured if covered < least]
    print(f"{len(short)} intervals below {GOAL} by more than chance", *short, sep="\n  ")


if __name__ == "__main__":
    main()
