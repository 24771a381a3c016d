"""How soon a lasting change of a class prior that is followed is seen."""

from __future__ import annotations

from typing import Final

from pumonitor.prior.over_time import Level, Summariser, WindowSummary

MOST_WINDOWS: Final = 40
"""So many are looked at."""

_QUIET: Final = 5


def windows_until_seen(
    summariser: Summariser, level: Level, ratio: float, *, odds: float, windows: float
) -> int | None:
    """In how many windows the odds that the class prior has moved exceed a limit twice running.

    Each window is as it is expected: its numbers are those of a mean window of the reference, with
    so many times as many positives. So about half of such changes are seen by then.

    Parameters
    ----------
    summariser : Summariser
        Of the reference.
    level : Level
        Of its class prior.
    ratio : float
        Class prior after the change, over that before.
    odds : float
    windows : float
        Of the reference, in number: one that was stored does not hold them.

    Returns
    -------
    int or None
        None where more than `MOST_WINDOWS` would be needed.

    Examples
    --------
    >>> import numpy as np
    >>> from pumonitor.prior.over_time import Cells
    >>> rng = np.random.default_rng(1)
    >>> def day():
    ...     positive = rng.random(2000) < 0.1
    ...     scores = np.sort(rng.normal(size=2000) + 2.0 * positive)
    ...     labeled = rng.random(2000) < 0.3 * (scores > 1.5)
    ...     return Cells.of_counts(scores, labeled, np.ones(2000))
    >>> summariser = Summariser.learned([day() for _ in range(10)])
    >>> level = Level.given(0.1, 0.08, 0.12)
    >>> windows_until_seen(summariser, level, 2.0, odds=9.0, windows=10)
    3
    """
    followed = summariser.begun(level)
    before, after = (_expected(summariser, level, times, windows=windows) for times in (1.0, ratio))
    for _ in range(_QUIET):
        followed = followed.after(before)
    running = 0
    for number in range(1, MOST_WINDOWS + 1):
        followed = followed.after(after)
        moved = followed.moved()
        running = running + 1 if moved > odds * (1 - moved) else 0
        if running == 2:
            return number
    return None


def _expected(
    summariser: Summariser, level: Level, ratio: float, *, windows: float
) -> WindowSummary:
    """A mean window of the reference with so many times as many positives."""
    then = summariser.reference
    rows = then.rows / windows
    confirmed = min(ratio * then.confirmed / windows, rows)
    prior = float(level.class_prior @ level.weight)
    of_negatives = (then.all_mean - prior * then.confirmed_mean) / (1 - prior)
    moved = (min(ratio * prior, 0.99) - prior) * (then.confirmed_mean - of_negatives)
    return WindowSummary(
        rows=rows,
        confirmed=confirmed,
        all_mean=then.all_mean + moved,
        all_variance=summariser.variance / rows,
        confirmed_mean=then.confirmed_mean,
        confirmed_variance=summariser.variance_of_positives / confirmed
        + summariser.between_of_positives,
    )
