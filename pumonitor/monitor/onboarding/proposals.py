"""Propose the roles of columns and the lengths of windows and maturity. No input or output."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from pumonitor.monitor.onboarding.outcome_words import is_named_like_an_outcome
from pumonitor.monitor.onboarding.table_samples import ColumnSample, Extent, TableSample
from pumonitor.monitor.rules.windows.windows import WindowGrid
from pumonitor.ports import Window
from pumonitor.text import interval_text

ENOUGH_CONFIRMATIONS: Final = 100
"""Confirmations in a window from which intervals are narrow enough to be of use."""

_WINDOWS: Final = (("1h", 1 / 24), ("1d", 1.0), ("1w", 7.0), ("1mo", 30.4))
ENOUGH_REFERENCE_WINDOWS: Final = 8
"""Fewest windows from which the usual variation between windows can be estimated."""

_MOST_REFERENCE_WINDOWS: Final = 30
_MOST_REFERENCE_TIME: Final = timedelta(weeks=4)
"""Whichever is more: longer ago the world was another."""

_LATE_START: Final = 0.05
"""Share of a window after which its first prediction may come and the window still be whole."""

_IDS: Final = (r"(.*_)?(prediction|transaction|event|case|request)_?id", r"(.*_)?(id|uuid|key)")
_SCORES: Final = (
    r"scores?",
    r".*score",
    r".*(prob|proba|probability|likelihood)",
    r".*(logit|risk).*",
)
_TIMES: Final = (
    r"(scored|predicted|prediction|scoring)_?(at|time|ts|date)?",
    r"(event|request|created|transaction)_?(at|time|ts|date)",
    r"(time|timestamp|datetime|ts|date)",
    r".*(_at|_time|_ts|time)",
)
_KNOWN: Final = (
    r"(known|confirmed|confirmation|labell?ed|label|reported|resolved|chargeback|feedback)"
    r"_?(at|time|ts|date|on)?",
    r".*(confirm|label|report|known).*",
    r"(time|timestamp|datetime|ts|date|created_at)",
    r".*(_at|_time|_ts|time)",
)
_MOST_WORDS: Final = 10
_NOT_SCORED: Final = re.compile(
    r".*(confirm|label|known|report|update|modif|birth).*", re.IGNORECASE
)
_LABELS: Final = re.compile(
    r"labels?|is_positive|positive|confirmed|outcome|verdict|y", re.IGNORECASE
)
_MODEL: Final = r"(model|mdl|clf|classifier|scorer|algo(rithm)?)"
_VERSIONS: Final = re.compile(
    # A version of anything else, such as app_version, is none of the model.
    rf"({_MODEL}_?)?(version|vers?|revision|release)(_?(id|no|nr|num|number|name|tag))?"
    rf"|{_MODEL}(_?(id|name|tag|key|hash|uri|v))?",
    re.IGNORECASE,
)
_PROPENSITIES: Final = re.compile(r".*propensity|review_rate|review_probability", re.IGNORECASE)


def _first(
    columns: Sequence[ColumnSample], names: Sequence[str], fits: Callable[[ColumnSample], bool]
) -> ColumnSample | None:
    """The fitting column whose name matches the earliest pattern; else the only fitting one."""
    fitting = [column for column in columns if fits(column)]
    for pattern in names:
        for column in fitting:
            if re.fullmatch(pattern, column.name, re.IGNORECASE):
                return column
    return fitting[0] if len(fitting) == 1 else None


def score_column(table: TableSample) -> ColumnSample | None:
    """Propose the score column: numbers with such a name, or the only fractions within [0, 1]."""

    def is_share(column: ColumnSample) -> bool:
        return (
            column.kind == "float"
            and column.least is not None
            and column.greatest is not None
            and column.least >= 0
            and column.greatest <= 1
            and not _PROPENSITIES.fullmatch(column.name)
        )

    def is_number(column: ColumnSample) -> bool:
        return column.kind in {"float", "integer"} and column.time_unit is None

    return _named(table.columns, _SCORES, is_number) or _first(table.columns, _SCORES, is_share)


def _named(
    columns: Sequence[ColumnSample], names: Sequence[str], fits: Callable[[ColumnSample], bool]
) -> ColumnSample | None:
    found = [
        column
        for pattern in names
        for column in columns
        if re.fullmatch(pattern, column.name, re.IGNORECASE) and fits(column)
    ]
    return found[0] if found else None


def time_column(table: TableSample) -> ColumnSample | None:
    """Propose the column with the time of a prediction."""
    return _first(
        [column for column in table.columns if not _NOT_SCORED.fullmatch(column.name)],
        _TIMES,
        lambda column: column.is_time,
    )


def first_named(
    table: TableSample, names: Sequence[str], fits: Callable[[ColumnSample], bool]
) -> ColumnSample | None:
    """The fitting column whose name matches the earliest pattern."""
    return _named(table.columns, names, fits)


def known_at_column(table: TableSample) -> ColumnSample | None:
    """Propose the column with the time a confirmation became known."""
    return _first(table.columns, _KNOWN, lambda column: column.is_time)


def label_column(table: TableSample) -> ColumnSample | None:
    """Propose the label column: one with 1 and -1, or with a few other values."""
    return _named(
        table.columns,
        (_LABELS.pattern,),
        lambda column: (
            column.kind in {"integer", "float", "truth"}
            or (column.kind == "text" and column.distinct <= _MOST_WORDS)
        ),
    )


def outcome_columns(table: TableSample) -> list[ColumnSample]:
    """Columns that may say how cases ended: such a name and a few words, or whole numbers."""
    return [
        column
        for column in table.columns
        if is_named_like_an_outcome(column.name)
        and column.kind in {"text", "integer", "truth"}
        and column.distinct <= _MOST_WORDS
    ]


def model_version_column(table: TableSample) -> ColumnSample | None:
    """Propose the column of the model version: few values and such a name."""
    return _named(table.columns, (_VERSIONS.pattern,), lambda column: column.distinct <= 20)


def propensity_column(table: TableSample) -> ColumnSample | None:
    """Propose the column of propensities: shares and such a name."""
    return _named(
        table.columns,
        (_PROPENSITIES.pattern,),
        lambda column: (
            column.kind == "float" and 0 < (column.least or 0) <= (column.greatest or 2) <= 1
        ),
    )


def segment_columns(table: TableSample, used: Collection[str]) -> tuple[str, ...]:
    """Propose the columns that split the traffic: text of 2 to 20 values, used for nothing else."""
    return tuple(
        column.name
        for column in table.columns
        if column.kind == "text" and 1 < column.distinct <= 20 and column.name not in used
    )


def id_candidates(predictions: TableSample, positives: TableSample) -> list[tuple[str, str]]:
    """Pairs of columns that may hold the same ids, the likeliest first."""

    def likelihood(pair: tuple[ColumnSample, ColumnSample]) -> tuple[bool, int]:
        column, other = pair
        named = [
            at for at, name in enumerate(_IDS) if re.fullmatch(name, column.name, re.IGNORECASE)
        ]
        return (column.name.casefold() != other.name.casefold(), min(named, default=len(_IDS)))

    pairs = [
        (column, other)
        for column in predictions.columns
        for other in positives.columns
        if column.is_unique
        and column.kind in {"text", "integer"}
        and other.kind in {"text", "integer"}
        and column.time_unit is None
    ]
    return [(column.name, other.name) for column, other in sorted(pairs, key=likelihood)]


def window_for(extent: Extent, confirmed: int) -> tuple[str, int]:
    """The shortest window with enough confirmations that fits twice, and their number.

    Parameters
    ----------
    extent : Extent
    confirmed : int
        Positives that complaints or verdicts confirm in all.
    """
    days = max((extent.last - extent.first) / 86400, 1e-9)
    fitting = [(name, length) for name, length in _WINDOWS if 2 * length <= days] or [_WINDOWS[0]]
    # An hour is for streams of hours: a day's rhythm is no change of the model.
    usable = [pair for pair in fitting if pair[0] != "1h"] or fitting
    for name, length in usable:
        per_window = confirmed * length / days
        if per_window >= ENOUGH_CONFIRMATIONS:
            return name, round(per_window)
    name, length = usable[-1]
    return name, round(confirmed * min(length / days, 1))


def maturity_for(extent: Extent) -> timedelta:
    """Days within which 95% of the confirmations had arrived; 0 if they arrive at once."""
    return timedelta(days=math.ceil(max(extent.delays.get(0.95, 0.0), 0.0) / 86400))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mature:
    """The mature windows, and those of them that form the reference."""

    windows: tuple[Window, ...]
    reference: tuple[Window, ...]


def reference_windows(extent: Extent, *, grid: WindowGrid, maturity: timedelta) -> Mature:
    """Find the windows that are mature when the data end; the first are the reference.

    The reference is a third of them. If these are few, it is eight, or as many as leave half for
    comparison. It is at most thirty windows or four weeks.
    """
    first, last, known = (
        datetime.fromtimestamp(at, tz=UTC) for at in (extent.first, extent.last, extent.last_known)
    )
    mature = tuple(
        window
        for window in grid.between(first, last)
        if first - window.start <= _LATE_START * (window.end - window.start)
        and window.end + maturity <= max(last, known)
    )
    count = max(len(mature) // 3, min(len(mature) // 2, ENOUGH_REFERENCE_WINDOWS), 1)
    within = sum(window.end <= mature[0].start + _MOST_REFERENCE_TIME for window in mature)
    count = min(count, max(_MOST_REFERENCE_WINDOWS, within))
    return Mature(windows=mature, reference=mature[:count])


def is_turned(predictions: TableSample, positives: TableSample) -> bool:
    """Whether predictions and confirmations are swapped: only the second table has scores."""
    return score_column(predictions) is None and score_column(positives) is not None


def described(column: ColumnSample) -> str:
    """Description of the values of a column."""
    if column.kind == "moment":
        return "times with a zone"
    if column.kind == "naive":
        return "times without a zone"
    if column.time_unit is not None:
        return f"integers that are times in {column.time_unit} since 1970"
    if column.least is not None and column.greatest is not None:
        return f"numbers from {interval_text(column.least, column.greatest)} in a sample"
    return f"{column.distinct} values in {column.rows} rows"


def in_zone(extent: Extent, zone: str, *, time: bool, known: bool) -> Extent:
    """The extent with naive times read in a time zone.

    Parameters
    ----------
    extent : Extent
    zone : str
    time, known : bool
        Whether times of predictions, and of confirmations, are naive.
    """

    def real(seconds: float) -> float:
        clock = datetime.fromtimestamp(seconds, tz=UTC)
        return clock.replace(tzinfo=ZoneInfo(zone)).timestamp()

    # Delays between both kinds are off by the zone's offset, which is about the same all along.
    offset = extent.first - real(extent.first)
    shift = offset * (int(time) - int(known))
    return replace(
        extent,
        first=real(extent.first) if time else extent.first,
        last=real(extent.last) if time else extent.last,
        last_known=real(extent.last_known) if known else extent.last_known,
        delays={level: seconds + shift for level, seconds in extent.delays.items()},
    )


def written_span(windows: Sequence[Window], *, grid: WindowGrid) -> tuple[str, str]:
    """Start of the first and end of the last window in local time, as written in a file."""
    moments = (windows[0].start, windows[-1].end)
    clocks = [moment.astimezone(ZoneInfo(grid.zone)) for moment in moments]
    pattern = "%Y-%m-%dT%H:%M" if grid.every.endswith("h") else "%Y-%m-%d"
    first, last = (clock.strftime(pattern) for clock in clocks)
    return first, last
