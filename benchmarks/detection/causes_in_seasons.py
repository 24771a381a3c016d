"""Named causes where days differ, in seasons, of few confirmations: `--only causes-in-seasons`.

Thirty days of reference, then seven days after one change. Rows of a day: 4000, a tenth of them
positive. "Seasons": the class prior of a day differs by a quarter from what it should be, its
ranking by .02 of AUC; weekends have .7 of the positives, and a season of the year moves them by
a third up and down. Told to the cause is the true class prior of the reference, 15% off.

A name is right where the change is the one named; "none" is right where nothing happened. What is
named neither right nor wrong cannot be told: nothing is said, or that nothing stands out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from benchmarks.detection.cause import worse
from benchmarks.detection.incidents import CELLS, DAY, DELAY_EDGES, EDGES, World, window
from benchmarks.detection.tables import show
from pumonitor.monitoring.causes import Cause, Period, name_cause

__all__ = ["main"]

REFERENCE, SINCE = 30, 7
_SILENT = ("none", "unclear", None)


@dataclass(frozen=True, kw_only=True)
class Days:
    """How days come about."""

    confirmed: float
    seasons: bool


DAYS = {
    "50 confirmed a day, days alike": Days(confirmed=50, seasons=False),
    "50 a day, seasons": Days(confirmed=50, seasons=True),
    "10 a day, seasons": Days(confirmed=10, seasons=True),
    "1.3 a day, seasons": Days(confirmed=1.3, seasons=True),
}


def changes(before: World, rng: np.random.Generator) -> dict[str, World]:
    """The world after each change, and its name after the colon."""
    mapping = str(rng.choice(["square", "root", "steep in the middle", "flat at the top"]))
    return {
        "nothing: none": before,
        "half of the positives: class_prior": replace(before, class_prior=before.class_prior / 2),
        "ranks worse: ranking": replace(
            before, separation=worse(before.separation, rng.uniform(0.06, 0.1))
        ),
        "logits moved: score_scale": replace(
            before, shift=float(rng.uniform(0.3, 0.6)), stretch=float(rng.uniform(0.9, 1.2))
        ),
        "monotone map: score_scale": replace(before, mapping=mapping),
        "later: label_delay": replace(before, mean_delay=float(rng.uniform(25, 45)) * DAY),
        "easy ones confirmed: labeling": replace(before, easier_first=float(rng.uniform(0.7, 1.2))),
    }


def _period(world: World, days: Days, start: int, length: int, rng: np.random.Generator) -> Period:
    middles = (np.arange(CELLS) + 0.5) / CELLS
    found = []
    for day in range(start, start + length):
        season = 0.35 * np.sin(2 * np.pi * day / 365.25) + np.log(0.7) * (day % 7 >= 5)
        moved = special.logit(world.class_prior) + season * days.seasons
        found.append(window(replace(world, class_prior=float(special.expit(moved))), rng))
    return Period.counted(
        [(middles, labeled, rows) for labeled, rows, _ in found],
        edges=EDGES,
        arrivals=np.sum([arrivals for _, _, arrivals in found], axis=0),
        delay_edges=DELAY_EDGES,
    )


def named(days: Days, kind: str, rng: np.random.Generator) -> Cause | None:
    """The cause of one change."""
    before = World(
        rows=4000,
        class_prior=0.1,
        separation=float(rng.uniform(1.4, 2.2)),
        confirmed=days.confirmed / (0.95 * 400),
        between_windows=0.25 if days.seasons else 0.05,
        separation_between=0.1 if days.seasons else 0.0,
    )
    first = int(rng.integers(0, 365))
    reference = _period(before, days, first, REFERENCE, rng)
    # Some quiet weeks in between.
    now = _period(changes(before, rng)[kind], days, first + REFERENCE + 20, SINCE, rng)
    return name_cause(reference, now, class_prior=float(0.1 * np.exp(0.15 * rng.normal())))


def main(*, quick: bool = False) -> None:
    """Print shares named right, named wrong and not told, and which wrong names there were."""
    each = 2 if quick else 25
    rows = []
    totals = np.zeros(3)
    for title, days in DAYS.items():
        for kind in changes(World(), np.random.default_rng(0)):
            truth = kind.split(": ")[1]
            rng = np.random.default_rng(31)
            found = [named(days, kind, rng) for _ in range(each)]
            told = Counter(None if one is None else one.kind for one in found)
            right = told[truth] if truth != "none" else sum(told[one] for one in _SILENT)
            silent = 0 if truth == "none" else sum(told[one] for one in _SILENT)
            wrong = each - right - silent
            totals += (right, wrong, silent)
            names = ", ".join(
                f"{name} {number}"
                for name, number in told.most_common()
                if name not in (truth, *_SILENT)
            )
            rows.append(
                [
                    f"{title}: {kind}",
                    *(f"{one / each:.0%}" for one in (right, wrong, silent)),
                    names,
                ]
            )
    rows.append(["all", *(f"{one:.0%}" for one in totals / totals.sum()), ""])
    show(
        f"Named causes, {each} of each",
        ["", "right", "wrong", "cannot be told", "wrong names"],
        rows,
    )
