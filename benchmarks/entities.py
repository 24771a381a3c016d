"""Coverage where positives share entities: `python -m benchmarks.entities`.

20,000 rows in the mean, two normals, 3% positives. Entities have 1 to `--most` positives
(uniform), whose scores have the correlation `alike`; labels are fair, drawn by entity or row by
row. The class prior is given, or with `--frequency` the label frequency, which makes precision and
class prior vary with the number of labels. For each cell coverage and median width, with `entity`
and without.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.prior_quantities import class_prior_estimate
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold
from pumonitor.metrics.recall import RECALL
from pumonitor.prior.assumed import assumed_of
from pumonitor.results import Estimate
from pumonitor.tables import ScoreTable

ROWS, CLASS_PRIOR, DISTANCE, THRESHOLD = 20_000, 0.03, 2.0, 1.5
METRICS = ("class_prior", "recall", "precision", "f1", "auc", "aul")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one window; negatives are entities of their own."""

    labels: NDArray[np.int64]
    scores: NDArray[np.float64]
    entity: NDArray[np.int64]
    is_positive: NDArray[np.bool_]


def simulate(
    rng: np.random.Generator, *, most: int, alike: float, labeled: float, by_entity: bool
) -> Rows:
    """A window whose entities have 1 to `most` positives, `labeled` of them confirmed."""
    entities = rng.poisson(ROWS * CLASS_PRIOR / ((1 + most) / 2))
    of_row = np.repeat(np.arange(entities), rng.integers(1, most + 1, size=entities))
    own = rng.normal(size=len(of_row))
    shared = rng.normal(size=entities)[of_row]
    positive = DISTANCE + np.sqrt(alike) * shared + np.sqrt(1 - alike) * own
    chance = rng.random(entities)[of_row] if by_entity else rng.random(len(of_row))
    negatives = rng.poisson(ROWS * (1 - CLASS_PRIOR))
    return Rows(
        labels=np.concatenate([chance < labeled, np.zeros(negatives, dtype=bool)]).astype(int),
        scores=np.concatenate([positive, rng.normal(size=negatives)]),
        entity=np.concatenate([of_row, entities + np.arange(negatives)]),
        is_positive=np.arange(len(of_row) + negatives) < len(of_row),
    )


def truth() -> dict[str, float]:
    """What the process has."""
    recall, false_alarms = stats.norm.sf([THRESHOLD - DISTANCE, THRESHOLD])
    flagged = CLASS_PRIOR * recall + (1 - CLASS_PRIOR) * false_alarms
    auc = stats.norm.cdf(DISTANCE / np.sqrt(2))
    return {
        "class_prior": CLASS_PRIOR,
        "recall": float(recall),
        "precision": float(CLASS_PRIOR * recall / flagged),
        "f1": float(2 * CLASS_PRIOR * recall / (CLASS_PRIOR + flagged)),
        "auc": float(auc),
        "aul": float(0.5 * CLASS_PRIOR + (1 - CLASS_PRIOR) * auc),
    }


def estimates(rows: Rows, *, use_entity: bool, frequency: float | None) -> dict[str, Estimate]:
    """Of one window."""
    table = ScoreTable.from_arrays(
        rows.labels,
        rows.scores,
        thresholds=(THRESHOLD,),
        density_edges=0,
        entity=rows.entity if use_entity else None,
    )
    prior, purity, _ = assumed_of(
        table,
        class_prior=CLASS_PRIOR if frequency is None else "auto",
        label_frequency=frequency,
        label_purity=1.0,
        scenario="single-training-set",
        target="process",
        confidence_level=0.95,
        rng=None,
        auxiliary=None,
    )
    problem = make_problem(table, prior, label_purity=purity)
    at, lift = at_threshold(problem, THRESHOLD), observed_lift(problem)
    return {
        "class_prior": class_prior_estimate(problem),
        "recall": RECALL.estimate(at),
        "precision": PRECISION.estimate(at),
        "f1": F1.estimate(at),
        "auc": auc_estimate(problem, lift),
        "aul": aul_estimate(problem, lift),
    }


def cell(
    *,
    most: int,
    alike: float,
    labeled: float,
    by_entity: bool,
    use_entity: bool,
    frequency: bool,
    runs: int,
    seed: int,
) -> dict[str, tuple[float, float]]:
    """Coverage and median width of each metric."""
    true, found = truth(), []
    for run in range(runs):
        rng = np.random.default_rng([seed, most, round(100 * alike), round(1000 * labeled), run])
        rows = simulate(rng, most=most, alike=alike, labeled=labeled, by_entity=by_entity)
        if np.count_nonzero(rows.labels) >= 2:
            known = labeled if frequency else None
            found.append(estimates(rows, use_entity=use_entity, frequency=known))
    return {
        name: (
            float(np.mean([one[name].low <= true[name] <= one[name].high for one in found])),
            float(np.median([one[name].high - one[name].low for one in found])),
        )
        for name in METRICS
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, nargs="+", default=[1, 5, 20])
    parser.add_argument("--alike", type=float, nargs="+", default=[0.0, 0.5, 0.9])
    parser.add_argument("--labeled", type=float, nargs="+", default=[0.3])
    parser.add_argument("--frequency", action="store_true", help="give c in place of pi")
    parser.add_argument("--by-row", action="store_true", help="labels drawn row by row")
    given = parser.parse_args(arguments)
    print("coverage/width, with entity | without:", *METRICS)
    for most, alike, labeled in itertools.product(given.most, given.alike, given.labeled):
        sides = [
            cell(
                most=most,
                alike=alike,
                labeled=labeled,
                by_entity=not given.by_row,
                use_entity=use_entity,
                frequency=given.frequency,
                runs=given.runs,
                seed=given.seed,
            )
            for use_entity in (True, False)
        ]
        texts = [
            " ".join(f"{side[name][0]:.3f}/{side[name][1]:.3f}" for name in METRICS)
            for side in sides
        ]
        print(f"most {most}, alike {alike}, labeled {labeled}: {' | '.join(texts)}", flush=True)


if __name__ == "__main__":
    main()
