"""What is named after a break, on strong and on weak models: `--only causes`.

A model has two inputs, on which positives differ from negatives, and scores by both. Thirty days of
reference, six quiet ones, then seven days after a break. Days differ by themselves: the share of
positives by a quarter, the ranking by .02 of AUC or so, weekends have .7 of the positives, and a
season of the year moves them by a third. The class prior that is told is that of the reference, 15%
off, and followed.

- right: what broke is named, and nothing else.
- wrong: something is named that did not break.
- either: the cause cannot be told; one of the two that are named broke.
- open: the cause cannot be told and what broke is not among the two, or nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from benchmarks.detection.followed import what_changed
from benchmarks.detection.incidents import CELLS, DAY, DELAY_EDGES, EDGES
from benchmarks.detection.tables import show
from pumonitor.monitor.rules.causes.cause import name_cause
from pumonitor.monitor.rules.causes.named import Cause
from pumonitor.monitor.rules.causes.period import Period

__all__ = ["BREAKS", "STREAMS", "Stream", "main", "named"]

REFERENCE, QUIET, SINCE = 30, 6, 7
_MIDDLES = (np.arange(CELLS) + 0.5) / CELLS

Day = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Labeled and all rows by score, and labels by their delay."""
Score = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""Inputs and labels to scores on a scale without ends."""


@dataclass(frozen=True, kw_only=True)
class Stream:
    """A model, its cases, and how its positives get confirmed.

    Attributes
    ----------
    separation : (float, float)
        Of positives from negatives in each input, in standard deviations.
    class_prior : float
    confirmed : float
        Share of the positives that is confirmed at all.
    rows : int
        Of a day.
    broken_score : callable or None
        What scores the rows in place of the model, once it is broken.
    shift, stretch : float
        Of the scores, before they are mapped to 0 to 1.
    new_positives, new_negatives : float
        Share of the class that scores about like the other one.
    slope : float
        Log ratio of the chance to be confirmed by score; higher scores are more often confirmed
        where it is positive.
    queue : float
        Share of the rows, those with the highest scores, that is reviewed.
    mean_delay : float
        Of confirmations, in seconds.
    """

    separation: tuple[float, float]
    class_prior: float
    confirmed: float
    rows: int = 10_000
    broken_score: Score | None = None
    shift: float = 0.0
    stretch: float = 1.0
    new_positives: float = 0.0
    new_negatives: float = 0.0
    slope: float = 0.0
    queue: float = 1.0
    mean_delay: float = 10 * DAY


def _strong(confirmed: float) -> Stream:
    """AUC .945."""
    return Stream(separation=(2.0, 1.05), class_prior=0.015, confirmed=confirmed)


def _weak(class_prior: float, confirmed: float) -> Stream:
    """AUC .75."""
    return Stream(separation=(0.83, 0.47), class_prior=class_prior, confirmed=confirmed)


STREAMS = {
    "strong, 1.5%, 45 labels a day": _strong(0.3),
    "strong, 1.5%, 8 labels a day": _strong(0.055),
    "weak, 1.5%, 45 labels a day": _weak(0.015, 0.3),
    "weak, 5%, 50 labels a day": _weak(0.05, 0.1),
}


def _best(stream: Stream) -> np.ndarray:
    weights = np.array(stream.separation)
    return weights / np.hypot(*weights)


def _permuted(share: float, best: np.ndarray) -> Score:
    def score(inputs: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        scores = inputs @ best
        chosen = np.flatnonzero(rng.random(len(scores)) < share)
        scores[chosen] = scores[rng.permutation(chosen)]
        return scores

    return score


def _stale(best: np.ndarray) -> Score:
    """The first input is that of a time at which positives were like everybody."""

    def score(inputs: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.column_stack([rng.normal(size=len(inputs)), inputs[:, 1]]) @ best

    return score


def _constant(best: np.ndarray) -> Score:
    return lambda inputs, _, __: inputs[:, 1] * best[1]


def _other_model(best: np.ndarray, turn: float) -> Score:
    turned = np.array([np.cos(turn), np.sin(turn)])
    other = np.array([best @ turned, best[1] * turned[0] - best[0] * turned[1]])
    return lambda inputs, _, __: 1.2 * (inputs @ other) + 0.3


def _rescaled(stream: Stream, rng: np.random.Generator) -> Stream:
    return replace(stream, shift=float(rng.uniform(0.4, 0.8)), stretch=float(rng.uniform(0.9, 1.2)))


def _concept(stream: Stream, _: np.random.Generator) -> Stream:
    first, second = stream.separation
    return replace(stream, separation=(0.3 * first, second))


_CHANGES: dict[str, Callable[[Stream, np.random.Generator], Stream]] = {
    "nothing": lambda stream, _: stream,
    "70% of scores permuted": lambda stream, _: replace(
        stream, broken_score=_permuted(0.7, _best(stream))
    ),
    "all scores permuted": lambda stream, _: replace(
        stream, broken_score=_permuted(1.0, _best(stream))
    ),
    "stale input": lambda stream, _: replace(stream, broken_score=_stale(_best(stream))),
    "constant input": lambda stream, _: replace(stream, broken_score=_constant(_best(stream))),
    "another model": lambda stream, rng: replace(
        stream, broken_score=_other_model(_best(stream), rng.uniform(0.8, 1.2))
    ),
    "scores rescaled": _rescaled,
    "concept changes": _concept,
    "positives of a new kind": lambda stream, rng: replace(
        stream, new_positives=float(rng.uniform(0.4, 0.6))
    ),
    "negatives of a new kind": lambda stream, rng: replace(
        stream, new_negatives=float(rng.uniform(0.2, 0.3))
    ),
    "twice the positives": lambda stream, _: replace(stream, class_prior=2 * stream.class_prior),
    "half the positives": lambda stream, _: replace(stream, class_prior=stream.class_prior / 2),
    "twice the share confirmed": lambda stream, _: replace(stream, confirmed=2 * stream.confirmed),
    "half the share confirmed": lambda stream, _: replace(stream, confirmed=stream.confirmed / 2),
    "easy positives confirmed": lambda stream, rng: replace(
        stream, slope=float(rng.uniform(0.7, 1.2))
    ),
    "hard positives confirmed": lambda stream, rng: replace(
        stream, slope=-float(rng.uniform(0.7, 1.2))
    ),
    "only a queue reviewed": lambda stream, rng: replace(
        stream, queue=float(rng.uniform(0.05, 0.15))
    ),
    "late labels": lambda stream, rng: replace(stream, mean_delay=float(rng.uniform(25, 45)) * DAY),
}

BREAKS = {
    "nothing": "none",
    "70% of scores permuted": "ranking",
    "all scores permuted": "ranking",
    "stale input": "ranking",
    "constant input": "ranking",
    "another model": "ranking",
    "scores rescaled": "score_scale",
    "concept changes": "ranking",
    "positives of a new kind": "ranking",
    "negatives of a new kind": "ranking",
    "twice the positives": "class_prior",
    "half the positives": "class_prior",
    "twice the share confirmed": "confirmed_share",
    "half the share confirmed": "confirmed_share",
    "easy positives confirmed": "labeling",
    "hard positives confirmed": "labeling",
    "only a queue reviewed": "labeling",
    "late labels": "label_delay",
}
"""Each break to the cause that is right."""


def _day(stream: Stream, best: np.ndarray, number: int, rng: np.random.Generator) -> Day:
    season = 0.35 * np.sin(2 * np.pi * number / 365.25) + np.log(0.7) * (number % 7 >= 5)
    log_odds = special.logit(stream.class_prior) + season + 0.25 * rng.normal()
    positive = rng.random(stream.rows) < special.expit(log_odds)
    centre = np.array(stream.separation) * (1 + 0.05 * rng.normal())
    inputs = rng.normal(size=(stream.rows, 2))
    inputs[positive] += centre
    new = rng.random(stream.rows)
    inputs[positive & (new < stream.new_positives)] -= 0.85 * centre
    inputs[~positive & (new < stream.new_negatives)] += 0.75 * centre
    score = stream.broken_score or (lambda some, _, __: some @ best)
    scores = score(inputs, positive, rng)
    shown = special.expit(stream.shift + stream.stretch * (scores - 1.5))
    cell = np.minimum((shown * CELLS).astype(int), CELLS - 1)
    chance = np.exp(stream.slope * (scores - scores[positive].mean()))
    chance[scores < np.quantile(scores, 1 - stream.queue)] = 0
    chance = np.minimum(stream.confirmed * chance / chance[positive].mean(), 1)
    delay = rng.exponential(stream.mean_delay, stream.rows)
    labeled = positive & (rng.random(stream.rows) < chance) & (delay <= DELAY_EDGES[-1])
    return (
        np.bincount(cell[labeled], minlength=CELLS),
        np.bincount(cell, minlength=CELLS),
        np.bincount(np.searchsorted(DELAY_EDGES, delay[labeled]), minlength=25),
    )


def _period(days: list[Day]) -> Period:
    return Period.counted(
        [(_MIDDLES, labeled, rows) for labeled, rows, _ in days],
        edges=EDGES,
        arrivals=np.sum([arrivals for _, _, arrivals in days], axis=0),
        delay_edges=DELAY_EDGES,
    )


def named(title: str, kind: str, seed: int) -> Cause | None:
    """The cause that is named after one break."""
    numbers = list(STREAMS).index(title), list(BREAKS).index(kind)
    rng = np.random.default_rng([seed, *numbers])
    stream = STREAMS[title]
    best = _best(stream)
    first = int(rng.integers(0, 365))
    before = [_day(stream, best, first + k, rng) for k in range(REFERENCE + QUIET)]
    broken = _CHANGES[kind](stream, rng)
    now = [_day(broken, best, first + REFERENCE + QUIET + k, rng) for k in range(SINCE)]
    reference, quiet = before[:REFERENCE], before[REFERENCE:]
    prior = float(stream.class_prior * np.exp(0.15 * rng.normal()))
    changed = what_changed(
        [one[:2] for one in reference], [one[:2] for one in (*quiet, *now)], class_prior=prior
    )
    return name_cause(
        _period(reference),
        _period(now),
        class_prior=prior if changed is None else changed.reference,
        changed=changed,
    )


def judged(cause: Cause | None, truth: str) -> tuple[str, str]:
    """Right, wrong, either or open; and what was said."""
    if cause is None:
        return "open", "no cause"
    kinds = set(cause.kinds)
    if truth == "none":
        return ("right" if kinds <= {"none"} else "wrong"), " and ".join(cause.kinds) or "unclear"
    if kinds and kinds != {"none"}:
        return ("right" if kinds == {truth} else "wrong"), " and ".join(cause.kinds)
    text = " or ".join(cause.possible)
    return ("either" if truth in cause.possible else "open"), f"perhaps {text}"


def main(*, quick: bool = False, seed: int = 9000, each: int = 8) -> None:
    """Print how often each break is named right, wrong, or as one of two."""
    each = 1 if quick else each
    cases = [
        (title, kind, seed + number)
        for title in STREAMS
        for kind in BREAKS
        for number in range(each)
    ]
    verdicts = [judged(named(*case), BREAKS[case[1]]) for case in cases]
    for heading, place in (("By break", 1), ("By model", 0)):
        table: dict[str, list[tuple[str, str]]] = {}
        for case, verdict in zip(cases, verdicts, strict=True):
            table.setdefault(str(case[place]), []).append(verdict)
        table["all"] = verdicts
        _show(f"{heading}: {len(verdicts)} breaks", table)


def _show(heading: str, table: dict[str, list[tuple[str, str]]]) -> None:
    names = ("right", "wrong", "either", "open")
    rows = []
    for title, verdicts in table.items():
        number = Counter(name for name, _ in verdicts)
        others = Counter(text for name, text in verdicts if name in ("wrong", "open"))
        rows.append(
            [
                title,
                *(f"{number[name] / len(verdicts):.1%}" for name in names),
                "; ".join(f"{text} {times}" for text, times in others.most_common(4)),
            ]
        )
    show(heading, ["", *names, "wrong or open"], rows)
