"""What it buys to know the class prior of one period: narrower now, and after the model breaks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pumonitor.prior.followed.founding import WindowRows
from pumonitor.prior.followed.level import estimated_levels
from pumonitor.prior.over_time import Cells, Level, PriorFilter, Summariser, WindowSummary
from pumonitor.prior.over_time.level import MOST
from pumonitor.stats.audited_share import jeffreys_interval

AUDITS: Final = (200, 500)
"""Cases of the audits that are compared."""

_AFTER_BREAK: Final = 5
_LEFT: Final = 0.5
_VALUE_LOW_HIGH: Final = (0.5, 0.025, 0.975)

Interval = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """The class prior that windows would show, by what is known of one period.

    Attributes
    ----------
    cases : int or None
        Of an audit of that period; None: nothing is known but scores and confirmations.
    now, after_break : tuple of float
        Value and the ends of its 95% interval, in a window as they were, and in the fifth window
        after half of the scores went to other rows.
    """

    cases: int | None
    now: Interval
    after_break: Interval


def worth_of_audits(
    rows: WindowRows, *, windows: int, method: str, label_purity: float, rng: int
) -> list[Worth]:
    """What scores and confirmations tell by themselves, and what with an audit of each size.

    The same filter that follows the monitor's windows is begun on these rows, once from each
    level, and sees further windows that are exactly like their mean. Then the model breaks: a half
    of the rows, whatever they are, get the score of some other row, so that the scores of all rows
    are as they were and those of positives are half as far above them. Each audit finds the share
    that is estimated without it. It is an outlook: what an audit really finds, and how much windows
    differ by themselves, is not in it.

    Parameters
    ----------
    rows : WindowRows
        Of several windows together, whose labels are mature.
    windows : int
        How many they are.
    method, label_purity, rng
        As of `estimated_levels`.

    Returns
    -------
    list of Worth
        The first without an audit; empty where the rows tell nothing.
    """
    [origin] = estimated_levels([[rows]], method=method, label_purity=label_purity, seeds=[rng])
    if rows.table is None or origin is None:
        return []
    summariser = Summariser.learned([Cells.of_table(rows.table)])
    usual = _mean_window(summariser, windows=windows)
    summariser = replace(summariser, founding=(usual,) * windows)
    found = [_worth(None, origin.level, summariser, usual, label_purity=label_purity)]
    share = found[0].now[0]
    for cases in AUDITS:
        value, low, high = (
            min(end / label_purity, MOST) for end in jeffreys_interval(share * cases, cases)
        )
        level = Level.given(value, low, high)
        found.append(_worth(cases, level, summariser, usual, label_purity=label_purity))
    return found


def _mean_window(summariser: Summariser, *, windows: int) -> WindowSummary:
    whole = summariser.reference
    rows, confirmed = whole.rows / windows, whole.confirmed / windows
    return replace(
        whole,
        rows=rows,
        confirmed=confirmed,
        all_variance=whole.all_variance * windows,
        confirmed_variance=whole.confirmed_variance * windows,
    )


def _worth(
    cases: int | None,
    level: Level,
    summariser: Summariser,
    usual: WindowSummary,
    *,
    label_purity: float,
) -> Worth:
    high = usual.all_mean + _LEFT * (usual.confirmed_mean - usual.all_mean)
    broken = replace(usual, confirmed_mean=high)
    now = summariser.begun(level).after(usual)
    after_break = now
    for _ in range(_AFTER_BREAK):
        after_break = after_break.after(broken)
    return Worth(
        cases=cases,
        now=_interval(now, label_purity),
        after_break=_interval(after_break, label_purity),
    )


def _interval(followed: PriorFilter, label_purity: float) -> Interval:
    value, low, high = (
        label_purity * float(end) for end in followed.quantiles(list(_VALUE_LOW_HIGH))
    )
    return value, low, high
