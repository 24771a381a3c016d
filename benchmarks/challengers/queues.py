"""Weekly streams of two models whose labels come from a queue that one of them fills, or are fair.

Scores are normal in both classes, so that it is known which model is better. A verdict is wrong if
it is "better" of the challenger that is truly worse, or "worse" of the one that is truly better.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pumonitor.gate import ENOUGH_WINDOWS, ERROR, GateSettings, PairedLabels, evidence_of, judge
from pumonitor.gate.paired_labels import GateMetric

__all__ = ["PAIRS", "QUEUES", "Followed", "Pair", "counted", "follow_queue"]

FloatArray = NDArray[np.float64]

QUEUES: Final = (
    "the highest 5%",
    "the highest 2 to 10%, varying by week",
    "the highest 5% and 10% of the rest",
    "the highest K of each day",
    "fair",
)
_LABELS: Final = 19
_CAPACITY: Final = 0.05
_DAYS: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two models, the rows of a week and the share of positives."""

    name: str
    class_prior: float
    lower_auc: float
    higher_auc: float
    shared: float
    rows: int


PAIRS: Final = (
    Pair(name="weak", class_prior=0.1, lower_auc=0.80, higher_auc=0.85, shared=0.5, rows=1500),
    Pair(name="middling", class_prior=0.03, lower_auc=0.85, higher_auc=0.89, shared=0.7, rows=2000),
    Pair(name="strong", class_prior=0.015, lower_auc=0.95, higher_auc=0.965, shared=0.6, rows=2200),
    Pair(name="sharp", class_prior=0.01, lower_auc=0.98, higher_auc=0.987, shared=0.6, rows=2600),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """How a stream ended.

    Attributes
    ----------
    verdict : str
        The first "better" or "worse", else the last.
    is_wrong : bool
    labels : int
        By then.
    uncorrected : str
        Whether what intervals alone would have said first is "right" or "wrong"; "none" without.
    uncorrected_labels : int
    """

    verdict: str
    is_wrong: bool
    labels: int
    uncorrected: str
    uncorrected_labels: int


def follow_queue(
    queue: str, pair: Pair, seed: int, *, weeks: int = 52, better: GateMetric = "aul"
) -> Followed:
    """Judge until there is a verdict: each week up to the twelfth, then each fourth."""
    rng = np.random.default_rng([seed, QUEUES.index(queue), PAIRS.index(pair)])
    is_better, owner = bool(seed % 2), seed // 2 % 2
    right = "better" if is_better else "worse"
    settings = GateSettings(better=better, capacity=_CAPACITY)
    windows = list[PairedLabels]()
    uncorrected, uncorrected_labels, verdict = "", 0, "not yet"
    for week in range(1, weeks + 1):
        positive, scores = _week(pair, is_better=is_better, rng=rng)
        labels = _labels(queue, positive, scores[owner], rng)
        windows.append(PairedLabels.of_window(labels, *scores, capacity=_CAPACITY))
        evidence = evidence_of(windows, better)
        said = [
            name
            for name, found in (("better", evidence), ("worse", evidence.reversed()))
            if found.capital() >= 1 / ERROR
        ]
        if said and not uncorrected:
            uncorrected, uncorrected_labels = said[0], evidence.units
        # Where intervals tell nothing the gate does not either.
        if week < weeks and (not said or week < ENOUGH_WINDOWS or (week > 12 and week % 4)):
            continue
        verdict = judge({"challenger": windows}, settings)["challenger"].verdict
        if verdict in {"better", "worse"}:
            break
    return Followed(
        verdict=verdict,
        is_wrong=verdict in {"better", "worse"} and verdict != right,
        labels=evidence.units,
        uncorrected="right" if uncorrected == right else "wrong" if uncorrected else "none",
        uncorrected_labels=uncorrected_labels,
    )


def _week(
    pair: Pair, *, is_better: bool, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], tuple[FloatArray, FloatArray]]:
    """Who is positive, and the scores of champion and challenger."""
    positive = rng.random(pair.rows) < pair.class_prior
    common = rng.normal(size=pair.rows)
    aucs = (pair.lower_auc, pair.higher_auc)
    champion, challenger = (
        np.sqrt(pair.shared) * common
        + np.sqrt(1 - pair.shared) * rng.normal(size=pair.rows)
        + np.sqrt(2) * stats.norm.ppf(auc) * positive
        for auc in (aucs if is_better else aucs[::-1])
    )
    return positive, (champion, challenger)


def _labels(
    queue: str, positive: NDArray[np.bool_], scores: FloatArray, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Positives that were reviewed."""
    rows = len(scores)
    rank = (stats.rankdata(-scores) - 0.5) / rows
    if queue == "the highest 5%":
        reviewed = rank < 0.05
    elif queue == "the highest 2 to 10%, varying by week":
        reviewed = rank < rng.uniform(0.02, 0.10)
    elif queue == "the highest 5% and 10% of the rest":
        reviewed = (rank < 0.05) | (rng.random(rows) < 0.1)
    elif queue == "the highest K of each day":
        day = rng.choice(_DAYS, rows, p=rng.dirichlet(np.full(_DAYS, 8.0)))
        reviewed = np.zeros(rows, dtype=bool)
        for number in range(_DAYS):
            of_day = np.flatnonzero(day == number)
            highest = np.argsort(rank[of_day])[: round(0.05 * rows / _DAYS)]
            reviewed[of_day[highest]] = True
    else:
        chosen = rng.permutation(np.flatnonzero(positive))[:_LABELS]
        reviewed = np.isin(np.arange(rows), chosen)
    return (positive & reviewed).astype(np.int8)


def counted(streams: list[Followed]) -> str:
    """How streams ended, in words."""
    verdicts = Counter(stream.verdict for stream in streams)
    return ", ".join(f"{verdict} {number}" for verdict, number in sorted(verdicts.items()))
