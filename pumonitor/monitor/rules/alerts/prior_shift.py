"""Rules on a lasting change of a followed class prior: the condition, and its evidence."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from pumonitor.monitor.rules.alerts.false_discovery import alarm_together
from pumonitor.monitor.rules.alerts.rule import AlertRule, Reading, Series, Tests, WindowView
from pumonitor.monitor.rules.alerts.shift import SequentialCondition
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.monitor.rules.alerts.usable import unusable
from pumonitor.monitor.rules.reference.one_prior import LEVEL_FACTOR, PRIOR_FACTOR, PRIOR_MOVED
from pumonitor.names import estimate_text, title
from pumonitor.prior.over_time import CHANGES
from pumonitor.text import moment_cell, percent_text, with_interval

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.fold import RuleFold

_QUARTER: Final = 1.25
LEAST_ODDS: Final = 4.0
"""Least odds for an alarm; a probability of .8.

With it 1 to 2% of runs of 48 windows have a false alarm, and four of five halvings are detected
(`python -m benchmarks.prior_over_time`)."""
_CHANGES_PER_WINDOW: Final = sum(one.probability for one in CHANGES if one.prior)


def least_odds(false_alarms_per_year: float, windows_per_year: float) -> float:
    """Odds of a moved class prior that two windows in a row must exceed for an alarm.

    Notes
    -----
    Let p be the filter's probability of a change in a window. The odds divided by p are the
    Shiryaev-Roberts statistic for the filter's mixture of changes. While nothing changes, this
    statistic less the number of windows is a martingale, so odds of p A are reached after A windows
    or later on average. The result is at least `LEAST_ODDS`.
    """
    return max(LEAST_ODDS, _CHANGES_PER_WINDOW * windows_per_year / false_alarms_per_year)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorShift(SequentialCondition):
    """Breach: by its posterior, a followed class prior has moved by a quarter or more.

    The rate of false alarms is an upper bound. The filter starts from the `reference_windows`,
    which have no posterior; `begins` is the end of the reference, if one is configured.
    """

    key_version = 2  # since it reads the posterior

    @property
    def fires(self) -> str:
        """When the rule fires."""
        side = "" if self.direction == "any" else f" {self.direction}"
        odds = least_odds(self.false_alarms_per_year, self.windows_per_year)
        return (
            f"the probability that the share of positives has changed by a quarter or more{side} "
            f"is above {percent_text(odds / (1 + odds))} in two windows in a row "
            f"(false alarms a year: at most {self.false_alarms_per_year:g})"
        )

    def metrics(self, metric: str) -> tuple[str, ...]:
        """What the posterior is stored in."""
        return (metric, PRIOR_MOVED, PRIOR_FACTOR, LEVEL_FACTOR)

    def first_window(
        self, first: datetime, *, reference_end: datetime | None
    ) -> tuple[datetime, int]:
        """After the reference, or after the windows that the filter starts from."""
        del reference_end
        if self.begins is None:
            return first, self.reference_windows
        return max(first, self.begins), 0

    def tests(self, fold: RuleFold) -> Tests:
        """By the posterior of each series."""
        return lambda views, index: prior_shift_evidence(
            views, index, fold.rule, self, earlier=fold.evidence
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Posterior:
    """Posterior of one series at a window: level of the class prior, its factor, P(moved)."""

    level: Reading
    factor: Reading
    chance: float

    @property
    def ratio(self) -> float:
        return 1.0 if self.factor.value is None else self.factor.value

    @property
    def rises(self) -> bool:
        return self.ratio > 1

    def odds(self, direction: str) -> float:
        """Odds that the class prior has moved, 0 if in another direction than `direction`."""
        if direction != "any" and self.rises is not (direction == "up"):
            return 0.0
        return self.chance / max(1 - self.chance, 1e-12)


def prior_shift_evidence(
    views: Sequence[WindowView],
    index: int,
    rule: AlertRule,
    condition: PriorShift,
    *,
    earlier: Sequence[Mapping[Series, Evidence]],
) -> dict[Series, Evidence]:
    """Evidence of the window at `index` for every series seen so far.

    A window is a breach when its odds and those of the window before exceed `least_odds`. It is
    good when the probability that the class prior has moved is below one half.

    Parameters
    ----------
    views : sequence of WindowView
    index : int
    rule : AlertRule
    condition : PriorShift
    earlier : sequence of mapping of series to Evidence
        Evidence of the windows before.

    Notes
    -----
    With one alert per segment, m segments share the rule's rate of false alarms: the limit of each
    is m times as high. k segments that exceed a k-th of that limit alarm together (e-BH).
    """
    view = views[index]
    before = earlier[-1] if earlier else {}
    known = sorted({*before, *filter(rule.covers, view.readings)})
    posteriors = {series: _posterior(view, series) for series in known}
    twice = {
        series: min(
            one.odds(condition.direction), _odds_before(views, index, series, condition.direction)
        )
        for series, one in posteriors.items()
        if one is not None
    }
    limits = {
        series: _limit(condition, series, known if rule.per else (series,)) for series in known
    }
    bad = {series for series, odds in twice.items() if odds > limits[series]}
    if rule.per:
        shares = {
            series: math.inf if odds > limits[series] else odds / limits[series]
            for series, odds in twice.items()
        }
        together = alarm_together(shares, rate=rule.false_discovery_rate)
        bad |= {series for series in together if twice[series] > LEAST_ODDS}
    found = {}
    for series, one in posteriors.items():
        if one is None:
            found[series] = _missing(view, series)
            continue
        odds = one.odds(condition.direction)
        since = _since(view, series, earlier) if odds > 1 else None
        found[series] = _evidence(view, one, bad=series in bad, odds=odds, since=since)
    return found


def _posterior(view: WindowView, series: Series) -> _Posterior | None:
    readings = view.readings.get(series, {})
    chance, prior = readings.get(PRIOR_MOVED), readings.get("class_prior")
    if view.failed or chance is None or chance.value is None or prior is None:
        return None
    of_window = readings.get(PRIOR_FACTOR, Reading(value=None))
    factor = readings.get(LEVEL_FACTOR, of_window)  # windows of earlier versions: the level's
    return _Posterior(level=_level(prior, of_window, factor), factor=factor, chance=chance.value)


def _level(prior: Reading, of_window: Reading, factor: Reading) -> Reading:
    """Level of the class prior: the reference's error and that of the level's factor, in squares.

    The reference's error is that of the window's class prior without that of its own factor.
    """
    ends = [(one.low, one.value, one.high) for one in (prior, of_window, factor)]
    if factor == of_window or any(not end for one in ends for end in one):
        return prior
    logs = np.log(np.array(ends, dtype=float))
    apart = np.diff(logs, axis=1) ** 2
    below, above = np.sqrt(np.maximum(apart[0] - apart[1], 0.0) + apart[2])
    middle = logs[0, 1] - logs[1, 1] + logs[2, 1]
    low, value, high = np.exp([middle - below, middle, middle + above]).tolist()
    return Reading(value=value, low=low, high=min(high, 1.0))


def _odds_before(views: Sequence[WindowView], index: int, series: Series, direction: str) -> float:
    """Odds at the last earlier window with a posterior; 0 if there is none."""
    for view in reversed(views[:index]):
        posterior = _posterior(view, series)
        if posterior is not None:
            return posterior.odds(direction)
    return 0.0


def _limit(condition: PriorShift, series: Series, known: Collection[Series]) -> float:
    sharing = sum(one[0] == series[0] for one in known)
    return least_odds(condition.false_alarms_per_year / sharing, condition.windows_per_year)


def _missing(view: WindowView, series: Series) -> Evidence:
    found = unusable(view, series, "class_prior")
    if found is not None:
        return found
    reason = (
        f"{title('class_prior')} is followed from the end of the reference on, and this window is "
        "earlier"
    )
    return Evidence(window=view.window, kind="insufficient", reason=reason)


def _since(
    view: WindowView, series: Series, earlier: Sequence[Mapping[Series, Evidence]]
) -> datetime:
    """Start of the first window in the unbroken run in which a move was more likely than not."""
    for found in reversed(earlier):
        before = found.get(series)
        if before is not None and before.reference is not None:
            return before.since or view.window.start
    return view.window.start


def _evidence(
    view: WindowView, posterior: _Posterior, *, bad: bool, odds: float, since: datetime | None
) -> Evidence:
    value = posterior.level.value
    usual = None if value is None else value / posterior.ratio
    stated = f"{title('class_prior')} is {estimate_text('class_prior', value)}"
    factor = posterior.factor
    times = with_interval(posterior.ratio, factor.low, factor.high, unit=" times")
    times += " that of the reference"
    if bad and since is not None:
        verb = "risen" if posterior.rises else "fallen"
        reason = f"{stated}; it has {verb} to {times} since about {moment_cell(since)}"
    else:
        reason = (
            f"{stated}, {times}; the probability that it has changed by a quarter or more is "
            f"{percent_text(posterior.chance)}"
        )
    return Evidence(
        window=view.window,
        kind="breach" if bad else "good" if odds < 1 else "insufficient",
        value=value,
        low=posterior.level.low,
        high=posterior.level.high,
        limit=None if usual is None else usual * _QUARTER ** (1 if posterior.rises else -1),
        reference=usual,
        reason=reason,
        since=since,
    )
