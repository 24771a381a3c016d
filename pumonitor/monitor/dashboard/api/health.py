"""Answers about configurations and health."""

from __future__ import annotations

from collections.abc import Mapping

from pumonitor import __version__
from pumonitor.monitor.config.changes import changes_between
from pumonitor.monitor.dashboard.api.answers import (
    ConfigurationAnswer,
    Configurations,
    Health,
    Waiting,
)
from pumonitor.monitor.dashboard.api.queries import NoQuery
from pumonitor.monitor.dashboard.api.reading import Reading
from pumonitor.monitor.inspection.conditions import read_conditions
from pumonitor.monitor.ledger.records.windows import Backlog
from pumonitor.monitor.views.windows import WorkView

_NO_WORK = Backlog(windows=0, to_collect=0, to_evaluate=0, failing=0, oldest_unfinished=None)


def configurations_answer(
    reading: Reading, path: Mapping[str, str], query: NoQuery
) -> Configurations:
    """Configurations of a monitor, in the order of last use."""
    name = reading.seen(path["monitor"])
    current = reading.ledger.configuration(name)
    found = list(reading.ledger.configurations(name).items())
    before = [None, *(meaning for _, meaning in found)]
    return Configurations(
        items=[
            ConfigurationAnswer(
                hash=key,
                is_current=key == current,
                meaning=dict(meaning),
                changes=[] if earlier is None else changes_between(earlier, meaning),
            )
            for (key, meaning), earlier in zip(found, before, strict=False)
        ]
    )


def health_answer(reading: Reading, path: Mapping[str, str], query: NoQuery) -> Health:
    """Whether the state database answers, and what is late."""
    backlogs = reading.ledger.backlogs(now=reading.now)
    waiting = reading.ledger.outbox.waiting() if reading.access.caller().is_admin else {}
    return Health(
        version=__version__,
        ready=True,
        monitors=read_conditions(
            reading.ledger,
            {name: reading.site.monitors[name] for name in reading.access.visible()},
            now=reading.now,
        ),
        work=[
            WorkView.from_record(backlogs.get(name, _NO_WORK), monitor=name)
            for name in reading.access.visible()
        ],
        outbox=[
            Waiting(
                destination=destination,
                messages=some.messages,
                set_aside=some.set_aside,
                oldest_seconds=some.oldest.total_seconds() if some.messages else None,
            )
            for destination, some in waiting.items()
        ],
    )
