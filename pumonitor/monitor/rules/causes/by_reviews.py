"""The cause of a change where reviews and complaints tell the positives of both periods."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from pumonitor.monitor.rules.causes.amounts import change, ratio
from pumonitor.monitor.rules.causes.named import Cause, Size
from pumonitor.reviews.periods import PeriodChange, Ratio
from pumonitor.text import percent_text

_LEAST_FACTOR: Final = 1.25
"""Of positives, and of the share that complains: less is no change anybody acts on."""
_LEAST_AUC: Final = 0.02
_OTHER_CAPACITY: Final = 1.25


def cause_by_reviews(changed: PeriodChange, *, windows: int) -> Cause:
    """Name what changed: positives, the ranking, the share that complains, or nothing for sure.

    A change is named where the 99% interval of its size excludes none, and it is large enough to
    matter. Otherwise sizes are said with their intervals.

    Parameters
    ----------
    changed : PeriodChange
    windows : int
        Since the change.

    Examples
    --------
    >>> nothing = Ratio(before=0.6, now=0.6, value=1.0, low=0.7, high=1.4, least=0.6, most=1.6)
    >>> fallen = Ratio(before=0.95, now=0.85, value=-0.1, low=-0.13, high=-0.07, least=-0.14,
    ...                most=-0.06)
    >>> same = PeriodChange(positives=nothing, auc=fallen, complaints=nothing,
    ...                     reviewed=(0.02, 0.02), stopped=(0.0, 0.0))
    >>> cause_by_reviews(same, windows=3).kinds
    ('ranking',)
    """
    sizes = {
        "positives": _size(changed.positives),
        "auc": _size(changed.auc),
        "confirmed_share": _size(changed.complaints),
    }
    kinds = tuple(_named(changed))
    over = f"over {windows} window{'' if windows == 1 else 's'}"
    sentences = {
        "class_prior": f"There are {ratio(sizes['positives'])} times as many positives {over}.",
        "ranking": f"The model ranks {'worse' if changed.auc.value < 0 else 'better'}: AUC changed "
        f"by {change(sizes['auc'])} {over}.",
        "confirmed_share": f"{ratio(sizes['confirmed_share'])} times as many of the positives that "
        f"nobody reviewed complain {over}.",
    }
    known = " ".join(_known(changed))
    if kinds:
        told = [sentences[kind] for kind in kinds]
    else:
        told = [
            f"Reviews and complaints do not tell yet what changed {over}: AUC by "
            f"{change(sizes['auc'])}, positives {ratio(sizes['positives'])} times, the share that "
            f"complains {ratio(sizes['confirmed_share'])} times."
        ]
    return Cause(
        kind=kinds[0] if kinds else "unclear",
        kinds=kinds,
        support={},
        sizes=sizes,
        windows=windows,
        sentence=" ".join([*told, *([known] if known else [])]),
        known=known or told[0],
        by_reviews=True,
    )


def _named(changed: PeriodChange) -> Iterator[str]:
    if _is_other(changed.auc, 0.0) and abs(changed.auc.value) >= _LEAST_AUC:
        yield "ranking"
    for kind, size in (
        ("class_prior", changed.positives),
        ("confirmed_share", changed.complaints),
    ):
        if _is_other(size, 1.0) and abs(math.log(max(size.value, 1e-9))) >= math.log(_LEAST_FACTOR):
            yield kind


def _is_other(size: Ratio, same: float) -> bool:
    return size.least > same or size.most < same


def _known(changed: PeriodChange) -> Iterator[str]:
    """What counts alone say of the queue."""
    for (before, now), what in ((changed.reviewed, "reviewed"), (changed.stopped, "declined")):
        if max(before, now) > 0 and max(before, now) >= _OTHER_CAPACITY * min(before, now):
            yield (
                f"{percent_text(now)} of the rows were {what}, {percent_text(before)} in the "
                "reference: estimates allow for it."
            )


def _size(changed: Ratio) -> Size:
    return Size(
        before=changed.before,
        now=changed.now,
        change=changed.value,
        low=changed.low,
        high=changed.high,
    )
