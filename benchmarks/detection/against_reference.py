"""False alarms of rules `from: reference` on quiet days that differ: `--only against-reference`.

Streams of daily windows in which nothing changes for good. Confirmed positives are Poisson about a
level of 10, 20 or 50 that varies by a third from day to day and by a fifth over the week; the
distance of positives from negatives varies from day to day (SD of AUL .05 beyond sampling) and over
the year (amplitude .02 of AUL), the class prior wanders (AR(1) of .9, SD .3 on the logit).
Recall is the share of the confirmed above a threshold with Jeffreys' interval, AUL their mean
placement among all rows with Student's on the logit scale, as in the evaluation; AUC stands on a
prior that is given as .05 to .16. Rules are those of the product, folded over a year after
references of 10, 30 and 60 days.

A rule says two things. The interval of a change has a level of 95%, so at most 2.5% of quiet days
are beyond a limit of 0, and fewer beyond 10%. And `pumonitor check` says how many alarms a year
there are at most, from those in the reference itself: of all streams 5% may have more. "month" is
the comparison with all of the reference's rows as one window, as it was before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.detection.tables import show
from pumonitor.monitor.alerts.false_alarms import QuietAlarms, always, quiet_alarms
from pumonitor.monitor.rules.alerts.change import Change
from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    KnownReference,
    Reading,
    WindowView,
)
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.ports import Window

__all__ = ["main"]

FloatArray = NDArray[np.float64]

_YEAR: Final = 365
_REFERENCES: Final = (10, 30, 60)
_PRIOR: Final = {"value": 0.1, "low": 0.05, "high": 0.16}
_THRESHOLD: Final = 1.8
_DISTANCE: Final = 1.5
_START: Final = datetime(2025, 1, 1, tzinfo=UTC)
_SERIES: Final = ("", "")
RULES: Final = (
    ("recall", "drop", 0.1, True),
    ("recall", "drop", 0.001, False),
    ("aul", "drop", 0.001, False),
    ("auc", "drop", 0.03, False),
    ("labeled_positives", "drop", 0.3, True),
)


@dataclass(slots=True)
class _Tally:
    """Of one rule over all streams."""

    days: int = 0
    beyond: int = 0
    alarms: list[int] | None = None
    of_month: int = 0
    above_bound: int = 0


def main(*, quick: bool) -> None:
    """Print a table for each level and length of the reference."""
    streams = 4 if quick else 12
    for level in (10, 20, 50):
        found = [
            _stream(level, _REFERENCES[-1] + _YEAR, np.random.default_rng([level, seed]))
            for seed in range(streams)
        ]
        for reference in _REFERENCES:
            _report(level, reference, [views[_REFERENCES[-1] - reference :] for views in found])


def _report(level: int, reference: int, streams: list[list[WindowView]]) -> None:
    tallies = {rule: _Tally(alarms=[]) for rule in RULES}
    for views in streams:
        for rule, tally in tallies.items():
            _judge(_rule(*rule), views, reference, tally)
    rows = []
    for (metric, direction, amount, relative), tally in tallies.items():
        alarms = np.array(tally.alarms)
        years = (tally.days / _YEAR) or 1
        rows.append(
            [
                f"{metric}, {direction}: {f'{100 * amount:g}%' if relative else amount}",
                f"{tally.beyond / tally.days:.2%}",
                f"{alarms.mean():.2f} +- {alarms.std(ddof=1) / len(alarms) ** 0.5:.2f}",
                f"{tally.above_bound / len(alarms):.0%}",
                f"{tally.of_month / years:.1f}",
            ]
        )
    show(
        f"Quiet days, {level:g} confirmed, reference of {reference}",
        ["", "days beyond", "alarms a year", "above check's bound", "month: alarms a year"],
        rows,
    )


def _judge(rule: AlertRule, views: list[WindowView], reference: int, tally: _Tally) -> None:
    quiet, year = views[:reference], views[reference:]
    windows = [_known(view) for view in quiet]
    found = ReferenceWindows(windows=windows)
    known_reference = KnownReference(
        as_of=_START, end=year[0].window.start, windows=lambda series: found
    )
    fold = RuleFold(rule, known_reference=known_reference)
    fold.refold(year, 0)
    evidence = [one[_SERIES] for one in fold.evidence if _SERIES in one]
    alarms = sum(one.incident for one in fold.states[-1].values())
    tally.days += len(evidence)
    tally.beyond += sum(one.kind == "breach" for one in evidence)
    assert tally.alarms is not None
    tally.alarms.append(alarms)
    said = quiet_alarms(rule, quiet, always(known_reference)) or QuietAlarms.counted(
        0, windows=1, windows_per_year=_YEAR
    )
    tally.above_bound += alarms > said.at_most
    month = ReferenceWindows(windows=[_pooled(quiet)] * 1000)
    as_month = RuleFold(
        rule, known_reference=replace(known_reference, windows=lambda series: month)
    )
    as_month.refold(year, 0)
    tally.of_month += sum(one.incident for one in as_month.states[-1].values())


def _rule(metric: str, direction: str, amount: float, relative: bool) -> AlertRule:
    condition = Change(direction=direction, amount=amount, relative=relative)  # type: ignore[arg-type]
    return AlertRule(key=metric, name=metric, metric=metric, condition=condition)


def _known(view: WindowView) -> dict[str, Uncertain]:
    return {
        name: Uncertain(value=one.value, low=one.low, high=one.high, se=one.se or 0.0)  # type: ignore[arg-type]
        for name, one in view.readings[_SERIES].items()
    }


def _pooled(views: list[WindowView]) -> dict[str, Uncertain]:
    """All rows as one window: means by the number of confirmed positives, counts added up."""
    each = [_known(view) for view in views]
    labeled = np.array([one["labeled_positives"].value for one in each])

    def mean(name: str) -> float:
        return float(np.average([one[name].value for one in each], weights=labeled))

    found = {name: _exact(mean(name)) for name in ("aul", "auc", "recall")}
    return found | {
        "labeled_positives": _exact(float(labeled.sum())),
        "class_prior": each[0]["class_prior"],
    }


def _exact(value: float) -> Uncertain:
    return Uncertain(value=value, low=value, high=value, se=0.0)


# -- streams ----------------------------------------------------------------------------------


def _stream(level: float, days: int, rng: np.random.Generator) -> list[WindowView]:
    day = np.arange(days)
    week = 0.2 * np.sin(2 * np.pi * day / 7)
    labeled = np.maximum(rng.poisson(level * np.exp(week + rng.normal(0, 0.33, days))), 2)
    season = 0.08 * np.sin(2 * np.pi * (day / _YEAR + rng.uniform()))
    # Busy days are easier: the mean over rows is not the mean over days.
    distance = _DISTANCE + season + 0.5 * week + rng.normal(0, 0.5, days)
    wander = np.zeros(days)
    for at in range(1, days):
        wander[at] = 0.9 * wander[at - 1] + rng.normal(0, 0.3 * np.sqrt(1 - 0.81))
    prior = special.expit(special.logit(0.1) + wander)
    return [_view(int(at), *_day(labeled[at], distance[at], prior[at], rng)) for at in range(days)]


def _day(
    labeled: int, distance: float, prior: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Scores of the confirmed positives, and their placements among rows without end."""
    scores = rng.normal(distance, 1, labeled)
    placements = prior * special.ndtr(scores - distance) + (1 - prior) * special.ndtr(scores)
    return scores, placements


def _view(number: int, scores: FloatArray, placements: FloatArray) -> WindowView:
    labeled = len(scores)
    hits = int((scores >= _THRESHOLD).sum())
    low, high = special.betaincinv(hits + 0.5, labeled - hits + 0.5, [0.025, 0.975])
    share = (hits + 0.5) / (labeled + 1)
    recall = Reading(
        value=hits / labeled,
        low=min(low, hits / labeled),
        high=max(high, hits / labeled),
        se=float(np.sqrt(share * (1 - share) / (labeled + 2))),
    )
    aul = _of_mean(placements)
    given = Reading(**_PRIOR)
    prior = _PRIOR["value"]
    ends = [
        (one - 0.5 * p) / (1 - p)
        for one, p in ((aul.low, _PRIOR["high"]), (aul.high, _PRIOR["low"]))
        if one is not None
    ]
    auc = ((aul.value or 0.0) - 0.5 * prior) / (1 - prior)
    window = Window(
        start=_START + timedelta(days=number),
        end=_START + timedelta(days=number + 1),
        index=number,
    )
    return WindowView(
        window=window,
        pane=0,
        as_of=window.end + timedelta(days=10),
        readings={
            _SERIES: {
                "recall": recall,
                "aul": aul,
                "auc": Reading(
                    value=auc, low=min(*ends, auc), high=max(*ends, auc), se=(aul.se or 0.0) / 0.9
                ),
                "class_prior": given,
                "labeled_positives": Reading(
                    value=float(labeled), low=float(labeled), high=float(labeled), se=0.0
                ),
            }
        },
    )


def _of_mean(placements: FloatArray) -> Reading:
    """Student's interval on the logit scale; 1 / n_L of the positives, unseen, at random."""
    labeled, value = len(placements), float(placements.mean())
    seen = float(np.sqrt(placements.var(ddof=1) / labeled))
    reach = special.stdtrit(labeled - 1, 0.975) * seen / (value * (1 - value))
    low, high = special.expit(special.logit(value) + np.array([-reach, reach]))
    low += (0.5 - low) / labeled
    error = float(np.hypot(seen, (value - 0.5) / np.sqrt(8) / (labeled + 1)))
    return Reading(value=value, low=float(low), high=float(high), se=error)
