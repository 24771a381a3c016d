"""Weeks whose class prior differs by itself: does the interval hold the week's own, or a mean?

`python -m benchmarks.prior_over_time.weeks_that_differ [--seeds FIRST LAST] [--only EVENT ...]
[--labels 20 60 200] [--spreads 0 0.2 0.4 0.6] [--kept 0 0.7] [--apart 1 2.5] [--auto]`.

Two normals (AUC .76 or .96), a class prior of .03 or .1 by which weeks differ by so much on the
logarithmic scale, independently or with an autocorrelation of .7, 20 to 200 confirmed a week,
twelve weeks as reference, forty that are followed. The class prior of the reference is given once,
known to a fifth (or comes from `auto`). Printed are, of each cell, the share of weeks whose own
class prior (of the process, not of the rows drawn) lies in its interval, the median of log(high /
low), the same of precision at a threshold, runs with an alarm of the rule on the class prior before
and after the sixteenth week, and, where something happens then, how far the level is off in the
third week after it (mean and largest, as factors) and after how many weeks the rule fires.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from scipy import special

from benchmarks.detection.tables import show
from benchmarks.prior_over_time.methods import estimated_level
from benchmarks.prior_over_time.streams import score_table
from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.rules.alerts.prior_shift import least_odds
from pumonitor.prior.over_time import Cells, Level, Summariser

__all__ = ["EVENTS", "Cell", "Run", "run_stream"]

FloatArray = NDArray[np.float64]

REFERENCE: Final = 12
FOLLOWED: Final = 40
CHANGED_FROM: Final = 16
_EDGES: Final = np.linspace(-4.0, 7.0, 221)
_THRESHOLD: Final = _EDGES[110]
_TAILS: Final = [0.025, 0.5, 0.975]
_KNOWN_TO: Final = 0.2
_ODDS: Final = least_odds(1.0, 52)

EVENTS: Final = (
    "nothing",
    "label frequency drifts",
    "one week of more positives",
    "two weeks of more positives",
    "one week of more confirmed",
    "two weeks of more confirmed",
    "prior x2",
    "prior x1/2",
    "ranking breaks",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What the weeks of a stream are like."""

    event: str
    labels: int
    spread: float
    kept: float
    apart: float
    auto: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Of each week that was followed: the truth, intervals, level, whether the rule fires."""

    prior: FloatArray
    held: NDArray[np.bool_]
    width: FloatArray
    level: FloatArray
    usual: float
    precision_held: list[bool]
    precision_width: list[float]
    alarms: NDArray[np.bool_]


def _cells(mean: float) -> FloatArray:
    reached = special.ndtr(_EDGES[1:] - mean)
    return np.diff(np.concatenate([[0.0], reached, [1.0]]))


def _courses(cell: Cell, rng: np.random.Generator) -> tuple[float, FloatArray, FloatArray]:
    """The usual class prior, and of each week its class prior and label frequency."""
    weeks = np.arange(REFERENCE + FOLLOWED)
    usual, frequency = (0.03 if rng.random() < 0.5 else 0.1), np.full(len(weeks), 0.3)
    own = np.empty(len(weeks))
    own[0] = rng.normal()
    for week in weeks[1:]:
        own[week] = cell.kept * own[week - 1] + np.sqrt(1 - cell.kept**2) * rng.normal()
    prior = usual * np.exp(cell.spread * own - 0.5 * cell.spread**2)
    since = weeks - REFERENCE - CHANGED_FROM
    times = rng.choice([3.0, 4.0, 5.0])
    burst = (since >= 0) & (since < (2 if cell.event.startswith("two") else 1))
    if cell.event.endswith("more positives"):
        prior = np.where(burst, times * prior, prior)
    elif cell.event.endswith("more confirmed"):
        frequency = np.where(burst, 0.18 * times, 0.18)
    elif cell.event == "label frequency drifts":
        frequency = frequency * np.exp(-0.015 * weeks + 0.15 * rng.normal(size=len(weeks)))
    elif cell.event.startswith("prior x"):
        prior = np.where(since >= 0, (0.5 if cell.event.endswith("1/2") else 2.0) * prior, prior)
    return usual, np.minimum(prior, 0.9), np.minimum(frequency, 0.95)


def run_stream(cell: Cell, seed: int) -> Run:
    """A stream, followed."""
    rng = np.random.default_rng(
        [
            seed,
            EVENTS.index(cell.event),
            cell.labels,
            round(100 * cell.spread),
            round(100 * cell.kept),
            round(100 * cell.apart),
        ]
    )
    usual, prior, frequency = _courses(cell, rng)
    rows = round(cell.labels / (usual * frequency[0]))
    counted = []
    for week in range(REFERENCE + FOLLOWED):
        broken = cell.event == "ranking breaks" and week >= REFERENCE + CHANGED_FROM
        of_positives = _cells((0.5 if broken else 1.0) * cell.apart)
        positives = rng.binomial(rows, prior[week])
        confirmed = rng.binomial(positives, frequency[week])
        labeled = rng.multinomial(confirmed, of_positives)
        others = rng.multinomial(positives - confirmed, of_positives)
        total = labeled + others + rng.multinomial(rows - positives, _cells(0.0))
        held = total > 0
        counted.append((_EDGES[held], labeled[held].astype(float), total[held].astype(float)))
    summariser = Summariser.learned([Cells.of_counts(*one) for one in counted[:REFERENCE]])
    if cell.auto:
        level = estimated_level(score_table(counted[:REFERENCE]))
    else:
        middle = special.logit(prior[:REFERENCE].mean()) + rng.normal(scale=0.5 * _KNOWN_TO)
        low, value, high = special.expit([middle - _KNOWN_TO, middle, middle + _KNOWN_TO])
        level = Level.given(value, low, high)
    followed = summariser.begun(level)
    held, width, levels, alarms, odds = [], [], [], [], 0.0
    precision_held, precision_width = [], []
    of_window = getattr(type(followed), "window_quantiles", type(followed).quantiles)
    for week in range(REFERENCE, REFERENCE + FOLLOWED):
        summary, summariser = summariser.after(Cells.of_counts(*counted[week]))
        followed = followed.after(summary)
        low, value, high = of_window(followed, _TAILS).tolist()
        held.append(low <= prior[week] <= high)
        width.append(np.log(high / low))
        levels.append(float(followed.quantiles([0.5])[0]))
        moved = followed.moved()
        before, odds = odds, moved / max(1 - moved, 1e-12)
        alarms.append(min(before, odds) > _ODDS)
        if week % 5 == 0 and counted[week][1].sum() >= 2 and cell.event in EVENTS[:2]:
            found = evaluate_table(
                score_table([counted[week]]).compress(512, thresholds=[_THRESHOLD]),
                threshold=_THRESHOLD,
                class_prior=(value, low, high),
                curves=False,
                rng=0,
            )["precision"]
            true, false = 1 - special.ndtr(_THRESHOLD - cell.apart), 1 - special.ndtr(_THRESHOLD)
            truth = prior[week] * true / (prior[week] * true + (1 - prior[week]) * false)
            precision_held.append(bool(found.low <= truth <= found.high))
            precision_width.append(found.high - found.low)
    return Run(
        prior=prior[REFERENCE:],
        held=np.array(held),
        width=np.array(width),
        level=np.array(levels),
        usual=usual,
        precision_held=precision_held,
        precision_width=precision_width,
        alarms=np.array(alarms),
    )


def _row(cell: Cell, runs: list[Run]) -> list[str]:
    after = CHANGED_FROM + (4 if cell.event.startswith("two") else 3)
    bursts = cell.event.split()[0] in ("one", "two")
    off = np.log([one.level[after] / one.level[CHANGED_FROM - 1] for one in runs])
    fired = [np.flatnonzero(one.alarms[CHANGED_FROM:]) for one in runs]
    early = sum(bool(one.alarms[:CHANGED_FROM].any()) for one in runs)
    later = sum(bool(one.alarms[CHANGED_FROM:].any()) for one in runs)
    soon = [int(one[0]) + 1 if len(one) else 99 for one in fired]
    precise = [held for one in runs for held in one.precision_held]
    widths = [width for one in runs for width in one.precision_width]
    return [
        cell.event,
        str(cell.labels),
        f"{cell.spread:g}",
        f"{cell.kept:g}",
        f"{cell.apart:g}",
        f"{np.mean([one.held for one in runs]):.3f}",
        f"{np.median([one.width for one in runs]):.2f}",
        f"{np.mean(precise):.3f}" if precise else "",
        f"{np.median(widths):.2f}" if widths else "",
        f"{early}",
        f"{later}",
        f"{len(runs)}",
        f"{np.exp(np.mean(np.abs(off))):.2f} {np.exp(np.abs(off).max()):.2f}" if bursts else "",
        f"{np.median(soon):.0f}" if cell.event.startswith("prior") else "",
    ]


def _all(arguments: argparse.Namespace) -> Iterator[Cell]:
    for event, spread, kept, apart, labels in product(
        arguments.only, arguments.spreads, arguments.kept, arguments.apart, arguments.labels
    ):
        yield Cell(
            event=event, labels=labels, spread=spread, kept=kept, apart=apart, auto=arguments.auto
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, nargs=2, default=[0, 10], help="from, to below")
    parser.add_argument("--labels", type=int, nargs="+", default=[20, 60, 200])
    parser.add_argument("--spreads", type=float, nargs="+", default=[0.0, 0.2, 0.4, 0.6])
    parser.add_argument("--kept", type=float, nargs="+", default=[0.0, 0.7])
    parser.add_argument("--apart", type=float, nargs="+", default=[1.0, 2.5])
    parser.add_argument("--only", nargs="+", default=list(EVENTS), choices=EVENTS)
    parser.add_argument("--auto", action="store_true", help="the level from the scores")
    arguments = parser.parse_args()
    rows = [
        _row(cell, [run_stream(cell, seed) for seed in range(*arguments.seeds)])
        for cell in track(list(_all(arguments)))
    ]
    show(
        "Weeks that differ",
        (
            "event",
            "confirmed",
            "spread",
            "kept",
            "apart",
            "prior held",
            "width",
            "precision held",
            "width ",
            "early alarms",
            "alarms",
            "runs",
            "off after burst",
            "fires after",
        ),
        rows,
    )


if __name__ == "__main__":
    main()
