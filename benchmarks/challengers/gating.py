"""The gate on windows of real rows: what is promoted, and what cannot be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.challengers.learning import task
from pumonitor.gate import ERROR, AuditedBetween, MeanEvidence, PairedLabels, Side

__all__ = [
    "CAPACITY",
    "Models",
    "audit_between",
    "fair_labels",
    "is_better",
    "models",
    "paired",
    "reviewed_labels",
    "window",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

CAPACITY: Final = 0.05
_POSITIVES: Final = 0.1
_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Models:
    """Rows with the truth and the scores of two models, whose true difference is known."""

    positive: BoolArray
    champion: FloatArray
    challenger: FloatArray

    def difference(self, metric: str) -> float:
        """Truly, over all rows: AUL's, or recall's at the capacity."""
        every = PairedLabels.of_window(
            self.positive.astype(np.int8), self.champion, self.challenger, capacity=CAPACITY
        )
        return float(every.differences("recall" if metric == "recall" else "aul").mean())

    def taken(self, rows: NDArray[np.intp]) -> Models:
        """Some of the rows."""
        return Models(
            positive=self.positive[rows],
            champion=self.champion[rows],
            challenger=self.challenger[rows],
        )


@lru_cache(maxsize=1)
def _scored() -> Models:
    """Covertype: shrunken trees of all features and logistic regression, on rows of neither.

    The line's scores are mapped to the quantiles of the trees', so that the two can be mixed. Rows
    are drawn so that 10% are positive.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    known = task("covertype_16pct")
    rng = np.random.default_rng(0)
    train, rest = known.halves(rng)
    train = train[:4000]
    trees = HistGradientBoostingClassifier(random_state=0, l2_regularization=10.0, max_iter=30)
    line = LogisticRegression(max_iter=1000)
    scores = []
    for model in (trees, line):
        model.fit(known.features[train], known.positive[train])
        scores.append(np.asarray(model.predict_proba(known.features[rest])[:, 1]))
    every = Models(positive=known.positive[rest], champion=scores[0], challenger=scores[1])
    drawn = every.taken(_drawn(every.positive, len(rest), rng))
    return replace(drawn, challenger=_like(drawn.challenger, drawn.champion))


def _like(scores: FloatArray, other: FloatArray) -> FloatArray:
    """The ranks of some scores with the values of others."""
    return np.sort(other)[stats.rankdata(scores, method="ordinal") - 1]


def _drawn(positive: BoolArray, rows: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows with replacement, so many positive ones as there are to be."""
    of_kind = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    numbers = [round(_POSITIVES * rows), rows - round(_POSITIVES * rows)]
    drawn = [rng.choice(own, number) for own, number in zip(of_kind, numbers, strict=True)]
    return rng.permutation(np.concatenate(drawn))


def models(difference: float, *, metric: str = "aul") -> Models:
    """A challenger that is truly so much better, by AUL or by recall at the capacity.

    Without a difference the two models of `_scored` exchange the scores of every other row, which
    leaves two models that disagree often and are equally good. Otherwise the champion is the
    challenger with noise of its rank, of the size that makes the difference.
    """
    known = _scored()
    rng = np.random.default_rng(1)
    if difference == 0:
        swap = rng.random(len(known.positive)) < 0.5
        return Models(
            positive=known.positive,
            champion=np.where(swap, known.champion, known.challenger),
            challenger=np.where(swap, known.challenger, known.champion),
        )
    noise = rng.normal(size=len(known.positive))
    low, high = 0.0, 3.0
    for _ in range(30):
        size = 0.5 * (low + high)
        found = degraded(known, noise * size)
        low, high = (size, high) if found.difference(metric) < difference else (low, size)
    return degraded(known, noise * high)


def degraded(known: Models, noise: FloatArray) -> Models:
    """The trees against themselves with noise."""
    ranks = stats.rankdata(known.champion) / len(noise)
    return Models(
        positive=known.positive,
        champion=_like(ranks + noise, known.champion),
        challenger=known.champion,
    )


def window(
    known: Models, rng: np.random.Generator, *, rows: int = _ROWS, equal: bool = False
) -> Models:
    """Rows of one window; of equal models either may have either's scores."""
    found = known.taken(_drawn(known.positive, rows, rng))
    if not equal:
        return found
    swap = rng.random(rows) < 0.5
    return Models(
        positive=found.positive,
        champion=np.where(swap, found.champion, found.challenger),
        challenger=np.where(swap, found.challenger, found.champion),
    )


def fair_labels(known: Models, confirmed: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """So many of the positives, each as likely as any other."""
    labels = np.zeros(len(known.positive), dtype=np.int8)
    labels[rng.choice(np.flatnonzero(known.positive), confirmed, replace=False)] = 1
    return labels


def paired(known: Models, labels: NDArray[np.int8]) -> PairedLabels:
    """What the labels of a window say."""
    return PairedLabels.of_window(labels, known.champion, known.challenger, capacity=CAPACITY)


def is_better(windows: Sequence[PairedLabels], metric: str) -> bool:
    """Whether the gate would say better, without asking how many labels it takes."""
    evidence = MeanEvidence.of([one.recall if metric == "recall" else one.aul for one in windows])
    return evidence.capital() >= 1 / ERROR


def reviewed_labels(
    known: Models, below: float, rng: np.random.Generator, *, of_flagged: float = 1.0
) -> NDArray[np.int8]:
    """Labels of reviews: of the champion's highest rows all, of the rest a share."""
    top = known.champion >= np.quantile(known.champion, 1 - CAPACITY)
    chance = np.where(top, of_flagged, below)
    return (known.positive & (rng.random(len(top)) < chance)).astype(np.int8)


def audit_between(
    known: Models, labels: NDArray[np.int8], cases: int, rng: np.random.Generator
) -> AuditedBetween:
    """Cases among rows that one model alone flags, half of them on each side."""
    flagged = [
        stats.rankdata(-one, method="ordinal") <= round(CAPACITY * len(one))
        for one in (known.challenger, known.champion)
    ]
    sides = []
    for own, other in (flagged, flagged[::-1]):
        alone = np.flatnonzero(own & ~other)
        open_rows = alone[labels[alone] == 0]
        chosen = rng.choice(open_rows, min(cases // 2, len(open_rows)), replace=False)
        sides.append(
            Side(
                unlabeled=len(open_rows),
                confirmed=int((labels[alone] == 1).sum()),
                verdicts=tuple(known.positive[chosen].astype(int).tolist()),
            )
        )
    return AuditedBetween(flagged=int(flagged[0].sum()), challenger=sides[0], champion=sides[1])
