"""Labels that a model chose, seen by where they stop: `python -m benchmarks.review_cut`.

Simulated: 20,000 rows, normal scores given or as probabilities, AUC .7 to .98, class prior .01 to
.3. Either 20 to 1000 positives are labeled at random (fair), or the positives among the highest 1,
5 or 10% of the rows, and none or 5% of the others. Real: scores of a logistic regression and a
random forest, fitted on half of each task of `benchmarks.prior.tasks`, for the other half, whose
class prior is brought to .3 at most.

Printed: the share of runs with the finding. `compare`: two correlated models, the second .05 AUL
better, labels from the highest 5% of the first: the share without a verdict, and the share in which
the first is named.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.prior.tasks import REPORTED, Task
from pumonitor.comparison import compare
from pumonitor.diagnostics.review_cut import review_cut
from pumonitor.tables import ScoreTable

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

ROWS = 20_000
AUCS = (0.7, 0.8, 0.9, 0.95, 0.98)
PRIORS = (0.01, 0.03, 0.1, 0.3)
LABELS = (20, 100, 300, 1000)
CUTS = ((0.01, 0.0), (0.05, 0.0), (0.1, 0.0), (0.01, 0.05), (0.05, 0.05), (0.1, 0.05))
_MOST_ROWS = 10_000


def simulated(
    auc: float, prior: float, *, rng: np.random.Generator, as_shares: bool
) -> tuple[FloatArray, BoolArray]:
    """Scores, and who is positive."""
    apart = float(stats.norm.ppf(auc)) * math.sqrt(2)
    positive = rng.random(ROWS) < prior
    scores = rng.normal(apart * positive)
    if as_shares:
        odds = prior / (1 - prior) * np.exp(apart * scores - 0.5 * apart**2)
        scores = odds / (1 + odds)
    return scores, positive


def real(task: Task, *, rng: np.random.Generator) -> Iterator[tuple[FloatArray, BoolArray]]:
    """Scores of two models on one half of a task, and who is positive there."""
    features, positive = task.rows()
    order = rng.permutation(len(positive))[: 2 * _MOST_ROWS]
    train, test = np.array_split(order, 2)
    many = np.flatnonzero(positive[test])
    most = int(0.3 / 0.7 * np.count_nonzero(~positive[test]))
    test = np.delete(test, many[most:])
    for model in (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        RandomForestClassifier(200, min_samples_leaf=2, random_state=0, n_jobs=1),
    ):
        model.fit(features[train], positive[train])
        yield model.predict_proba(features[test])[:, 1], positive[test]


def fair(positive: BoolArray, labels: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """So many positives labeled at random."""
    chance = min(labels / max(np.count_nonzero(positive), 1), 1.0)
    return (positive & (rng.random(len(positive)) < chance)).astype(np.int8)


def chosen(
    scores: FloatArray, positive: BoolArray, *, cut: float, below: float, rng: np.random.Generator
) -> NDArray[np.int8]:
    """The positives among the highest scores, and a share of the others."""
    rank = np.empty(len(scores))
    rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores)) / len(scores)
    reviewed = (rank < cut) | (rng.random(len(scores)) < below)
    return (positive & reviewed).astype(np.int8)


def found(labels: NDArray[np.int8], scores: FloatArray) -> bool:
    """Whether a cut is seen."""
    if np.count_nonzero(labels) < 2:
        return False
    return review_cut(ScoreTable.from_arrays(labels, scores)) is not None


def _print_simulated(runs: int) -> None:
    print("fair labels: runs with the finding, of all")
    total = [0, 0]
    for auc in AUCS:
        of_auc = [0, 0]
        for prior, labels, run in itertools.product(PRIORS, LABELS, range(runs)):
            rng = np.random.default_rng([run, round(1000 * auc), round(100 * prior), labels])
            scores, positive = simulated(auc, prior, rng=rng, as_shares=run % 2 == 1)
            of_auc[0] += found(fair(positive, labels, rng), scores)
            of_auc[1] += 1
        print(f"  AUC {auc:4.2f}: {of_auc[0]} of {of_auc[1]}", flush=True)
        total = [one + other for one, other in zip(total, of_auc, strict=True)]
    print(f"  together {total[0]} of {total[1]}")
    print("labels from the highest rows: share seen (labels), by class prior")
    print(f"  cut, below  AUC   {'  '.join(f'{prior:>11g}' for prior in PRIORS)}")
    for (cut, below), auc in itertools.product(CUTS, AUCS):
        cells = []
        for prior in PRIORS:
            hits, count = [], []
            for run in range(max(runs // 2, 2)):
                rng = np.random.default_rng([run, round(1000 * auc), round(100 * prior), 7])
                scores, positive = simulated(auc, prior, rng=rng, as_shares=run % 2 == 1)
                labels = chosen(scores, positive, cut=cut, below=below, rng=rng)
                hits.append(found(labels, scores))
                count.append(np.count_nonzero(labels))
            cells.append(f"{np.mean(hits):.2f} ({np.mean(count):4.0f})")
        print(f"  {cut:4g} {below:4g}   {auc:4.2f}  {'  '.join(cells)}", flush=True)


def _print_real(runs: int) -> None:
    print("real scores: false findings of runs; share seen by cut and what is labeled below")
    together = [0, 0]
    for task in REPORTED:
        rng = np.random.default_rng(0)
        for name, (scores, positive) in zip(("linear", "forest"), real(task, rng=rng), strict=True):
            false = [
                found(fair(positive, labels, rng), scores)
                for labels in (20, 100, 300, 1000)
                for _ in range(runs)
            ]
            seen = []
            for cut, below in CUTS:
                labels = chosen(scores, positive, cut=cut, below=below, rng=rng)
                seen.append(f"{found(labels, scores):d} ({np.count_nonzero(labels)})")
            together = [together[0] + sum(false), together[1] + len(false)]
            print(
                f"  {task.name:13s} {name:6s} rows {len(scores):5d} prior {positive.mean():.2f} | "
                f"{sum(false)} of {len(false)} | {'  '.join(seen)}",
                flush=True,
            )
    print(f"  together {together[0]} of {together[1]}")


def _print_compared(runs: int) -> None:
    withheld, named = [], []
    for run in range(runs):
        rng = np.random.default_rng([run, 11])
        positive = rng.random(ROWS) < 0.1
        shared = rng.normal(size=ROWS)
        models = {
            name: 0.7 * shared + 0.71 * rng.normal(size=ROWS) + apart * positive
            for name, apart in (("champion", 1.3), ("challenger", 1.6))
        }
        labels = chosen(models["champion"], positive, cut=0.05, below=0.0, rng=rng)
        answer = compare(labels, models, threshold=2.0, class_prior=0.1)
        withheld.append(answer.no_verdict is not None)
        named.append(answer.chosen_by == "champion")
    print(f"compare: no verdict in {np.mean(withheld):.2f}, champion named in {np.mean(named):.2f}")


def main() -> None:
    """Print all three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="per cell")
    parser.add_argument("--only", choices=["simulated", "real", "compare"])
    arguments = parser.parse_args()
    for name, printed in (
        ("simulated", _print_simulated),
        ("real", _print_real),
        ("compare", _print_compared),
    ):
        if arguments.only in (None, name):
            printed(arguments.runs)


if __name__ == "__main__":
    main()
