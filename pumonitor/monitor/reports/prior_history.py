"""History of the class prior up to a window, for the chart of its report."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.ledger.results.prior_states import class_priors_over_windows
from pumonitor.plain_text import one_line
from pumonitor.ports import Window
from pumonitor.report.prior_chart import PriorHistory, PriorLevel, PriorPoint

_WINDOWS: Final = 60
_FEWEST: Final = 2


def prior_history(found: StoredEvaluation, ledger: LedgerReader) -> PriorHistory | None:
    """Class priors of the last 60 windows of a series up to one, as they were known then.

    Where another model version was followed before, its windows come first. None where the class
    prior is not followed, comes from an audit, or is known of fewer than two windows.
    """
    made_with = found.evaluation.get("made_with", {})
    last = _over_time(made_with.get("class_prior"))
    if last is None or "audit" in made_with:
        return None
    window = found.window
    with ledger.database.reading() as connection:
        stored = class_priors_over_windows(
            connection,
            found,
            predecessor=last["predecessor"],
            since=window.start - (_WINDOWS - 1) * (window.end - window.start),
        )
    followed = [one for one in stored if _over_time(one[2]) is not None]
    if len(followed) < _FEWEST:
        return None
    own = [of.start for of, version, _ in followed if version == found.model_version]
    return PriorHistory(
        points=[_point(of, class_prior) for of, _, class_prior in followed],
        level=_level(last["level"]),
        version=(own[0], one_line(found.model_version)) if len(own) < len(followed) else None,
    )


def _over_time(class_prior: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = (class_prior or {}).get("diagnostics", {}).get("over_time")
    return found


def _point(window: Window, class_prior: Mapping[str, Any]) -> PriorPoint:
    over_time = class_prior["diagnostics"]["over_time"]
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
