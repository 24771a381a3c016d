"""One run: a stream, what each method says of it, as a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.prior_over_time.methods import FILTERS, PEERS, Followed, Prepared
from benchmarks.prior_over_time.pools import Pool
from benchmarks.prior_over_time.streams import REFERENCE, SCENARIOS, Stream, draw, score_table
from pumonitor.evaluation import evaluate_table

__all__ = ["drawn", "key_of", "run"]

FloatArray = NDArray[np.float64]

_SAID: Final = 0.05
_EVALUATED: Final = (20, 34, 46, 58)
_METRICS: Final = ("precision", "f1", "auc")


def key_of(
    pool: str, scenario: str, seed: int, labels: int, *, features_break: bool
) -> dict[str, Any]:
    """What tells runs apart."""
    return {
        "set": pool,
        "scenario": scenario,
        "seed": seed,
        "labels": labels,
        "features_break": features_break,
    }


def run(
    pool: Pool,
    scenario: str,
    *,
    place: int,
    seed: int,
    labels: int,
    features_break: bool,
    methods: Sequence[str],
    metrics: bool,
) -> dict[str, Any]:
    """What methods say of each window after the reference, with the truth."""
    stream, _, rng = drawn(pool, scenario, place=place, seed=seed, labels=labels)
    prepared = Prepared(stream=stream, features_break=features_break, seed=int(rng.integers(2**31)))
    found = {name: {**FILTERS, **PEERS}[name](prepared) for name in methods}
    of_methods = {name: _plain(one) for name, one in found.items()}
    if metrics:
        for name, one in found.items():
            of_methods[name]["held"] = _metrics_held(prepared, one)
    return {
        **key_of(pool.name, scenario, seed, labels, features_break=features_break),
        "truth": _short(stream.class_prior[REFERENCE:]),
        "methods": of_methods,
    }


def drawn(
    pool: Pool, scenario: str, *, place: int, seed: int, labels: int
) -> tuple[Stream, float, np.random.Generator]:
    """A run's stream, its label frequency at first, and the generator as it is then."""
    rng = np.random.default_rng([seed, place, SCENARIOS.index(scenario), labels])
    class_prior = float(rng.choice([0.02, 0.05, 0.1, 0.16]))
    label_frequency = float(rng.choice([0.1, 0.2, 0.4]))
    stream = draw(
        pool,
        scenario,
        labels=labels,
        class_prior=class_prior,
        label_frequency=label_frequency,
        rng=rng,
    )
    return stream, label_frequency, rng


def _plain(found: Followed) -> dict[str, Any]:
    low, value, high = found.numbers.T
    return {
        "low": _short(low),
        "value": _short(value),
        "high": _short(high),
        "moved": _short(found.moved),
        "said": {
            window: [[*one.changed, round(one.chance, 3)] for one in said if one.chance > _SAID]
            for window, said in enumerate(found.explanations)
            if said
        },
    }


def _short(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(one) else float(f"{one:.5g}") for one in values]


def _metrics_held(run: Prepared, found: Followed) -> dict[str, list[bool]]:
    """Whether intervals of precision, F1 and AUC hold the truth in a few windows."""
    held: dict[str, list[bool]] = {name: [] for name in _METRICS}
    stream = run.stream
    rows, scores = run.reference.labeled + run.reference.unlabeled, run.reference.lower
    flagged = 1 - np.cumsum(rows) / rows.sum()
    threshold = float(scores[np.argmin(np.abs(flagged - 1.5 * stream.class_prior[0]))])
    for window in _EVALUATED:
        if run.tables[window] is None:
            continue
        low, value, high = found.numbers[window - REFERENCE].tolist()
        table = score_table([run.counted[window]]).compress(2048, thresholds=[threshold])
        ends = min(low, value), value, max(high, value)
        if not (np.isfinite(ends).all() and ends[0] > 0 and ends[2] < 1):
            continue
        said = evaluate_table(
            table,
            threshold=threshold,
            class_prior=(ends[1], ends[0], ends[2]),
            curves=False,
            rng=0,
        )
        truth = _true_metrics(
            stream.pool, stream.models[window], threshold, stream.class_prior[window]
        )
        for name in _METRICS:
            one = said[name]
            held[name].append(bool(one.low <= truth[name] <= one.high))
    return held


def _true_metrics(pool: Pool, model: str, threshold: float, class_prior: float) -> dict[str, float]:
    scores = pool.scores[model]
    ones, zeros = scores[pool.is_positive], np.sort(scores[~pool.is_positive])
    recall, false = (ones >= threshold).mean(), (zeros >= threshold).mean()
    flagged = class_prior * recall + (1 - class_prior) * false
    below = np.searchsorted(zeros, ones, side="left") + np.searchsorted(zeros, ones, side="right")
    return {
        "precision": class_prior * recall / flagged if flagged > 0 else np.nan,
        "f1": 2 * class_prior * recall / (class_prior + flagged),
        "auc": 0.5 * below.mean() / len(zeros),
    }
