"""A stream whose rows change: how many labels it takes until a retrained model is promoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.challengers.gating import is_better
from benchmarks.challengers.learning import task
from benchmarks.reproduce.data import as_numbers
from pumonitor.gate import PairedLabels
from pumonitor.sklearn import ChallengerClassifier

__all__ = ["BREAKS", "TRAINED_ON", "Outcome", "follow"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_ROWS: Final = 2000
_LABELS: Final = 20
_BEFORE: Final = 15
_AFTER: Final = 26
_TRAINED_AFTER: Final = (1, 2, 4, 8)
"""Windows after the break at whose end a challenger is trained."""
_POSITIVES: Final = 0.1
_TRUTH_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Stream:
    """Rows to draw windows from, before and after the break."""

    features: FloatArray
    positive: BoolArray
    features_after: FloatArray
    positive_after: BoolArray

    def window(
        self, after: bool, rows: int, rng: np.random.Generator
    ) -> tuple[FloatArray, BoolArray]:
        features = self.features_after if after else self.features
        positive = self.positive_after if after else self.positive
        numbers = round(_POSITIVES * rows)
        chosen = np.concatenate(
            [
                rng.choice(np.flatnonzero(positive), numbers),
                rng.choice(np.flatnonzero(~positive), rows - numbers),
            ]
        )
        return features[chosen], positive[chosen]


def _stream(kind: str, rng: np.random.Generator) -> _Stream:
    known = task("covertype_16pct")
    positive, features = known.positive, known.features
    after, features_after = positive, features
    if kind == "features flipped":
        spread = np.argsort(-np.abs(features[positive].mean(axis=0)))[:8]
        features_after = features.copy()
        features_after[:, spread] *= -1
    elif kind in {"concept replaced", "half replaced"}:
        other = _other_class()
        after = other if kind == "concept replaced" else _half(positive, other, rng)
    return _Stream(
        features=features, positive=positive, features_after=features_after, positive_after=after
    )


def _other_class() -> BoolArray:
    """Another kind of trees, in the order of the rows of the task."""
    known = as_numbers("covertype_16pct", datasets.load_table("covertype_16pct"))
    # The rows that `task` takes.
    chosen = np.random.default_rng(0).permutation(len(known.target))[:40_000]
    return np.asarray(known.target[chosen] == 7)


def _half(one: BoolArray, other: BoolArray, rng: np.random.Generator) -> BoolArray:
    size = min(int(one.sum()), int(other.sum())) // 2
    found = np.zeros(len(one), dtype=bool)
    for kind in (one, other):
        found[rng.choice(np.flatnonzero(kind), size, replace=False)] = True
    return found


BREAKS: Final = ("features flipped", "concept replaced", "half replaced", "nothing")
TRAINED_ON: Final = ("all", "recent", "weighted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Of one stream: labels since the break until a promotion, and whether it was deserved."""

    labels: int | None
    truly_better: bool


def follow(kind: str, trained_on: str, seed: int) -> Outcome:
    """One stream: train challengers after the break, judge each on the windows after it."""
    rng = np.random.default_rng([seed, 9])
    stream = _stream(kind, rng)
    history = [_drawn(stream, False, rng) for _ in range(_BEFORE)]
    champion = _fitted(history, "all", seed)
    after: list[_Window] = []
    versions: dict[int, tuple[Any, list[PairedLabels]]] = {}
    for number in range(1, _AFTER + 1):
        here = _drawn(stream, True, rng)
        after.append(here)
        for model, seen in versions.values():
            seen.append(_paired(here, champion, model))
        for model, seen in versions.values():
            if is_better(seen, "aul"):
                truth = _truth(stream, champion, model, rng)
                return Outcome(labels=_LABELS * number, truly_better=truth > 0)
        if number in _TRAINED_AFTER:
            learned = after if trained_on == "recent" else [*history, *after]
            versions[number] = (_fitted(learned, trained_on, seed), [])
    return Outcome(labels=None, truly_better=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Window:
    features: FloatArray
    labels: NDArray[np.int8]


def _drawn(stream: _Stream, after: bool, rng: np.random.Generator) -> _Window:
    features, positive = stream.window(after, _ROWS, rng)
    labels = np.zeros(len(positive), dtype=np.int8)
    labels[rng.choice(np.flatnonzero(positive), _LABELS, replace=False)] = 1
    return _Window(features=features, labels=labels)


def _fitted(windows: Sequence[_Window], trained_on: str, seed: int) -> Any:
    ages = np.arange(len(windows))[::-1]
    half_life = max(len(windows) / 4, 1.0)
    weight = 0.5 ** (ages / half_life) if trained_on == "weighted" else np.ones(len(windows))
    return ChallengerClassifier(random_state=seed).fit(
        np.concatenate([one.features for one in windows]),
        np.concatenate([one.labels for one in windows]),
        np.repeat(weight, [len(one.labels) for one in windows]),
    )


def _paired(here: _Window, champion: Any, model: Any) -> PairedLabels:
    scores = [one.decision_function(here.features) for one in (champion, model)]
    return PairedLabels.of_window(here.labels, *scores, capacity=0.05)


def _truth(stream: _Stream, champion: Any, model: Any, rng: np.random.Generator) -> float:
    features, positive = stream.window(True, _TRUTH_ROWS, rng)
    found = _paired(_Window(features=features, labels=positive.astype(np.int8)), champion, model)
    return float(found.aul.mean())
