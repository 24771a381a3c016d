"""Read a class prior that is known for a past period from the options or answers of the user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter, ValidationError

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.class_prior import GivenPrior
from pumonitor.monitor.config.values.kinds import Moment
from pumonitor.monitor.config.values.periods import Period, holds_window
from pumonitor.monitor.onboarding.onboarded import Question
from pumonitor.monitor.onboarding.table_samples import Extent
from pumonitor.monitor.rules.windows.windows import WindowGrid

_NOT_KNOWN: Final = "none"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?%?"
_SHARE = re.compile(rf"({_NUMBER})(?:\s*,\s*|\s+)({_NUMBER})(?:\s*,\s*|\s+)({_NUMBER})")
_AUDIT = re.compile(r"(\d+)\s*(?:/|of)\s*(\d+)")
_PERIOD = re.compile(r"(\S+)\s+(?:to\s+)?(\S+)")
_ANY: Final = {"start": date(2026, 1, 1), "end": date(2026, 2, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPrior:
    """A known share or audit, with its period, as a configuration holds it.

    Attributes
    ----------
    numbers : tuple of (str, str)
        Keys and values: value, low and high, or positives and cases.
    """

    numbers: tuple[tuple[str, str], ...]

    def written(self, start: str, end: str) -> str:
        """The value of `class_prior`.

        Examples
        --------
        >>> read_known("12/300").written("2026-01-01", "2026-02-01")
        '{positives: 12, cases: 300, of: {start: 2026-01-01, end: 2026-02-01}}'
        """
        known = ", ".join(f"{name}: {value}" for name, value in self.numbers)
        return f"{{{known}, of: {{start: {start}, end: {end}}}}}"


def read_known(text: str) -> KnownPrior | None:
    """Read a share with its interval, or an audit; None for "none".

    Raises
    ------
    InputError
        If it is neither, with what to write.

    Examples
    --------
    >>> read_known("0.03 0.02 0.04") == read_known("3%, 2%, 4%")
    True
    >>> read_known("none") is None
    True
    >>> read_known("3%")
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: must be a share with the ends of its 95% interval, such as 0.03 \
0.02 0.04, or positives of audited cases, such as 12/300, got '3%'
    """
    given = text.strip()
    if given.lower() == _NOT_KNOWN:
        return None
    if audit := _AUDIT.fullmatch(given):
        numbers = dict(zip(("positives", "cases"), audit.groups(), strict=True))
        _check({name: int(number) for name, number in numbers.items()})
    elif share := _SHARE.fullmatch(given):
        shares = [_share(number) for number in share.groups()]
        numbers = dict(zip(("value", "low", "high"), map(repr, shares), strict=True))
        _check(dict(zip(numbers, shares, strict=True)))
    else:
        msg = (
            "must be a share with the ends of its 95% interval, such as 0.03 0.02 0.04, or "
            f"positives of audited cases, such as 12/300, got {text!r}"
        )
        raise InputError(msg)
    return KnownPrior(numbers=tuple(numbers.items()))


def read_period(text: str, windows: WindowGrid) -> tuple[str, str]:
    """Read the start and end of a period.

    Raises
    ------
    InputError
        If they are no dates or times in order, or hold no whole window.

    Examples
    --------
    >>> read_period("2026-01-01 to 2026-02-01", WindowGrid(every="1w"))
    ('2026-01-01', '2026-02-01')
    """
    found = _PERIOD.fullmatch(text.strip())
    if found is None:
        msg = f"must be a start and an end, such as 2026-01-01 to 2026-02-01, got {text!r}"
        raise InputError(msg)
    start, end = found.groups()
    moments = TypeAdapter(Moment)
    try:
        period = Period(start=moments.validate_python(start), end=moments.validate_python(end))
    except ValidationError as error:
        raise InputError(_first(error)) from None
    if not holds_window(period.span(windows.zone), windows):
        msg = f"must contain a whole window of {windows.every} ({windows.zone}), got {text!r}"
        raise InputError(msg)
    return start, end


def known_question() -> Question:
    """Question whether the share of some past period is known."""
    return Question(
        what="known prior",
        option="--known-prior or --audit",
        proposal=_NOT_KNOWN,
        why="the share of positives in a past period, if it is known from an audit, chargebacks or "
        "a full review. Give value, low and high end, such as 0.03 0.02 0.04, or 12/300 if 12 "
        "of 300 random cases were positive. Scores alone leave it open; a known share makes the "
        "interval of the class prior narrow, also after the model breaks",
        read=read_known,
    )


def period_question(
    extent: Extent, reference: tuple[str, str] | None, windows: WindowGrid
) -> Question:
    """Question for the period of the known share."""
    first, last = (
        datetime.fromtimestamp(at, tz=ZoneInfo(windows.zone)).date()
        for at in (extent.first, extent.last)
    )
    of = f"predictions are of {first} to {last}"
    if reference is not None:
        of += f", the reference is {' to '.join(reference)}"
    return Question(
        what="known prior of",
        option="--prior-from and --prior-to",
        proposal=None,
        why=f"the period of that share, from a start up to but not including an end ({of})",
        read=partial(read_period, windows=windows),
    )


def _share(text: str) -> float:
    # In per cent digits move, and 2.9 / 100 has more of them than anybody wrote.
    return round(float(text[:-1]) / 100, 12) if text.endswith("%") else float(text)


def _check(numbers: dict[str, int] | dict[str, float]) -> None:
    try:
        TypeAdapter(GivenPrior).validate_python({**numbers, "of": _ANY})
    except ValidationError as error:
        raise InputError(_first(error)) from None


def _first(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(map(str, found["loc"]))
    message = str(found.get("ctx", {}).get("error", found["msg"]))
    return f"{where} {message}" if where else message
