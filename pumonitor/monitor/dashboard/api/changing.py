"""Changes that a program makes: acknowledgements, silences, notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from http import HTTPStatus
from typing import Final

from pumonitor.monitor import changes
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.access import Access
from pumonitor.monitor.dashboard.api.answers import Acknowledged, Notes
from pumonitor.monitor.dashboard.api.bodies import (
    AcknowledgeBody,
    NoBody,
    NoteBody,
    SilenceBody,
)
from pumonitor.monitor.dashboard.api.problems import ProblemError
from pumonitor.monitor.dashboard.api.queries import NotesQuery
from pumonitor.monitor.dashboard.api.reading import Reading, key_asked, next_cursor
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import alert_views
from pumonitor.monitor.ledger.by_people import ChosenAlerts
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.rules.alerts.alert import Alert
from pumonitor.monitor.views.alerts import by_urgency

_LARGEST: Final = 2_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Changing:
    """A change by somebody.

    Attributes
    ----------
    site : Site
    access : Access
    pages : PageAddresses
    """

    site: Site
    access: Access
    pages: PageAddresses

    @property
    def by(self) -> str:
        """Who makes it."""
        return self.access.caller().name

    def monitor(self, path: Mapping[str, str]) -> Monitor:
        """The monitor of the path; answers 404 unless it may be seen, 403 unless changed."""
        if path["monitor"] not in self.access.visible():
            raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such monitor")
        return self.site.monitors[self.access.changed(path["monitor"])]


def acknowledge(changing: Changing, path: Mapping[str, str], body: AcknowledgeBody) -> Acknowledged:
    """Acknowledge alerts that fire."""
    return _mark(changing, path, body, changes.acknowledge)


def unacknowledge(
    changing: Changing, path: Mapping[str, str], body: AcknowledgeBody
) -> Acknowledged:
    """Take acknowledgements back."""
    return _mark(changing, path, body, changes.take_back)


def _mark(
    changing: Changing,
    path: Mapping[str, str],
    body: AcknowledgeBody,
    mark: Callable[..., tuple[Alert, ...]],
) -> Acknowledged:
    monitor, site = changing.monitor(path), changing.site
    which = ChosenAlerts(
        monitor=monitor.name,
        rule=body.rule,
        model_version=body.model_version,
        segment=body.segment,
        incident=body.incident,
    )
    done = mark(site.ledger, monitor, which, by=changing.by, reason=body.reason)
    places = {one.place for one in done}
    with site.at_once() as ledger:
        alerts = alert_views(
            ledger,
            now=site.clock(),
            monitors=[monitor.name],
            in_full=True,
            pages=changing.pages,
        )
    return Acknowledged(items=by_urgency(alert for alert in alerts if alert.place in places))


def silence(changing: Changing, path: Mapping[str, str], body: SilenceBody) -> Silence:
    """Silence alerts until a time."""
    monitor, now = changing.monitor(path), changing.site.clock()
    ends = body.moment("until")
    if ends is None or ends <= now:
        raise ProblemError(HTTPStatus.CONFLICT, "until must be later than now")
    wanted = Silence(
        starts=now,
        ends=ends,
        rule=body.rule,
        metric=body.metric,
        model_version=body.model_version,
        segment=body.segment,
        reason=body.reason,
        author=changing.by,
    )
    return changes.silence(changing.site.ledger, monitor, wanted)


def end_silence(changing: Changing, path: Mapping[str, str], body: NoBody) -> Silence:
    """End a silence of a monitor now."""
    monitor, number = changing.monitor(path), _number(path)
    ledger = changing.site.ledger
    found = ledger.by_people.silence_numbered(number)
    if found is None or found.monitor != monitor.name:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"{monitor.name} has no silence {number}")
    changes.end_silence(
        ledger, number, by=changing.by, now=changing.site.clock(), monitor=monitor.name
    )
    ended = ledger.by_people.silence_numbered(number)
    return ended or found


def add_note(changing: Changing, path: Mapping[str, str], body: NoteBody) -> Note:
    """Write a note about a monitor."""
    monitor, site = changing.monitor(path), changing.site
    at, ends = body.moment("at") or site.clock().astimezone(UTC), body.moment("ends")
    if ends is not None and ends < at:
        raise ProblemError(HTTPStatus.CONFLICT, "ends must not be before at")
    note = Note(monitor=monitor.name, at=at, ends=ends, text=body.text, author=changing.by)
    return changes.add_note(site.ledger, note)


def withdraw_note(changing: Changing, path: Mapping[str, str], body: NoBody) -> Note:
    """Withdraw a note, which is then no longer shown."""
    monitor, number = changing.monitor(path), _number(path)
    found = changing.site.ledger.notes.numbered(number)
    if found is None or found.monitor != monitor.name:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"{monitor.name} has no note {number}")
    changes.withdraw_note(changing.site.ledger, number, by=changing.by, monitor=monitor.name)
    return found


def notes_answer(reading: Reading, path: Mapping[str, str], query: NotesQuery) -> Notes:
    """Notes, the newest first."""
    before = key_asked(query, [0])
    found = reading.ledger.notes.newest(
        reading.chosen(query.monitor),
        # Cursors have it negative, as those that were given out before.
        before=None if before is None else -before[0],
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    return Notes(
        items=list(shown),
        next=next_cursor(query, [-shown[-1].id] if len(found) > len(shown) else None),
    )


def _number(path: Mapping[str, str]) -> int:
    given = path["number"]
    if not (given.isascii() and given.isdecimal() and len(given) < 11 and int(given) <= _LARGEST):
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such number")
    return int(given)
