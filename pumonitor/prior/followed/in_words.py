"""Where the class prior of a window comes from, and what cannot be told of it, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from pumonitor.plain_text import one_line
from pumonitor.prior.followed.changes_in_words import prior_changes
from pumonitor.prior.followed.founding import (
    CONFIRMED_TO_FOUND,
    FEWEST_CONFIRMED_TO_FOUND,
    LONG_TO_FOUND,
    WINDOWS_TO_FOUND,
)
from pumonitor.text import count_text, day_text, percent_with_interval, period_text

__all__ = ["prior_changes", "prior_origin", "prior_sentences"]

_DAY: Final = timedelta(days=1)
_CLOCK_CHANGE: Final = timedelta(hours=1)


def prior_sentences(over_time: Mapping[str, Any]) -> str:
    """Both: where it comes from, and what has changed since.

    Parameters
    ----------
    over_time : mapping
        Of the diagnostics of a class prior that is followed
        (`pumonitor.prior.followed.followed_prior.FollowedPrior.estimate`).
    """
    since = "since then" if over_time["windows"] else ""
    said = prior_origin(over_time), prior_changes(over_time, since=since)
    return " ".join(filter(None, said))


def prior_origin(over_time: Mapping[str, Any]) -> str:
    """Where it comes from, and how far it was followed.

    Parameters
    ----------
    over_time : mapping
        As of `prior_sentences`.

    Examples
    --------
    >>> level = {"source": "auto", "value": 0.05, "low": 0.02, "high": 0.09, "windows": 13,
    ...          "start": "2026-01-01T00:00:00+00:00", "end": "2026-01-14T00:00:00+00:00"}
    >>> followed = {"level": level, "windows": 41, "moved": 0.02, "index": "score"}
    >>> print(prior_origin(followed))
    Estimated as 5.0% (2.0 to 9.0%) from the scores of the first 13 windows (1 to 13 January 2026)
    and followed through 41 windows since.
    >>> few = level | {"windows": 6, "confirmed": 80}
    >>> print(prior_origin({"level": few, "windows": 0, "moved": None, "index": "score",
    ...                     "reference_end": None}))
    Estimated as 5.0% (2.0 to 9.0%) from the scores of the 6 windows so far. The class prior is not
    followed yet: 6 of the 10 windows and 80 of the 150 confirmed positives that are needed have
    arrived.
    """
    level, followed = over_time["level"], over_time["moved"] is not None
    sentences = [f"{_level(level, followed=followed)}{_through(over_time['windows'])}."]
    now = over_time.get("level_now")
    if now is not None and over_time["windows"]:
        sentences.append(
            f"The level is now {_share(now)}; each window's own share differs from it."
        )
    if not followed and over_time["reference_end"] is not None:
        last = datetime.fromisoformat(over_time["reference_end"]) - _CLOCK_CHANGE
        sentences.append(
            "The class prior is not followed yet: this begins when the labels of the reference, "
            f"which ends on {day_text(last)}, are mature."
        )
    elif not followed:
        sentences.append(_to_come(level["windows"], level["confirmed"]))
    if over_time["index"] == "counts":
        version = one_line(over_time.get("predecessor") or "")
        sentences.append(
            "There are not enough scores of this model version yet: its share of positives starts "
            f"from that of {f'version {version}' if version else 'the version before it'} and "
            "follows the number of confirmed cases."
        )
    reason = one_line(over_time.get("index_reason") or "").rstrip(".")
    if over_time["index"] == "auxiliary":
        but = f", but not in this window: {reason}" if reason else ""
        sentences.append(f"It is followed with the auxiliary score of the features{but}.")
    elif reason:
        sentences.append(f"The features are not used: {reason}.")
    return " ".join(sentences)


def _level(level: Mapping[str, Any], *, followed: bool) -> str:
    share = _share(level)
    period = period_text(
        datetime.fromisoformat(level["start"]), datetime.fromisoformat(level["end"])
    )
    if level["source"] == "given":
        return f"Given as {share} for {period}"
    windows = _windows(level["windows"])
    if followed:
        rows = f"the first {windows} ({period})"
    else:
        rows = f"the {windows} so far" if level["windows"] > 1 else "this window"
    by = "" if level["source"] == "auto" else f" by the method {level['source']}"
    return f"Estimated as {share} from the scores of {rows}{by}"


def _share(of: Mapping[str, Any]) -> str:
    return percent_with_interval(of["value"], of["low"], of["high"])


def _through(windows: int) -> str:
    return f" and followed through {_windows(windows)} since" if windows else ""


def _windows(number: int) -> str:
    return "1 window" if number == 1 else f"{count_text(number)} windows"


def _to_come(windows: int, confirmed: float) -> str:
    """What there is of the windows that a series is founded on."""
    least, needed = WINDOWS_TO_FOUND, CONFIRMED_TO_FOUND
    if windows >= LONG_TO_FOUND:
        least, needed = LONG_TO_FOUND, FEWEST_CONFIRMED_TO_FOUND
    if windows >= least and confirmed >= needed:
        return (
            "The class prior is not followed yet: this begins when the labels of its first windows "
            "are mature."
        )
    some = f"{windows} of the {least} windows" if windows < least else _windows(windows)
    others = f"{count_text(confirmed)} confirmed positives"
    if confirmed < needed:
        others = f"{count_text(confirmed)} of the {needed} confirmed positives"
    enough = ""
    if least <= windows < LONG_TO_FOUND:
        enough = f" ({FEWEST_CONFIRMED_TO_FOUND} are enough after {LONG_TO_FOUND} windows)"
    return (
        f"The class prior is not followed yet: {some} and {others} that are needed have "
        f"arrived{enough}."
    )
