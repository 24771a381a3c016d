"""The class prior of the windows up to one, as its report draws them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from pumonitor.ports import Window
from pumonitor.report.prior_chart import PriorHistory, PriorLevel, PriorPoint
from pumonitor.store.prior_states import class_priors_over_windows
from pumonitor.store.reader import LedgerReader
from pumonitor.store.records import StoredEvaluation

__all__ = ["prior_history"]

_WINDOWS: Final = 60
_FEWEST: Final = 2


def prior_history(found: StoredEvaluation, ledger: LedgerReader) -> PriorHistory | None:
    """Class priors of the last 60 windows of a series up to one, as they were known then.

    None where the class prior is not followed, or is known of fewer than two windows.
    """
    window = found.window
    since = window.start - (_WINDOWS - 1) * (window.end - window.start)
    with ledger.database.reading() as connection:
        stored = class_priors_over_windows(connection, found, since=since)
    followed = [
        (of, class_prior, class_prior["diagnostics"]["over_time"])
        for of, class_prior in stored
        if "over_time" in class_prior["diagnostics"]
    ]
    if len(followed) < _FEWEST:
        return None
    *_, (_, _, last) = followed
    return PriorHistory(points=[_point(*one) for one in followed], level=_level(last["level"]))


def _point(
    window: Window, class_prior: Mapping[str, Any], over_time: Mapping[str, Any]
) -> PriorPoint:
    own = over_time.get("own")
    return PriorPoint(
        start=window.start,
        end=window.end,
        value=class_prior["value"],
        low=class_prior["low"],
        high=class_prior["high"],
        own=None if own is None else own["value"],
        changes=over_time["changes"],
    )


def _level(level: Mapping[str, Any]) -> PriorLevel:
    return PriorLevel(
        start=datetime.fromisoformat(level["start"]),
        end=datetime.fromisoformat(level["end"]),
        value=level["value"],
        low=level["low"],
        high=level["high"],
        given=level["source"] == "given",
    )
