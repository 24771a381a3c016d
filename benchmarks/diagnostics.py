"""How often each warning fires on clean and on spoilt data: `python -m benchmarks.diagnostics`.

Each diagnostic on what it is for. `python -m benchmarks.stress` says where anything can be seen at
all of unfair labels, mistaken labels and negatives like positives, and how often it is.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import pumonitor
from benchmarks.label_noise import draw_scores
from pumonitor import ScoreTable
from pumonitor.diagnostics import diagnose
from pumonitor.prior.labels.label_noise import estimate_label_purity

__all__ = ["CLEAN", "SPOILT", "Rows", "warnings_of"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """One window and how it is evaluated."""

    labels: NDArray[np.int8]
    scores: FloatArray
    threshold: float
    class_prior: Any
    scenario: str = "single-training-set"
    calibrated: bool = False
    sources: dict[str, FloatArray] | None = None


def warnings_of(rows: Rows) -> set[str]:
    """Names of the warnings, notes left out."""
    evaluation = pumonitor.evaluate(
        rows.labels,
        rows.scores,
        threshold=rows.threshold,
        class_prior=rows.class_prior,
        scenario=rows.scenario,  # type: ignore[arg-type]
    )
    table = ScoreTable.from_arrays(rows.labels, rows.scores, thresholds=(rows.threshold,))
    purity = estimate_label_purity(table)
    settings = dict(evaluation.settings) | {
        "calibrated_scores": rows.calibrated,
        "label_purity_evidence": purity.to_dict(),
    }
    found = diagnose(
        table,
        evaluation.estimates,
        evaluation.class_prior,
        settings,
        label_sources=rows.sources,
    )
    return {finding.name for finding in found if finding.severity == "warning"}


def _posterior(scores: FloatArray, *, distance: float, prior: float) -> FloatArray:
    """P(y = 1 | score) of two normals a distance apart."""
    odds = prior / (1 - prior) * np.exp(distance * scores - 0.5 * distance**2)
    return np.asarray(odds / (1 + odds))


def _clean(
    scenario: str, prior: float, auc: float, n_labeled: int, *, known: bool
) -> Callable[[np.random.Generator], Rows]:
    """Fair labels from two sources, some cases reviewed, calibrated scores."""
    distance = float(stats.norm.ppf(auc)) * np.sqrt(2)

    def draw(rng: np.random.Generator) -> Rows:
        size = round(n_labeled / (0.3 * prior))
        positive = rng.random(size) < prior
        labels = np.zeros(size, dtype=np.int8)
        if scenario == "case-control":
            positive = np.concatenate([np.ones(n_labeled, bool), positive])
            labels = np.concatenate([np.ones(n_labeled, np.int8), labels])
        else:
            chance = rng.random(size)
            labels[positive & (chance < 0.3)] = 1
            labels[~positive & (chance < 0.02)] = -1
        plain = draw_scores(positive, shape="normal", auc=auc, rng=rng)
        scores = _posterior(plain, distance=distance, prior=prior)
        confirmed = scores[labels == 1]
        half = rng.random(len(confirmed)) < 0.5
        # As many rows flagged as there are positives.
        population = scores if scenario == "single-training-set" else scores[labels == 0]
        return Rows(
            labels=labels,
            scores=scores,
            threshold=float(np.quantile(population, 1 - prior)),
            class_prior=prior if known else "auto",
            scenario=scenario,
            calibrated=True,
            sources={"one": confirmed[half], "two": confirmed[~half]},
        )

    return draw


CLEAN = {
    f"{scenario}, prior {prior}, AUC {auc}, {n} labeled, {'known' if known else 'auto'}": _clean(
        scenario, prior, auc, n, known=known
    )
    for scenario, prior, auc, n, known in itertools.product(
        ("single-training-set", "case-control"),
        (0.02, 0.1, 0.4),
        (0.75, 0.92, 0.98),
        (200, 1000),
        (True, False),
    )
}


def _spoilt(
    change: Callable[[np.random.Generator, NDArray[np.bool_], FloatArray], dict[str, Any]],
    *,
    prior: float = 0.1,
    auc: float = 0.92,
    size: int = 20_000,
) -> Callable[[np.random.Generator], Rows]:
    distance = float(stats.norm.ppf(auc)) * np.sqrt(2)

    def draw(rng: np.random.Generator) -> Rows:
        positive = rng.random(size) < prior
        plain = draw_scores(positive, shape="normal", auc=auc, rng=rng)
        scores = _posterior(plain, distance=distance, prior=prior)
        usual = {
            "labels": (positive & (rng.random(size) < 0.3)).astype(np.int8),
            "scores": scores,
            "threshold": float(np.quantile(scores, 1 - prior)),
            "class_prior": prior,
        }
        return Rows(**usual | change(rng, positive, scores))

    return draw


def _rank(scores: FloatArray) -> FloatArray:
    return np.argsort(np.argsort(scores)) / len(scores)


def _easy_labels(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> NDArray[np.int8]:
    """The chance of being confirmed rises with the rank."""
    return (positive & (rng.random(len(scores)) < 0.5 * _rank(scores) ** 8)).astype(np.int8)


def _easy_calibrated(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> dict[str, Any]:
    return {"labels": _easy_labels(rng, positive, scores), "calibrated": True}


def _easy_source(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> dict[str, Any]:
    fair = positive & (rng.random(len(scores)) < 0.15)
    easy = _easy_labels(rng, positive, scores).astype(bool) & ~fair
    return {
        "labels": (fair | easy).astype(np.int8),
        "sources": {"fair": scores[fair], "easy": scores[easy]},
    }


def _reviewed_by_score(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> dict[str, Any]:
    reviewed = rng.random(len(scores)) < 0.02 + 0.5 * _rank(scores) ** 8
    return {"labels": np.where(reviewed, np.where(positive, 1, -1), 0).astype(np.int8)}


def _reviewed_top_only(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> dict[str, Any]:
    reviewed = (_rank(scores) > 0.9) & (rng.random(len(scores)) < 0.5)
    return {"labels": np.where(reviewed, np.where(positive, 1, -1), 0).astype(np.int8)}


def _noisy_labels(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> dict[str, Any]:
    right = positive & (rng.random(len(scores)) < 0.5)
    mistaken = ~positive & (rng.random(len(scores)) < right.sum() / (9 * (~positive).sum()))
    return {"labels": (right | mistaken).astype(np.int8)}


def _reducible(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> dict[str, Any]:
    """A tenth of the negatives score like positives: nothing in such data shows it."""
    alike = ~positive & (rng.random(len(scores)) < 0.1)
    drawn = rng.choice(scores[positive], size=len(scores))
    return {"scores": np.where(alike, drawn, scores), "class_prior": "auto"}


def _rounded(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> dict[str, Any]:
    return {"scores": np.round(_rank(scores), 0)}


def _flag_all(
    rng: np.random.Generator, positive: NDArray[np.bool_], scores: FloatArray
) -> dict[str, Any]:
    return {"threshold": float(np.quantile(scores, 0.03))}


SPOILT = {
    "easy labels, calibrated scores": _spoilt(_easy_calibrated),
    "easy labels, nothing to compare": _spoilt(
        lambda rng, positive, scores: {"labels": _easy_labels(rng, positive, scores)}
    ),
    "easy labels from one of two sources": _spoilt(_easy_source),
    "reviewed by score": _spoilt(_reviewed_by_score),
    "only the top tenth reviewed": _spoilt(_reviewed_top_only),
    "10% mistaken labels, AUC .92": _spoilt(_noisy_labels),
    "10% mistaken labels, AUC .98": _spoilt(_noisy_labels, auc=0.98),
    "prior three times too high": _spoilt(lambda *_: {"class_prior": 0.3}),
    "prior wrong, calibrated scores": _spoilt(lambda *_: {"class_prior": 0.05, "calibrated": True}),
    "reducible negatives, prior auto": _spoilt(_reducible),
    "half of the scores tied": _spoilt(_rounded),
    "random ranking": _spoilt(lambda rng, positive, scores: {"scores": rng.random(len(scores))}),
    "reversed ranking": _spoilt(lambda rng, positive, scores: {"scores": 1 - scores}),
    "97% flagged, prior .6": _spoilt(_flag_all, prior=0.6, auc=0.8),
    "everything flagged": _spoilt(lambda *_: {"threshold": 0.0}, prior=0.6),
    "20 labeled": _spoilt(
        lambda rng, positive, scores: {
            "labels": (positive & (np.cumsum(positive) % 100 == 7)).astype(np.int8)
        }
    ),
}


def _runs(
    draw: Callable[[np.random.Generator], Rows], seeds: int, stream: int
) -> Iterator[set[str]]:
    for seed in range(seeds):
        yield warnings_of(draw(np.random.default_rng([seed, stream])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", choices=["clean", "spoilt"])
    parser.add_argument("--named", default="", help="only designs whose name holds this")
    arguments = parser.parse_args()
    if arguments.only != "spoilt":
        _print_clean(arguments.seeds, arguments.named)
    if arguments.only != "clean":
        _print_spoilt(arguments.seeds, arguments.named)


def _print_clean(seeds: int, named: str) -> None:
    silent, total, fired = 0, 0, Counter[str]()
    for stream, (name, draw) in enumerate(CLEAN.items()):
        if named not in name:
            continue
        runs = list(_runs(draw, seeds, stream))
        silent, total = silent + sum(not found for found in runs), total + len(runs)
        here = Counter(warning for found in runs for warning in found)
        fired += here
        if here:
            listed = ", ".join(f"{warning} {count}" for warning, count in here.items())
            print(f"  {name}: {listed} of {len(runs)}", flush=True)
    print(f"clean: silent in {silent} of {total} runs ({100 * silent / max(total, 1):.1f}%)")
    for warning, count in fired.most_common():
        print(f"  {warning:30s} {100 * count / total:5.1f}%")


def _print_spoilt(seeds: int, named: str) -> None:
    for stream, (name, draw) in enumerate(SPOILT.items()):
        if named not in name:
            continue
        runs = list(_runs(draw, seeds, 1000 + stream))
        here = Counter(warning for found in runs for warning in found)
        listed = ", ".join(f"{warning} {100 * n / seeds:.0f}%" for warning, n in here.most_common())
        any_fired = sum(bool(found) for found in runs) / seeds
        print(f"{name:36s} {100 * any_fired:3.0f}%  {listed}", flush=True)


if __name__ == "__main__":
    main()
