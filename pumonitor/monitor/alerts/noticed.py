"""When what a transition rests on was known: of audited windows not before their verdicts."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from pumonitor.monitor.ledger.records.alerts import RecordedPane
from pumonitor.monitor.ledger.results.read_audits import verdicts_read_at
from pumonitor.monitor.rules.alerts.alert import Alert, Transition
from pumonitor.monitor.rules.alerts.rule import AlertRule


def as_noticed(
    found: Transition | None,
    connection: Connection,
    *,
    rule: AlertRule,
    before: Alert,
    pane: RecordedPane,
) -> Transition | None:
    """The transition with the moment at which what it rests on was known.

    Labels that are confirmed late make a pane of their own, with its own moment. Verdicts make a
    further revision of a pane whose moment has long passed, and a rule with ``evidence: audited``
    could not fire before it.

    Parameters
    ----------
    found : Transition or None
        As of the moment of the pane that was folded.
    connection : Connection
    rule : AlertRule
    before : Alert
        No transition is earlier than its last one.
    pane : RecordedPane
        That was folded.
    """
    if found is None or not rule.audited:
        return found
    read_at = verdicts_read_at(
        connection, found.monitor, window_key=pane.window_key, start=found.window_start
    )
    moments = [found.as_of, read_at, before.emitted_as_of]
    return replace(found, as_of=max(one for one in moments if one is not None))
