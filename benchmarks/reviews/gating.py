"""Weeks in which a queue of the deployed score reviews, and what the gate says of a challenger."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from pumonitor.gate import ENOUGH_WINDOWS, GateSettings, ReviewedPair, judge
from pumonitor.monitor.challenging.reviewed import reviewed_pair
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.reviews.states import states_of

__all__ = ["judge_streams"]

_ROWS, _WEEKS, _CAPACITY, _PRIOR = 6_000, 7, 0.02, 0.03
_STRENGTHS = {"alike": (2.0, 2.0), "better": (1.8, 2.3)}
_SHAPES = {"fall": -1.0, "rise": 1.0}


def judge_streams(*, runs: int, seed: int) -> Iterator[str]:
    """A line for each setting: in how many streams a verdict was ever given, of all looks."""
    for blocks in (True, False):
        for shape, bent in _SHAPES.items():
            for name, strength in _STRENGTHS.items():
                ever = {"better": 0, "worse": 0}
                for run in range(runs):
                    rng = np.random.default_rng([seed, run, int(blocks), int(bent > 0)])
                    verdicts = _verdicts(strength, bent, blocks=blocks, rng=rng)
                    for verdict in ever:
                        ever[verdict] += verdict in verdicts
                regime = "blocks" if blocks else "does not block"
                yield (
                    f"{regime}, complaints {shape} threefold, challenger {name}: "
                    f"better {ever['better']}, worse {ever['worse']} of {runs} streams"
                )


def _verdicts(
    strength: tuple[float, float], bent: float, *, blocks: bool, rng: np.random.Generator
) -> set[str]:
    """Of a stream, at every look from the first on at which there may be one."""
    windows, verdicts = list[ReviewedPair](), set[str]()
    for week in range(_WEEKS):
        windows.append(_week(strength, bent, blocks=blocks, rng=rng))
        if week + 1 >= ENOUGH_WINDOWS:
            judged = judge({"challenger": windows}, GateSettings(capacity=_CAPACITY))
            verdicts.add(judged["challenger"].verdict)
    return verdicts


def _week(
    strength: tuple[float, float], bent: float, *, blocks: bool, rng: np.random.Generator
) -> ReviewedPair:
    """Normal scores that go together by .6; the champion's highest 2% are reviewed."""
    positive = rng.random(_ROWS) < _PRIOR
    noise = rng.normal(size=(2, _ROWS))
    champion = noise[0] + strength[0] * positive
    challenger = 0.6 * noise[0] + 0.8 * noise[1] + strength[1] * positive
    in_queue = champion >= np.sort(champion)[-round(_CAPACITY * _ROWS)]
    chance = 0.5 * 3 ** (bent * (special.ndtr(champion - strength[0]) - 0.5))
    complained = positive & (rng.random(_ROWS) < chance) & ~(positive & in_queue & blocks)
    return reviewed_pair(
        HowReviewed(blocks=blocks),
        states=states_of(
            complained=complained,
            verdict=np.where(in_queue, positive.astype(int), -2),
            reason=np.zeros(_ROWS, dtype=int),
        ),
        stopped=np.zeros(_ROWS, dtype=bool),
        champion=champion,
        challenger=challenger,
        ranked_by=None,
        capacity=_CAPACITY,
    )
