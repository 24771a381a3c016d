"""Times of every kind: to the microsecond, far from today, in zones whose clocks change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pumonitor.conformance.cases.case import (
    DAY,
    START,
    Case,
    positives_of,
    predictions_of,
    request_of,
)
from pumonitor.ports import CountRequest
from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.monitored_tables import (
    Ambiguous,
    LabelColumns,
    PredictionColumns,
    TimeUnit,
)
from pumonitor.sources.column_types.time_columns import microseconds

_UNITS: Final[tuple[tuple[TimeUnit, int], ...]] = (
    ("s", 1),
    ("ms", 1_000),
    ("us", 1_000_000),
    ("ns", 1_000_000_000),
)
_TICK: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FAR: Final = (
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
    datetime(1969, 7, 20, 20, 17, 40, 500_000, tzinfo=UTC),
)
_LAST_YEAR: Final = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
_BERLIN: Final = "Europe/Berlin"
_AUTUMN: Final = datetime(2026, 10, 24, 22, tzinfo=UTC)
_SPRING: Final = datetime(2026, 3, 28, 23, tzinfo=UTC)


def cases_of_times() -> list[Case]:
    """Cases of times."""
    return [
        _case("moments to the microsecond", "moment", _edges()),
        _case("moments of 1969", "moment", [*_FAR, _EPOCH, _EPOCH + _TICK], requests=_first_day()),
        _case("moments of 9999", "moment", [*_edges(), _LAST_YEAR]),
        *(
            _case(f"whole numbers of time_unit {unit}", "integer", _counts(each), unit=unit)
            for unit, each in _UNITS
        ),
        _case("local times in UTC", "naive", [*map(_plain, _edges()), _plain(_FAR[0])], zone="UTC"),
        _case(
            "local times of 9999", "naive", [*map(_plain, _edges()), _plain(_LAST_YEAR)], zone="UTC"
        ),
        *_changes("naive", _local),
        *_changes("text", lambda made: _local(made).isoformat()),
        _case("dates", "date", _dates(), zone=_BERLIN, requests=_days()),
        _case("text with offsets", "text", _with_offsets(), requests=_days()),
        _case("text of 1969 and 9999", "text", _far_text(), requests=_first_day()),
        _case("text without an offset", "text", _without_offset(), zone=_BERLIN, requests=_days()),
        _case("text that is no time", "text", ["2026-02-30T00:00:00Z", "2026-03-10T24:30:00Z"]),
        _delays(),
        _a_moment_apart(),
        _before_1970(),
    ]


def _case(
    name: str,
    kind: Kind,
    times: Sequence[Any],
    *,
    unit: TimeUnit | None = None,
    zone: str | None = None,
    ambiguous: Ambiguous | None = None,
    requests: tuple[CountRequest, ...] = (),
) -> Case:
    rows = [(number, time, number % 7 / 8) for number, time in enumerate(times)]
    labels = [(number, time, 1) for number, time in enumerate(times) if number % 2]
    how: dict[str, Any] = {"time_zone": zone, "time_unit": unit, "ambiguous": ambiguous}
    return Case(
        name=name,
        predictions=predictions_of(rows, {"id": "integer", "made": kind, "score": "number"}),
        positives=positives_of(labels, {"id": "integer", "known": kind, "label": "integer"}),
        made=PredictionColumns(id="id", time="made", score="score", **how),
        known=LabelColumns(id="id", known_at="known", label="label", **how),
        requests=requests or (request_of(),),
    )


def _edges() -> list[datetime]:
    """A microsecond before and after both ends of the window, and within it."""
    within = [
        START + timedelta(microseconds=one) for one in (1, 999, 1_000, 999_999, 43_200_123_456)
    ]
    ends = [one + way * _TICK for one in (START, START + DAY) for way in (-1, 0, 1)]
    return [
        *within,
        *ends,
        START + DAY - timedelta(milliseconds=1),
        START + DAY - timedelta(seconds=1),
    ]


def _first_day() -> tuple[CountRequest, ...]:
    return (request_of(_EPOCH, _EPOCH + DAY),)


def _days() -> tuple[CountRequest, ...]:
    return tuple(request_of(START + place * DAY) for place in range(-1, 2))


def _counts(each: int) -> list[int]:
    """The edges in a unit, finer ones rounded down, and a few units beside."""
    found = [microseconds(one) * each // 10**6 for one in _edges()]
    start = microseconds(START) * each // 10**6
    return [*found, start - 1, start + 1, start + each * 86_400 - 1]


def _plain(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _local(moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo(_BERLIN)).replace(tzinfo=None)


def _changes(kind: Kind, written: Any) -> list[Case]:
    """Every ten minutes of the nights in which clocks change, in windows of an hour."""
    found: list[Case] = []
    for season, start in (("autumn", _AUTUMN), ("spring", _SPRING)):
        times = [start + timedelta(minutes=10 * place) + _TICK for place in range(36)]
        hours = tuple(
            request_of(start + timedelta(hours=place), start + timedelta(hours=place + 1))
            for place in range(1, 5)
        )
        readings: tuple[Ambiguous | None, ...] = ("earlier", "later", None)
        for ambiguous in readings:
            said = "refused" if ambiguous is None else f"read as the {ambiguous}"
            shown = "local times" if kind == "naive" else "text"
            name = f"{shown} where clocks change in {season}, {said}"
            found.append(
                _case(
                    name,
                    kind,
                    [written(one) for one in times],
                    zone=_BERLIN,
                    ambiguous=ambiguous,
                    requests=hours,
                )
            )
    return found


def _dates() -> list[date]:
    return [(START + place * DAY).date() for place in range(-3, 4) for _ in range(2)]


def _with_offsets() -> list[str]:
    return [
        "2026-03-10T00:00:00Z",
        "2026-03-10 00:00:00.000001Z",
        "2026-03-10T00:00:00 Z",
        "2026-03-09T23:59:59.999999Z",
        "2026-03-09T23:59:59.9999999Z",
        "2026-03-10T05:30:00+05:30",
        "2026-03-10T05:29:59.999999+0530",
        "2026-03-09T23:30:00-00:30",
        "2026-03-09T23:29:59.999-0030",
        "2026-03-10T13:45+13:45",
        "2026-03-10T02:00+02",
        "2026-03-10T08:30:00.5+00:00",
        "2026-03-10T08:30:00.123456789 -11:00",
        "2026-03-10T23:59:59.999999-12:00",
        "2026-03-11T00:00:00.000000+00:00",
    ]


def _far_text() -> list[str]:
    return [
        *(one.isoformat() for one in _FAR),
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:59:59.999999+01:00",
        "1970-01-01T00:00:00.000001Z",
        "2000-02-29T12:00:00Z",
        "1900-03-01T00:00:00Z",
        _LAST_YEAR.isoformat(),
    ]


def _without_offset() -> list[str]:
    return [
        "2026-03-10",
        "2026-03-10T01:00",
        "2026-03-10 00:59:59.999999",
        "2026-03-10 01:00:00.0000001",
        "2026-03-11T00:59:59.999999",
        "2026-03-11",
        "2026-03-10T23:00:00Z",
        "2026-07-01T02:00:00",
    ]


def _delays() -> Case:
    """Labels known before and after their predictions: delays below 0 are rounded down too."""
    made = [START + timedelta(hours=place) for place in range(12)]
    delays = [-1.5, -0.5, -1e-6, 0.0, 1e-6, 0.999999, 1.0, 3600.0, 3600.000001, 86400.0, -90000.0]
    rows = [(number, time, 0.25) for number, time in enumerate(made)]
    labels = [
        (number, made[number] + timedelta(seconds=delay), 1) for number, delay in enumerate(delays)
    ]
    return Case(
        name="delays of labels",
        predictions=predictions_of(rows),
        positives=positives_of(labels),
        made=PredictionColumns(id="id", time="made", score="score"),
        known=LabelColumns(id="id", known_at="known", label="label"),
        requests=(request_of(),),
        describes=True,
    )


def _a_moment_apart() -> Case:
    """What was known by a moment, and which of two labels is the later, to the microsecond."""
    end = START + DAY
    noon = START + DAY / 2
    labels = [(0, end - _TICK, 1), (1, end, 1), (2, end + _TICK, 1)]
    labels += [(3, noon + _TICK, 1), (3, noon + 2 * _TICK, -1), (4, noon - _TICK, 1)]
    return _of_labels("labels a microsecond apart", [noon] * 5, labels, request_of())


def _before_1970() -> Case:
    """A label known in the last microseconds of 1969, of a prediction in the first of 1970."""
    labels = [(place, _EPOCH - (place + 1) * 499 * _TICK, 1) for place in range(3)]
    request = request_of(_EPOCH, _EPOCH + DAY)
    return _of_labels("labels known before 1970", [_EPOCH] * 3, labels, request)


def _of_labels(
    name: str, made: Sequence[datetime], labels: Sequence[Any], request: CountRequest
) -> Case:
    return Case(
        name=name,
        predictions=predictions_of([(place, one, 0.25) for place, one in enumerate(made)]),
        positives=positives_of(labels),
        made=PredictionColumns(id="id", time="made", score="score"),
        known=LabelColumns(id="id", known_at="known", label="label"),
        requests=(request,),
    )
