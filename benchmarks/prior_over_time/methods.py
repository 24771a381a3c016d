"""Class priors of a stream's windows, each by the windows up to it, by several methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from benchmarks.prior_over_time.pooled.pooling import pool_class_priors
from benchmarks.prior_over_time.streams import (
    CHANGED_FROM,
    REFERENCE,
    WINDOWS,
    Stream,
    score_table,
)
from pumonitor.prior import ReferenceWindow, estimate_from_table
from pumonitor.prior.auxiliary import raw_columns, train_auxiliary
from pumonitor.prior.over_time import Cells, Explanation, Level, Summariser, auc_against_all
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

__all__ = ["FILTERS", "PEERS", "Followed", "Prepared"]

FloatArray = NDArray[np.float64]

_AUDITS: Final = (CHANGED_FROM - 10, CHANGED_FROM + 5)
_AUDITED: Final = 200
_AROUND: Final = 0.2
_EVERY: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What a method says of each window after the reference.

    Attributes
    ----------
    numbers : ndarray of shape (windows, 3)
        Low, value, high.
    moved : ndarray of shape (windows,)
        Chance that the prior has moved by a quarter; of methods without one, whether the interval
        is all beyond a quarter of the mean of the first five.
    explanations : list of list of Explanation
        After each window; empty for methods that have none.
    """

    numbers: FloatArray
    moved: FloatArray
    explanations: Sequence[Sequence[Explanation]] = field(default_factory=list)


@dataclass(kw_only=True, eq=False)
class Prepared:
    """A stream, and what several methods read of it.

    Attributes
    ----------
    stream : Stream
    features_break : bool
        Whether the logged features break with the model.
    seed : int
        Of the given prior and the audits.
    """

    stream: Stream
    features_break: bool
    seed: int

    @cached_property
    def counted(self) -> list[tuple[FloatArray, ...]]:
        """Cells of the deployed score."""
        return self.stream.tables(self.stream.pool.scores)

    @cached_property
    def tables(self) -> list[ScoreTable | None]:
        """Of each window's deployed score; None with less than two confirmed."""
        return [score_table([one]) if one[1].sum() >= 2 else None for one in self.counted]

    @cached_property
    def reference(self) -> ScoreTable:
        """All its windows, of the deployed score."""
        return score_table(self.counted[:REFERENCE])

    @cached_property
    def level(self) -> Level:
        """`auto` of the reference."""
        return estimated_level(self.reference)

    @cached_property
    def auxiliary(self) -> list[tuple[FloatArray, ...]]:
        """Cells of a score of the features, trained on the reference and frozen."""
        stream = self.stream
        logged = {
            model: stream.pool.features[model if self.features_break else "as it was"]
            for model in set(stream.models)
        }
        rows = np.concatenate(stream.rows[:REFERENCE])
        confirmed = np.concatenate(stream.confirmed[:REFERENCE])
        found = train_auxiliary(_raw(logged["as it was"][rows]), confirmed, rows)
        keys = np.arange(len(stream.pool.is_positive))
        return stream.tables({model: found.of(_raw(one), keys) for model, one in logged.items()})

    @cached_property
    def auxiliary_level(self) -> Level:
        """`auto` of the reference by the auxiliary score."""
        return estimated_level(score_table(self.auxiliary[:REFERENCE]))

    @cached_property
    def given(self) -> Level:
        """Known to a fifth, and off by as much as that says."""
        return Level.given(*self.given_ends)

    @cached_property
    def given_ends(self) -> tuple[float, float, float]:
        """Value, low and high of the given prior."""
        rng = np.random.default_rng([self.seed, 1])
        middle = special.logit(self.stream.class_prior[:REFERENCE].mean())
        middle += rng.normal(scale=0.5 * _AROUND)
        low, value, high = special.expit([middle - _AROUND, middle, middle + _AROUND])
        return value, low, high


def _raw(features: FloatArray) -> dict[str, NDArray[np.generic]]:
    columns = {f"x{place}": column for place, column in enumerate(features.T)}
    return dict(raw_columns(columns, rows=len(features)))


def estimated_level(table: ScoreTable) -> Level:
    found = estimate_from_table(table.compress(4096))
    share = float(table.labeled.sum() / (table.labeled.sum() + table.unlabeled.sum()))
    low = min(max(found.low, share), found.value)
    return Level.estimated(
        found.value,
        low,
        max(found.high, found.value),
        confirmed_share=share,
        auc=auc_against_all(table.labeled, table.labeled + table.unlabeled),
    )


def _filtered(
    run: Prepared,
    counted: Sequence[tuple[FloatArray, ...]],
    level: Level,
    *,
    audits: bool = False,
) -> Followed:
    truth = np.random.default_rng([run.seed, 2])
    windows = [Cells.of_counts(*one) for one in counted]
    summariser = Summariser.learned(windows[:REFERENCE])
    followed = summariser.begun(level)
    numbers, moved, explanations = [], [], []
    for window in range(REFERENCE, WINDOWS):
        summary, summariser = summariser.after(windows[window])
        followed = followed.after(summary)
        if audits and window in _AUDITS:
            found = truth.binomial(_AUDITED, run.stream.class_prior[window])
            followed = followed.audited(found, _AUDITED)
        numbers.append(followed.quantiles([0.025, 0.5, 0.975]))
        moved.append(followed.moved())
        explanations.append(followed.explanations() if window % _EVERY == 0 else [])
    return Followed(numbers=np.array(numbers), moved=np.array(moved), explanations=explanations)


FILTERS: Final[Mapping[str, Callable[[Prepared], Followed]]] = {
    "scores only": lambda run: _filtered(run, run.counted, run.level),
    "prior given once": lambda run: _filtered(run, run.counted, run.given),
    "with audits": lambda run: _filtered(run, run.counted, run.level, audits=True),
    "with features": lambda run: _filtered(run, run.auxiliary, run.auxiliary_level),
}


def _by_intervals(numbers: Sequence[tuple[float, ...]]) -> Followed:
    found = np.array(numbers)
    before = np.nanmean(found[:5, 1])
    beyond = (found[:, 0] > 1.25 * before) | (found[:, 2] < before / 1.25)
    return Followed(numbers=found, moved=beyond.astype(float))


def _ends(found: ClassPriorEstimate | None) -> tuple[float, float, float]:
    return (0.0, np.nan, 1.0) if found is None else (found.low, found.value, found.high)


def _own_auto(run: Prepared, first: int = REFERENCE) -> list[ClassPriorEstimate | None]:
    return [
        None if one is None else estimate_from_table(one.compress(2048))
        for one in run.tables[first:]
    ]


def _pooled_auto(run: Prepared) -> Followed:
    own = _own_auto(run, first=0)
    numbers = []
    for window in range(REFERENCE, WINDOWS):
        nearest = own[max(window - 25, 0) : window + 1]
        pooled = pool_class_priors(nearest, times=list(range(len(nearest)))).estimates[-1]
        numbers.append(_ends(pooled))
    return _by_intervals(numbers)


def _auxiliary_alone(run: Prepared) -> Followed:
    tables = [score_table([one]) if one[1].sum() >= 2 else None for one in run.auxiliary]
    return _by_intervals(
        [
            _ends(None if one is None else estimate_from_table(one.compress(2048)))
            for one in tables[REFERENCE:]
        ]
    )


def _confirmed_share(run: Prepared) -> Followed:
    """Over the label frequency of the reference, the prior being given there."""
    value, low, high = run.given_ends
    confirmed = sum(one.sum() for one in run.stream.confirmed[:REFERENCE])
    share = confirmed / sum(map(len, run.stream.confirmed[:REFERENCE]))
    numbers = []
    for labeled in run.stream.confirmed[REFERENCE:]:
        count, rows = labeled.sum(), len(labeled)
        middle = max(count, 0.5)
        # Errors of the count and of the given prior, in squares on the logarithmic scale.
        below = np.log(middle / max(stats.gamma.ppf(0.025, middle), 1e-9))
        above = np.log(stats.gamma.ppf(0.975, count + 1) / middle)
        now = value * middle / rows / share
        numbers.append(
            (
                now * np.exp(-np.hypot(below, np.log(value / low))),
                now,
                now * np.exp(np.hypot(above, np.log(high / value))),
            )
        )
    return _by_intervals(numbers)


def _from_reference(method: str) -> Callable[[Prepared], Followed]:
    def followed(run: Prepared) -> Followed:
        value, low, high = run.given_ends
        reference = ReferenceWindow(
            table=run.reference.compress(2048), class_prior=(value, low, high)
        )
        numbers = []
        for one in run.tables[REFERENCE:]:
            found = None
            if one is not None:
                try:
                    found = estimate_from_table(
                        one.compress(2048), method=method, reference=reference
                    )
                except ValueError:
                    found = None
            numbers.append(_ends(found))
        return _by_intervals(numbers)

    return followed


PEERS: Final[Mapping[str, Callable[[Prepared], Followed]]] = {
    "auto, pooled": _pooled_auto,
    "auto of each window": lambda run: _by_intervals([_ends(one) for one in _own_auto(run)]),
    "label_shift, prior given once": _from_reference("label_shift"),
    "label_shift_em, prior given once": _from_reference("label_shift_em"),
    "confirmed share over c, prior given once": _confirmed_share,
    "auxiliary alone": _auxiliary_alone,
}
