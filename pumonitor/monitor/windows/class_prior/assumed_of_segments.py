"""Say of a segment that its class prior is assumed to be that of all rows."""

from __future__ import annotations

import math
from typing import Final

from scipy import special

from pumonitor.monitor.rules.labels.confirmed_share import ConfirmedShare
from pumonitor.monitor.windows.class_prior.stored_findings import FINDING_OF_SEGMENT
from pumonitor.results import ClassPriorEstimate, Finding
from pumonitor.text import given_text, percent_text, with_interval

_LEVEL: Final = 0.001
_TAIL: Final = 0.025
_OTHERWISE: Final = (
    "Write class_prior: auto, which estimates that of each segment, or a monitor of the segment's "
    "rows alone with a class_prior of its own."
)


def segment_finding(
    class_prior: ClassPriorEstimate, segment: ConfirmedShare, everything: ConfirmedShare
) -> Finding:
    """What is to be known of a class prior that is given for all rows and used for a segment.

    A warning if the segment's confirmed share is not that of the other rows, else a note.

    Parameters
    ----------
    class_prior : ClassPriorEstimate
    segment, everything : ConfirmedShare
        Of the segment, and of all rows of the same model version.

    Notes
    -----
    Under the null hypothesis each of the confirmed rows falls into the segment with its share of
    the rows: binomial, two-sided, at level .001, conservative by the finite number of rows.
    """
    used = (
        f"The class prior of {given_text(class_prior.value)} is assumed for all rows and used for "
        "this segment, whose own is not known"
    )
    if everything.labeled == 0 or segment.rows == 0 or _p_value(segment, everything) >= _LEVEL:
        return Finding(name=FINDING_OF_SEGMENT, severity="note", sentence=f"{used}. {_OTHERWISE}")
    shares = (
        f"{percent_text(segment.labeled / segment.rows)} of its rows are confirmed, and "
        f"{percent_text(everything.labeled / everything.rows)} of all"
    )
    value, low, high = if_confirmed_equally(class_prior, segment, everything)
    consequence = (
        "if its positives are confirmed as often as all, its class prior is "
        f"{with_interval(value, low, high)}, and every estimate computed with "
        f"{given_text(class_prior.value)} is wrong"
        if value < 1
        else "its positives are confirmed more often than all, or its class prior is far higher"
    )
    return Finding(
        name=FINDING_OF_SEGMENT,
        severity="warning",
        sentence=f"{used}: {shares}; {consequence}. {_OTHERWISE}",
    )


def if_confirmed_equally(
    class_prior: ClassPriorEstimate, segment: ConfirmedShare, everything: ConfirmedShare
) -> tuple[float, float, float]:
    """A segment's class prior, low and high, if positives are confirmed equally often everywhere.

    Notes
    -----
    With one label frequency c the confirmed share of the segment is c times its class prior and
    that of all rows c times theirs, so that their ratio is that of the class priors. Its interval
    is Jeffreys' of the segment's share of the confirmed rows; it and that of the given class prior
    add up in squares, on the log scale. The ends are kept below 1.

    Examples
    --------
    >>> found = if_confirmed_equally(
    ...     ClassPriorEstimate.given(0.03),
    ...     ConfirmedShare(labeled=40, rows=1000),
    ...     ConfirmedShare(labeled=100, rows=10_000),
    ... )
    >>> [round(end, 3) for end in found]
    [0.12, 0.092, 0.149]
    """
    of_rows = segment.rows / everything.rows
    successes, failures = segment.labeled, everything.labeled - segment.labeled
    seen = max(successes, 0.5) / everything.labeled
    least, most = special.betaincinv(successes + 0.5, failures + 0.5, [_TAIL, 1 - _TAIL])
    value = class_prior.value * seen / of_rows
    below = math.hypot(
        math.log(class_prior.value / class_prior.low), max(math.log(seen / least), 0.0)
    )
    above = math.hypot(
        math.log(class_prior.high / class_prior.value), max(math.log(most / seen), 0.0)
    )
    return value, value * math.exp(-below), min(value * math.exp(above), 1.0)


def _p_value(segment: ConfirmedShare, everything: ConfirmedShare) -> float:
    of_rows = segment.rows / everything.rows
    if of_rows >= 1:
        return 1.0
    at_most = special.bdtr(segment.labeled, everything.labeled, of_rows)
    fewer = special.bdtr(segment.labeled - 1, everything.labeled, of_rows)
    at_least = 1.0 - fewer if segment.labeled > 0 else 1.0
    return float(min(2 * min(at_most, at_least), 1.0))
