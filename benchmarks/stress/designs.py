"""Windows whose labels or negatives are spoilt, or are not: their densities, and rows drawn."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from pumonitor.results import Scenario

__all__ = [
    "CENTRES",
    "CONFIRMED",
    "EDGES",
    "Counts",
    "Design",
    "Evidence",
    "Rows",
    "clean",
    "easy",
    "middle_for",
    "noisy",
    "reducible",
]

FloatArray = NDArray[np.float64]

Evidence = Literal["scores", "prior", "calibrated", "negatives", "sources"]
Components = tuple[tuple[float, float], ...]

EDGES = np.linspace(-6.0, 9.0, 301)
CENTRES = 0.5 * (EDGES[1:] + EDGES[:-1])
CONFIRMED = 0.3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """Expected rows per bin of the score, shape (bins,) each.

    `positives` are those of the population, whether labeled or not; `fair_labeled` are labeled
    rows of a second source that confirms every positive alike, `unlabeled_positives` a number.
    """

    labeled: FloatArray
    unlabeled: FloatArray
    negative: FloatArray
    positives: FloatArray
    fair_labeled: FloatArray
    unlabeled_positives: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """A window drawn; `calibrated` is P(y = 1 given score)."""

    labels: NDArray[np.int8]
    scores: FloatArray
    calibrated: FloatArray
    fair_source: NDArray[np.bool_]

    @property
    def halves(self) -> NDArray[np.bool_]:
        """Every other row, whatever it is."""
        return np.asarray(np.arange(len(self.labels)) % 2 == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Scores of two classes, mixtures of normals of unit spread, and how positives get labeled.

    Attributes
    ----------
    name : str
    evidence : str
        What is known beside scores and labels: nothing, the class prior, that the scores are
        calibrated, as many confirmed negatives as positives (a fair sample), or that every other
        label is from a source that confirms all positives alike.
    positives, negatives : tuple of (share, mean)
    prior : float
        Of the population.
    n_labeled : int
        Expected.
    scenario : str
    slope : float
        A positive is labeled with chance expit(slope (score - middle)), 0.3 on average.
    mistaken : float
        Share of the labels drawn from the negatives.
    """

    name: str
    evidence: Evidence
    positives: Components
    negatives: Components
    prior: float
    n_labeled: int
    scenario: Scenario
    slope: float = 0.0
    mistaken: float = 0.0

    @property
    def rows(self) -> int:
        """Of the population; in case-control those that are not labeled."""
        return round((1 - self.mistaken) * self.n_labeled / (CONFIRMED * self.prior))

    @property
    def stream(self) -> tuple[int, ...]:
        """Of random numbers, its own in every cell."""
        return (zlib.crc32(repr(self).encode()),)

    def expected(self) -> Counts:
        """Bin by bin."""
        positive, chosen, negative = self.shares()
        fair = positive if self.evidence == "sources" else chosen
        half = 0.5 * (1 - self.mistaken) * self.n_labeled
        labeled = half * (chosen + fair) + self.mistaken * self.n_labeled * negative
        positives = self.rows * self.prior * positive
        negatives = self.rows * (1 - self.prior) * negative
        confirmed = float(self.n_labeled if self.evidence == "negatives" else 0) * negative
        unlabeled, hidden = positives + negatives, self.rows * self.prior
        if self.scenario == "single-training-set":
            hidden -= (1 - self.mistaken) * self.n_labeled
            unlabeled = np.maximum(unlabeled - labeled - confirmed, 0.0)
        return Counts(
            labeled=labeled,
            unlabeled=unlabeled,
            negative=confirmed,
            positives=positives,
            fair_labeled=half * fair,
            unlabeled_positives=hidden,
        )

    def shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of positives, of those that get labeled, and of negatives, per bin."""
        positive = _share(self.positives)
        chosen = positive * self._chance(CENTRES)
        return positive, chosen / chosen.sum(), _share(self.negatives)

    def draw_positives(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Scores, and the chance of each of being labeled."""
        scores = _scores(self.positives, size, rng)
        return scores, self._chance(scores)

    def draw_negatives(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Scores."""
        return _scores(self.negatives, size, rng)

    def _chance(self, scores: FloatArray) -> FloatArray:
        if self.slope == 0:
            return np.full(len(scores), CONFIRMED)
        middle = _middle_of_normals(self.positives, self.slope)
        return np.asarray(special.expit(self.slope * (scores - middle)))

    def draw(self, rng: np.random.Generator) -> Rows:
        """One window."""
        positive = rng.random(self.rows) < self.prior
        of_positives, chances = self.draw_positives(self.rows, rng)
        scores = np.where(positive, of_positives, self.draw_negatives(self.rows, rng))
        fair_source = (rng.random(self.rows) < 0.5) & (self.evidence == "sources")
        if self.scenario == "single-training-set":
            labels = self._labels(positive, chances, fair_source, rng)
        else:
            labels = np.zeros(self.rows, dtype=np.int8)
            apart = self._collected_apart(rng)
            labels = np.concatenate([labels, apart.labels])
            scores = np.concatenate([scores, apart.scores])
            fair_source = np.concatenate([fair_source, apart.fair_source])
        return Rows(
            labels=labels,
            scores=scores,
            calibrated=self._posterior(scores),
            fair_source=fair_source,
        )

    def _labels(
        self,
        positive: NDArray[np.bool_],
        chances: FloatArray,
        fair_source: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.int8]:
        """Confirmations among the rows of the population."""
        labels = np.zeros(len(positive), dtype=np.int8)
        chances = np.where(fair_source, CONFIRMED, chances)
        labels[positive & (rng.random(len(positive)) < chances)] = 1
        # Of the negatives so many, each at most once, are mistaken or confirmed.
        picked = rng.permutation(np.flatnonzero(~positive))
        mistaken = rng.poisson(self.mistaken * self.n_labeled)
        labels[picked[:mistaken]] = 1
        fair_source[picked[:mistaken]] = False
        labels[picked[mistaken : mistaken + self._known_negatives()]] = -1
        return labels

    def _collected_apart(self, rng: np.random.Generator) -> Rows:
        """Labeled rows and confirmed negatives that are not part of the population."""
        # Of every ten positives three are labeled: enough of them.
        offered, chances = self.draw_positives(8 * self.n_labeled, rng)
        fair = (rng.random(len(offered)) < 0.5) & (self.evidence == "sources")
        mistaken = round(self.mistaken * self.n_labeled)
        kept = np.flatnonzero(rng.random(len(offered)) < np.where(fair, CONFIRMED, chances))
        kept = kept[: self.n_labeled - mistaken]
        negatives = mistaken + self._known_negatives()
        scores = np.concatenate([offered[kept], self.draw_negatives(negatives, rng)])
        labels = np.ones(len(scores), dtype=np.int8)
        labels[len(kept) + mistaken :] = -1
        fair = np.concatenate([fair[kept], np.zeros(negatives, dtype=bool)])
        return Rows(labels=labels, scores=scores, calibrated=scores, fair_source=fair)

    def _known_negatives(self) -> int:
        return self.n_labeled if self.evidence == "negatives" else 0

    def _posterior(self, scores: FloatArray) -> FloatArray:
        positive = self.prior * _density(self.positives, scores)
        return positive / (positive + (1 - self.prior) * _density(self.negatives, scores))


def middle_for(slope: float, values: FloatArray, *, shares: FloatArray | None = None) -> float:
    """Where the chance expit(slope (value - middle)) is one half, for `CONFIRMED` on average."""

    def excess(middle: float) -> float:
        chances = special.expit(slope * (values - middle))
        return float(np.average(chances, weights=shares)) - CONFIRMED

    return float(optimize.brentq(excess, -20.0, 20.0))


@cache
def _middle_of_normals(positives: Components, slope: float) -> float:
    return middle_for(slope, CENTRES, shares=_share(positives))


def _share(components: Components) -> FloatArray:
    """Of the rows in each bin."""
    below = sum(weight * special.ndtr(EDGES - mean) for weight, mean in components)
    share = np.diff(below)
    return np.asarray(share / share.sum())


def _density(components: Components, scores: FloatArray) -> FloatArray:
    return np.asarray(
        sum(weight * np.exp(-0.5 * (scores - mean) ** 2) for weight, mean in components)
    )


def _scores(components: Components, size: int, rng: np.random.Generator) -> FloatArray:
    weights, means = zip(*components, strict=True)
    return rng.normal(rng.choice(means, size=size, p=weights))


_SIZES = (100, 300, 1000)
_MANY = 3000
_AUCS = (0.8, 0.9, 0.95)
_VERY_GOOD = 0.98
_PRIORS = (0.05, 0.1, 0.3)
_SCENARIOS: tuple[Scenario, ...] = ("single-training-set", "case-control")


def _cells(
    sizes: tuple[int, ...] = _SIZES, aucs: tuple[float, ...] = _AUCS
) -> Iterator[tuple[int, float, float, float, Scenario]]:
    """n_labeled, AUC, distance of two normals with that AUC, prior, scenario."""
    for n, auc, prior, scenario in itertools.product(sizes, aucs, _PRIORS, _SCENARIOS):
        yield n, auc, distance(auc), prior, scenario


def distance(auc: float) -> float:
    """Of the means of two normals of unit spread."""
    return float(special.ndtri(auc)) * float(np.sqrt(2))


def easy() -> list[Design]:
    """Positives that score high are labeled first."""
    evidences: tuple[Evidence, ...] = ("scores", "prior", "calibrated", "negatives", "sources")
    return [
        Design(
            name=f"slope {slope:g}",
            evidence=evidence,
            positives=((1.0, apart),),
            negatives=((1.0, 0.0),),
            prior=prior,
            n_labeled=n,
            scenario=scenario,
            slope=slope,
        )
        for evidence in evidences
        for slope in (1.0, 2.0, 4.0)
        for n, _, apart, prior, scenario in _cells()
    ]


def noisy() -> list[Design]:
    """A tenth of the labels are drawn from the negatives, all by one source if there are two."""
    evidences: tuple[Evidence, ...] = ("scores", "calibrated", "sources")
    return [
        Design(
            name=f"AUC {auc:g}",
            evidence=evidence,
            positives=((1.0, apart),),
            negatives=((1.0, 0.0),),
            prior=prior,
            n_labeled=n,
            scenario=scenario,
            mistaken=0.1,
        )
        for evidence in evidences
        for n, auc, apart, prior, scenario in _cells(aucs=(*_AUCS, _VERY_GOOD))
    ]


def reducible() -> list[Design]:
    """A fifth of the negatives score exactly like positives, or halfway to them."""
    evidences: tuple[Evidence, ...] = ("scores", "negatives")
    return [
        Design(
            name="exactly" if nearness == 1 else "halfway",
            evidence=evidence,
            positives=((1.0, apart),),
            negatives=((0.8, 0.0), (0.2, nearness * apart)),
            prior=prior,
            n_labeled=n,
            scenario=scenario,
        )
        for evidence in evidences
        for nearness in (1.0, 0.5)
        for n, _, apart, prior, scenario in _cells(sizes=(*_SIZES, _MANY))
    ]


def clean() -> list[Design]:
    """Fair and right labels; one normal per class, or two in one of the classes.

    All evidence at once, and 30 labeled rows besides.
    """
    shapes: dict[str, tuple[Components, Components]] = {}
    for auc in _AUCS:
        apart = distance(auc)
        shapes[f"normal, AUC {auc:g}"] = (((1.0, apart),), ((1.0, 0.0),))
        shapes[f"two kinds of positives, AUC {auc:g}"] = (
            ((0.5, 0.7 * apart), (0.5, 1.4 * apart)),
            ((1.0, 0.0),),
        )
        shapes[f"two kinds of negatives, AUC {auc:g}"] = (
            ((1.0, 1.2 * apart),),
            ((0.7, 0.0), (0.3, 0.5 * apart)),
        )
    return [
        Design(
            name=name,
            evidence="negatives",
            positives=positives,
            negatives=negatives,
            prior=prior,
            n_labeled=n,
            scenario=scenario,
        )
        for n in (30, *_SIZES)
        for name, (positives, negatives) in shapes.items()
        for prior in _PRIORS
        for scenario in _SCENARIOS
    ]
