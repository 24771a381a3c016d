"""Named causes where days differ, in seasons, of few confirmations: `--only causes-in-seasons`.

Thirty days of reference, then seven days after one change. Rows of a day: 4000, a tenth of them
positive. "Seasons": the class prior of a day differs by a quarter from what it should be, its
ranking by .02 of AUC; weekends have .7 of the positives, and a season of the year moves them by
a third up and down. Told to the cause is the true class prior of the reference, 15% off. The class
prior is followed through the twenty quiet days in between and those since; and by hypotheses alone,
as where it is not followed.

A name is right where the change is the one named; "none" is right where nothing happened. What is
named neither right nor wrong cannot be told: nothing is said, or that nothing stands out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from benchmarks.detection.cause import worse
from benchmarks.detection.followed import what_changed
from benchmarks.detection.incidents import CELLS, DAY, DELAY_EDGES, EDGES, World, window
from benchmarks.detection.tables import show
from pumonitor.monitor.rules.causes import Cause, Period, name_cause

__all__ = ["main"]

REFERENCE, QUIET, SINCE = 30, 20, 7
_SILENT = ((), ("none",))


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


def _days(
    world: World, days: Days, start: int, length: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Labeled and all rows of each day, and how late labels came."""
    found = []
    for day in range(start, start + length):
        season = 0.35 * np.sin(2 * np.pi * day / 365.25) + np.log(0.7) * (day % 7 >= 5)
        moved = special.logit(world.class_prior) + season * days.seasons
        found.append(window(replace(world, class_prior=float(special.expit(moved))), rng))
    return found


def _period(found: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Period:
    middles = (np.arange(CELLS) + 0.5) / CELLS
    return Period.counted(
        [(middles, labeled, rows) for labeled, rows, _ in found],
        edges=EDGES,
        arrivals=np.sum([arrivals for _, _, arrivals in found], axis=0),
        delay_edges=DELAY_EDGES,
    )


def named(days: Days, kind: str, rng: np.random.Generator) -> tuple[Cause | None, Cause | None]:
    """The cause of one change: with the class prior followed, and by hypotheses alone."""
    before = World(
        rows=4000,
        class_prior=0.1,
        separation=float(rng.uniform(1.4, 2.2)),
        confirmed=days.confirmed / (0.95 * 400),
        between_windows=0.25 if days.seasons else 0.05,
        separation_between=0.1 if days.seasons else 0.0,
    )
    first = int(rng.integers(0, 365))
    reference = _days(before, days, first, REFERENCE, rng)
    now = _days(changes(before, rng)[kind], days, first + REFERENCE + QUIET, SINCE, rng)
    prior = float(0.1 * np.exp(0.15 * rng.normal()))
    quiet = _days(before, days, first + REFERENCE, QUIET, rng.spawn(1)[0])
    changed = what_changed(
        [one[:2] for one in reference],
        [one[:2] for one in (*quiet, *now)],
        class_prior=prior,
    )
    periods = _period(reference), _period(now)
    alone = name_cause(*periods, class_prior=prior)
    if changed is None:
        return alone, alone
    return name_cause(*periods, class_prior=changed.reference, changed=changed), alone


def main(*, quick: bool = False) -> None:
    """Print shares named right, named wrong and not told, and which wrong names there were."""
    each = 2 if quick else 25
    found: dict[tuple[str, str], list[tuple[Cause | None, Cause | None]]] = {}
    for title, days in DAYS.items():
        for kind in changes(World(), np.random.default_rng(0)):
            rng = np.random.default_rng(31)
            found[title, kind] = [named(days, kind, rng) for _ in range(each)]
    for place, how in enumerate(("the class prior followed", "hypotheses alone")):
        causes = {name: [both[place] for both in some] for name, some in found.items()}
        _show(f"Named causes, {how}, {each} of each", causes)


def _show(heading: str, causes: dict[tuple[str, str], list[Cause | None]]) -> None:
    rows = []
    totals = np.zeros(3)
    for (title, kind), some in causes.items():
        truth = kind.split(": ")[1]
        told = Counter(() if one is None else one.kinds for one in some)
        silent = sum(told[one] for one in _SILENT)
        right = silent if truth == "none" else sum(n for k, n in told.items() if truth in k)
        silent = 0 if truth == "none" else silent
        wrong = len(some) - right - silent
        totals += (right, wrong, silent)
        names = ", ".join(
            f"{' and '.join(kinds)} {number}"
            for kinds, number in told.most_common()
            if truth not in kinds and kinds not in _SILENT
        )
        shares = (f"{one / len(some):.0%}" for one in (right, wrong, silent))
        rows.append([f"{title}: {kind}", *shares, names])
    rows.append(["all", *(f"{one:.0%}" for one in totals / totals.sum()), ""])
    show(heading, ["", "right", "wrong", "cannot be told", "wrong names"], rows)
