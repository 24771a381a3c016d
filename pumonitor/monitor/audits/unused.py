"""Which audits of a monitor its configuration of today does not use, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pumonitor.monitor.config.changes import changes_in, unidentified
from pumonitor.monitor.config.file import configuration_hash, configuration_meaning
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.results.kept_audits import what_audits_stand_on

_UNKNOWN = "the configuration that it was drawn under is not in the state database"


def unused_audits(ledger: Ledger, monitor: Monitor) -> dict[str, tuple[str, ...]]:
    """Audits that are not used, with what changed since they were drawn.

    Parameters
    ----------
    ledger : Ledger
    monitor : Monitor
        As its file has it: it need not have been run.

    Returns
    -------
    dict of str to tuple of str
        Name of the audit to differences: "threshold was 0.5 and is now 0.8".
    """
    now = what_audits_stand_on(configuration_meaning(monitor))
    own, ignored = configuration_hash(monitor), unidentified(monitor)
    changes = {
        key: tuple(changes_in(what_audits_stand_on(meaning), now, ignored))
        for key, meaning in ledger.configurations(monitor.name).items()
    }
    found = {
        one.name: () if one.configuration == own else changes.get(one.configuration, (_UNKNOWN,))
        for one in ledger.reviews.all(monitor.name)
    }
    return {name: why for name, why in found.items() if why}


def not_used_said(name: str, unused: Mapping[str, Sequence[str]]) -> str:
    """One clause: that an audit is not used, and why.

    Examples
    --------
    >>> not_used_said("3f2a", {"3f2a": ("threshold was 2.0 and is now 2.5",)})
    'audit 3f2a is not used, since it was drawn before a change: threshold was 2.0 and is now 2.5'
    """
    return (
        f"audit {name} is not used, since it was drawn before a change: {'; '.join(unused[name])}"
    )
