"""What people do, from the command line and from pages alike; the audit log has their names."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, tzinfo
from typing import Final

from pumonitor.errors import InputError, no_such, shortened
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.values.durations import read_duration
from pumonitor.monitor.inspection.configuration_changes import stored_hash
from pumonitor.monitor.ledger.by_people import ChosenAlerts
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.results.looks import RefusedLook
from pumonitor.monitor.rules.alerts.alert import Alert
from pumonitor.text import moment_cell, moment_text

LONGEST_TEXT: Final = 2000
"""Characters of a note or a reason."""

# In a zone east of UTC the last moments that Python knows cannot be shown.
_FIRST_YEAR_TOO_FAR: Final = 9000


def local_user() -> str:
    """Name of the user of this machine."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def acknowledge(
    ledger: Ledger, monitor: Monitor, which: ChosenAlerts, *, by: str, reason: str = ""
) -> tuple[Alert, ...]:
    """Acknowledge firing alerts of a monitor: no more reminders are sent for them.

    Parameters
    ----------
    ledger : Ledger
    monitor : Monitor
    which : ChosenAlerts
    by : str
        Whoever does it.
    reason : str, optional

    Raises
    ------
    InputError
        If no alert fires that matches, all that do are acknowledged, or there is no such rule.
    """
    _check_rule(ledger, monitor, which.rule)
    done = ledger.by_people.acknowledge(which, by=by, reason=_text(reason, "the reason"))
    if not done and ledger.by_people.is_firing(which):
        msg = f"every firing alert of {which.monitor} that matches is acknowledged already"
        raise InputError(msg)
    if not done:
        msg = (
            f"no firing alert of {which.monitor} matches these options; pumonitor alerts list "
            "shows the alerts that fire"
        )
        raise InputError(msg)
    return done


def take_back(
    ledger: Ledger, monitor: Monitor, which: ChosenAlerts, *, by: str, reason: str = ""
) -> tuple[Alert, ...]:
    """Take the acknowledgement of firing alerts back: reminders are sent again.

    Raises
    ------
    InputError
        If no acknowledged alert matches, or there is no such rule.
    """
    _check_rule(ledger, monitor, which.rule)
    done = ledger.by_people.take_back(which, by=by, reason=_text(reason, "the reason"))
    if not done:
        msg = (
            f"no acknowledged alert of {which.monitor} matches these options; pumonitor alerts "
            "list shows the alerts that fire"
        )
        raise InputError(msg)
    return done


def silence(ledger: Ledger, monitor: Monitor, wanted: Silence) -> Silence:
    """Store a silence of a monitor's alerts; returns it with its number.

    Parameters
    ----------
    ledger : Ledger
    monitor : Monitor
    wanted : Silence
        With the name of its author.

    Raises
    ------
    InputError
        If there is no such rule, or the reason is too long.
    """
    _check_rule(ledger, monitor, wanted.rule)
    reason = _text(wanted.reason, "the reason")
    wanted = wanted.model_copy(update={"monitor": monitor.name, "reason": reason})
    return wanted.model_copy(update={"id": ledger.by_people.silence(wanted)})


def end_silence(
    ledger: Ledger, number: int, *, by: str, now: datetime, monitor: str | None = None
) -> None:
    """End a silence now.

    Parameters
    ----------
    ledger : Ledger
    number : int
    by : str
    now : datetime
    monitor : str, optional
        Only a silence of this monitor.

    Raises
    ------
    InputError
        If there is no such silence, or it has ended.
    """
    found = ledger.by_people.silence_numbered(number)
    if (
        found is None
        or monitor not in (None, found.monitor)
        or not ledger.by_people.end_silence(number, at=now, by=by)
    ):
        msg = (
            f"silence {number} does not exist or has ended; pumonitor alerts list "
            "shows those in force"
        )
        raise InputError(msg)


def accept_look(
    ledger: Ledger, monitor: str, moment: datetime, *, by: str, reason: str
) -> RefusedLook:
    """Take the refused look at the window of a monitor that a moment is in.

    Raises
    ------
    InputError
        If there is no reason, or no look at this window was refused.
    """
    reason = _text(reason, "the reason")
    if not reason:
        raise InputError("the reason must have a text: it is kept with your name")
    refused = [look for look in ledger.refused_looks(monitor) if look.is_acceptable]
    for look in refused:
        if look.window.start <= moment < look.window.end and ledger.accept_look(
            look, by=by, reason=reason
        ):
            return look
    starts = [moment_cell(look.window.start) for look in refused]
    listed = f"those that were are of {', '.join(starts)} UTC" if starts else "none was"
    msg = (
        f"no look at the window of {monitor} at {moment_text(moment)} was refused for rows "
        f"that are gone; {listed}"
    )
    raise InputError(msg)


def add_note(ledger: Ledger, note: Note) -> Note:
    """Store a note; returns it with its number.

    Raises
    ------
    InputError
        If its text is empty or too long, or it is about an alert that does not exist.
    """
    _check_alert(ledger, note)
    text = _text(note.text, "the note")
    if not text:
        raise InputError("the note must have a text")
    return ledger.notes.add(note.model_copy(update={"text": text}))


def withdraw_note(ledger: Ledger, number: int, *, by: str, monitor: str | None = None) -> None:
    """Withdraw a note, which is then no longer shown.

    Raises
    ------
    InputError
        If there is no such note of the monitor, or it was withdrawn.
    """
    found = ledger.notes.numbered(number)
    if (
        found is None
        or monitor not in (None, found.monitor)
        or not ledger.notes.withdraw(number, by=by)
    ):
        msg = f"note {number} does not exist or was withdrawn; pumonitor notes list shows them all"
        raise InputError(msg)


def silence_end(text: str, *, now: datetime, what: str, zone: tzinfo = UTC) -> datetime:
    """End of a silence, given as a duration from now, a date or a time.

    Parameters
    ----------
    text : str
    now : datetime
    what : str
        What an error calls it, such as ``--until``.
    zone : tzinfo
        Of a time without an offset.

    Raises
    ------
    InputError
        If it is none of them, or not in the future.

    Examples
    --------
    >>> now = datetime(2026, 3, 1, tzinfo=UTC)
    >>> silence_end("6h", now=now, what="until").isoformat()
    '2026-03-01T06:00:00+00:00'
    >>> silence_end("2026-03-04", now=now, what="until").isoformat()
    '2026-03-04T00:00:00+00:00'
    """
    try:
        end = _end(text, now, zone)
    except OverflowError:
        msg = f"{what} is too far away, got {shortened(text)}"
        raise InputError(msg) from None
    except ValueError as error:
        hint = "; write min for minutes" if "write min for minutes" in str(error) else ""
        msg = (
            f"{what} takes a duration such as 2d or 6h, or a date or a time such as "
            f"2026-01-31 or 2026-01-31T06:00Z, got {shortened(text)}{hint}"
        )
        raise InputError(msg) from None
    if end.year >= _FIRST_YEAR_TOO_FAR:
        msg = f"{what} is too far away, got {shortened(text)}"
        raise InputError(msg)
    if end <= now:
        msg = f"{what} must be later than now, got {shortened(text)}"
        raise InputError(msg)
    return end


def _end(text: str, now: datetime, zone: tzinfo) -> datetime:
    try:
        return now + read_duration(text)
    except ValueError as of_duration:
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            raise of_duration from None
    return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)


def _check_rule(ledger: Ledger, monitor: Monitor, rule: str | None) -> None:
    """Raise InputError unless a rule in the file, or a stored alert, has this name or key."""
    if rule is None:
        return
    rules = alert_rules(monitor, stored_hash(ledger, monitor))
    alerts_there = ledger.alerts.current(monitor.name)
    names = dict.fromkeys([one.name for one in rules] + [one.rule for one in alerts_there])
    keys = {one.key for one in rules} | {one.rule_key for one in alerts_there}
    if rule not in names and rule not in keys:
        msg = f"{monitor.name} has {no_such('rule', rule, names)}"
        raise InputError(msg)


def _check_alert(ledger: Ledger, note: Note) -> None:
    """Raise InputError unless the alert that a note is about, and its incident, are stored."""
    about = note.alert
    if about is not None and not any(
        one.place == (about.rule_key, about.model_version, about.segment)
        and 0 <= about.incident <= one.incident
        for one in ledger.alerts.current(note.monitor, closed=True)
    ):
        msg = f"{note.monitor} has no such alert: the note would be about nothing"
        raise InputError(msg)


def _text(given: str, what: str) -> str:
    """What somebody wrote, with line breaks of one kind.

    Raises
    ------
    InputError
        If it is too long, or has characters that are not written.
    """
    text = given.replace("\r\n", "\n").strip()
    if len(text) > LONGEST_TEXT:
        msg = f"{what} must have at most {LONGEST_TEXT:,} characters, got {len(text):,}"
        raise InputError(msg)
    if any(one not in "\n\t" and unicodedata.category(one) in {"Cc", "Cs"} for one in text):
        msg = f"{what} must not have control characters"
        raise InputError(msg)
    return text
