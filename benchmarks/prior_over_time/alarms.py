"""How often a rule on the class prior fires while it stays, and how soon it sees that it does not.

`python -m benchmarks.prior_over_time.alarms [--years 16] [--runs 60]`. Daily windows of two normals
(AUC .92, class prior .05, label frequency .3) with 50 or 10 confirmed a day, followed from `auto`
of the first fourteen days. The rule is `{metric: class_prior, shift: any}` at one false alarm a
year, as the monitor decides it: odds twice running. Days are alike, or differ: the class prior by
.25 from day to day on the logarithmic scale, of Saturdays and Sundays by a factor of .7, and where
negatives score by a twentieth of a standard deviation. Printed are the alarms of years in which
nothing changes (a new stream begins after each), the share of streams that fire within sixty days
of a change of something else, and how soon the rule fires when the class prior doubles or halves.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from scipy import special

from benchmarks.detection.tables import show
from benchmarks.prior_over_time.methods import estimated_level
from benchmarks.prior_over_time.streams import score_table
from pumonitor.monitor.rules.alerts.prior_shift import least_odds
from pumonitor.prior.over_time import Cells, PriorFilter, Summariser

FloatArray = NDArray[np.float64]

_EDGES: Final = np.linspace(-4.0, 6.0, 201)
_APART: Final = 2.0
_PRIOR: Final = 0.05
_FREQUENCY: Final = 0.3
_REFERENCE: Final = 14
_DAYS: Final = 365
_CHANGED_AFTER: Final = 30
_SEEN_WITHIN: Final = 40
_MISTAKEN_WITHIN: Final = 60
_SOON: Final = 5
_ODDS: Final = least_odds(1.0, _DAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _World:
    """What a day is like, by its number since the reference ended."""

    rows: int
    differ: bool = False
    prior: Callable[[int], float] = lambda _: 1.0
    frequency: Callable[[int], float] = lambda _: 1.0
    apart: Callable[[int], float] = lambda _: 1.0

    def window(self, day: int, rng: np.random.Generator) -> tuple[FloatArray, ...]:
        """Scores of the cells, confirmed and all rows in them."""
        prior, shift = _PRIOR * self.prior(day), 0.0
        if self.differ:
            prior *= np.exp(0.25 * rng.normal()) * (0.7 if day % 7 in (5, 6) else 1.0)
            shift = 0.05 * rng.normal()
        positives = rng.binomial(self.rows, min(prior, 0.9))
        confirmed = rng.binomial(positives, _FREQUENCY * self.frequency(day))
        of_positives = _cells(_APART * self.apart(day))
        labeled = rng.multinomial(confirmed, of_positives)
        hidden = rng.multinomial(positives - confirmed, of_positives)
        negative = rng.multinomial(self.rows - positives, _cells(shift))
        total = labeled + hidden + negative
        held = total > 0
        return _EDGES[held], labeled[held].astype(float), total[held].astype(float)

    def begun(self, rng: np.random.Generator) -> tuple[Summariser, PriorFilter]:
        """After the days of the reference, on which nothing has changed."""
        days = [self.window(-day, rng) for day in range(_REFERENCE, 0, -1)]
        summariser = Summariser.learned([Cells.of_counts(*one) for one in days])
        return summariser, summariser.begun(estimated_level(score_table(days)))


def _cells(mean: float) -> FloatArray:
    reached = special.ndtr(_EDGES[1:] - mean)
    return np.diff(np.concatenate([[0.0], reached, [1.0]]))


def _first_alarm(world: _World, days: int, rng: np.random.Generator) -> int | None:
    """Day on which the rule first fires."""
    summariser, followed = world.begun(rng)
    odds = 0.0
    for day in range(days):
        summary, summariser = summariser.after(Cells.of_counts(*world.window(day, rng)))
        followed = followed.after(summary)
        moved = followed.moved()
        before, odds = odds, moved / max(1 - moved, 1e-12)
        if min(before, odds) > _ODDS:
            return day
    return None


def _a_year(world: _World, years: int, rng: np.random.Generator) -> float:
    """Alarms while nothing changes."""
    fired, left = 0, years * _DAYS
    while left > 0:
        day = _first_alarm(world, min(left, _DAYS), rng)
        fired += day is not None
        left -= _DAYS if day is None else day + 1
    return fired / years


def _changed(factor: float) -> Callable[[int], float]:
    return lambda day: factor if day >= _CHANGED_AFTER else 1.0


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--years", type=int, default=16)
    parser.add_argument("--runs", type=int, default=60)
    arguments = parser.parse_args()
    rng = np.random.default_rng(14)
    worlds = [
        (labels, differ, round(labels / (_PRIOR * _FREQUENCY)))
        for labels in (50, 10)
        for differ in (False, True)
    ]
    still, others, soon = [], [], []
    for labels, differ, rows in track(worlds):
        days = [str(labels), "differ" if differ else "alike"]
        a_year = _a_year(_World(rows=rows, differ=differ), arguments.years, rng)
        still.append([*days, f"{a_year:.2f}"])
        for name, changes in {
            "label frequency halves": {"frequency": _changed(0.5)},
            "the ranking falls": {"apart": _changed(0.6)},
        }.items():
            world = _World(rows=rows, differ=differ, **changes)
            fired = [
                _first_alarm(world, _CHANGED_AFTER + _MISTAKEN_WITHIN, rng) is not None
                for _ in range(arguments.runs)
            ]
            others.append([*days, name, f"{np.mean(fired):.2f}"])
        for factor in (2.0, 0.5):
            world = _World(rows=rows, differ=differ, prior=_changed(factor))
            found = []
            while len(found) < arguments.runs:
                day = _first_alarm(world, _CHANGED_AFTER + _SEEN_WITHIN, rng)
                if day is None or day >= _CHANGED_AFTER:
                    found.append(_SEEN_WITHIN + 1 if day is None else day - _CHANGED_AFTER + 1)
            within = np.mean(np.array(found) <= _SOON)
            half, most = np.quantile(found, [0.5, 0.9])
            soon.append([*days, f"{factor:g}", f"{within:.2f}", f"{half:.0f}", f"{most:.0f}"])
    columns = ("confirmed a day", "days")
    show("While nothing changes", (*columns, "alarms a year"), still)
    show("Something else changes", (*columns, "what", "fires within 60 days"), others)
    show(
        "The class prior changes",
        (*columns, "times", "fires within 5 days", "half by day", "nine in ten by day"),
        soon,
    )


if __name__ == "__main__":
    main()
