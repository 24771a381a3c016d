"""Verdicts as they are given, joined to the audits of a monitor: what is used, what is refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pumonitor.audit.ids import as_id
from pumonitor.audit.ordering import draw_key
from pumonitor.audit.verdicts import WORDS
from pumonitor.errors import shortened

WHY_REFUSED: Final[Mapping[str, str]] = {
    "other_audit": "of an audit that this monitor does not have",
    "not_drawn": "on cases that were not drawn",
    "unknown_word": "that are not 1, 0 or undecided",
    "before_draw": "dated before the audit was drawn",
    "ahead": "dated more than a day ahead",
    "unread_time": "whose time cannot be read",
    "duplicate": "given more than once, of which one is counted",
}
"""Why verdicts are not used, in words."""

_CLOCKS_DIFFER: Final = timedelta(days=1)
_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenVerdict:
    """A line of a file or table of verdicts.

    Attributes
    ----------
    id, verdict, audit, case : str or None
        As written; `case` is the number in the file for the reviewers.
    at : datetime or None
        When it was given; None where nobody says so.
    is_time_unread : bool
        Whether a time is there that cannot be read.
    reviewer : str
        "" if nobody is named.
    """

    id: str | None
    verdict: str | None
    audit: str | None = None
    case: str | None = None
    at: datetime | None = None
    is_time_unread: bool = False
    reviewer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAudit:
    """What of an audit is needed to find the cases of verdicts.

    Attributes
    ----------
    name, seed : str
    drawn_at : datetime
    numbers : mapping of str to tuple of int
        Key of an id to the numbers of its cases, in ascending order: two if it is given twice.
    """

    name: str
    seed: str
    drawn_at: datetime
    numbers: Mapping[str, tuple[int, ...]]

    def cases_of(self, row_id: str) -> tuple[int, ...]:
        """Numbers of the cases of an id; none if it was not drawn."""
        return self.numbers.get(draw_key(self.seed, row_id), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class UsableVerdict:
    """A verdict on a case.

    Attributes
    ----------
    audit : str
    number : int
    verdict : int or None
        None: undecided.
    reviewer : str
    at : datetime or None
        None where no time is given: it is then that of the reading.
    """

    audit: str
    number: int
    verdict: int | None
    reviewer: str
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What lines of verdicts come to.

    Attributes
    ----------
    usable : tuple of UsableVerdict
        In the order of the lines.
    refused : mapping of (str or None, str) to tuple of str
        Audit, if it is known, and reason (of `WHY_REFUSED`) to the lines, as they are named.
    """

    usable: tuple[UsableVerdict, ...]
    refused: Mapping[tuple[str | None, str], tuple[str, ...]]

    def said(self) -> tuple[str, ...]:
        """What was refused, one sentence a reason; it has ids."""
        lines: dict[str, list[str]] = defaultdict(list)
        for (_, reason), some in self.refused.items():
            lines[reason] += some
        found = []
        for reason, named in lines.items():
            what = "verdict" if len(named) == 1 else "verdicts"
            shown = ", ".join(map(repr, dict.fromkeys(named[:_NAMED])))
            more = ", ..." if len(named) > _NAMED else ""
            found.append(f"{len(named)} {what} {WHY_REFUSED[reason]}: {shown}{more}")
        return tuple(found)


def judge(given: Sequence[GivenVerdict], audits: Sequence[KnownAudit], *, now: datetime) -> Judged:
    """Find the case of each verdict, and refuse what cannot be used.

    Lines without a verdict are passed over: these cases have not been reviewed yet. A line that
    names no audit belongs to the last audit drawn before it that has the case. Of a case given
    twice, lines that do not name its number are taken in the order in which they come.

    Parameters
    ----------
    given : sequence of GivenVerdict
    audits : sequence of KnownAudit
        Of one monitor.
    now : datetime
    """
    refused: dict[tuple[str | None, str], list[str]] = defaultdict(list)
    usable: dict[UsableVerdict, None] = {}
    turns: Counter[tuple[str, str, str]] = Counter()
    newest_first = sorted(audits, key=lambda one: one.drawn_at, reverse=True)
    for line in given:
        name, word = as_id(line.id), as_id(line.verdict)
        if word is None:
            continue
        shown = shortened(str(name))
        audit, reason = _audit_of(line, newest_first, now)
        if audit is not None and reason is None and word.casefold() not in WORDS:
            reason, shown = "unknown_word", f"{shown}: {shortened(word)}"
        if audit is None or reason is not None:
            refused[None if audit is None else audit.name, str(reason)].append(shown)
            continue
        numbers = audit.cases_of(str(name))
        number = _number(line, numbers)
        if number is None:
            turn = (audit.name, str(name), line.reviewer)
            number = numbers[min(turns[turn], len(numbers) - 1)]
            turns[turn] += 1
        if number not in numbers:
            refused[audit.name, "not_drawn"].append(f"{shown} as another case")
            continue
        verdict = UsableVerdict(
            audit=audit.name,
            number=number,
            verdict=WORDS[word.casefold()],
            reviewer=line.reviewer,
            at=line.at,
        )
        if verdict in usable:
            refused[audit.name, "duplicate"].append(shown)
        usable[verdict] = None
    return Judged(
        usable=tuple(usable), refused={key: tuple(named) for key, named in refused.items()}
    )


def _audit_of(
    line: GivenVerdict, newest_first: Sequence[KnownAudit], now: datetime
) -> tuple[KnownAudit | None, str | None]:
    """The audit of a line, if there is one, and why the line is refused, if it is."""
    name, named = as_id(line.id), as_id(line.audit)
    among = [one for one in newest_first if named in (None, one.name)]
    drawn = [one for one in among if name is not None and one.cases_of(name)]
    if not drawn:
        known = among[0] if named is not None and among else None
        return known, "other_audit" if named is not None and not among else "not_drawn"
    if line.is_time_unread:
        return drawn[0], "unread_time"
    if line.at is None:
        return drawn[0], None
    if line.at > now + _CLOCKS_DIFFER:
        return drawn[0], "ahead"
    since = [one for one in drawn if one.drawn_at <= line.at]
    return (since[0], None) if since else (drawn[0], "before_draw")


def _number(line: GivenVerdict, numbers: Sequence[int]) -> int | None:
    """The number that a line names; that of the only case if it names none."""
    written = as_id(line.case)
    if written is None:
        return numbers[0] if len(numbers) == 1 else None
    return int(written) if written.isdecimal() else 0
