"""Messages that arrived are deleted after a while, but for those that are still asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from pumonitor.errors import InputError
from pumonitor.monitor.alerts.routing import key_of_beginning
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.delivery.sending.delivery import Deliverer
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database.schema import outbox
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.monitor.windows.opening import open_monitor_source
from tests.monitor.alerted_ledger import DAY, FIRST, AlertedLedger, known, rows
from tests.monitor.ledger.monitored_days import message
from tests.monitor.made_up_results import TEXT

BELOW = AlertRule(
    key="below", name="too low", metric="auc", condition=Limit(side="below", limit=0.75)
)
MINUTE = timedelta(minutes=1)


class Taken:
    """A destination that takes everything."""

    def __init__(self):
        self.keys = []

    def send(self, message):
        self.keys.append(message.key)


@pytest.fixture
def ledger(tmp_path):
    """An alert that fires, and a message for MLflow."""
    with Ledger.open(f"sqlite:///{tmp_path}/state.db") as ledger:
        AlertedLedger(
            ledger, [BELOW], lambda pane: {("7", ""): [known("auc", 0.5), rows(1000)]}
        ).run(FIRST + 4 * DAY)
        tell(ledger)
        yield ledger


def tell(ledger):
    with ledger.database.writing() as connection:
        at = ledger.database.now(connection)
        enqueue(connection, ledger.database, [message("window 1")], at=at)


def delivered(ledger, sink, **options):
    """A round of delivery."""
    deliverer = Deliverer(
        ledger.outbox, {"mlflow": sink, "alerts:hook": sink}, clock=lambda: datetime.now(UTC)
    )
    jobs = Jobs(
        {},
        ledger,
        open_source=open_monitor_source,
        clock=lambda: FIRST,
        deliverer=deliverer,
        **options,
    )
    return jobs.deliver(budget=MINUTE)


def passes(ledger, time):
    with ledger.database.writing() as connection:
        before = ledger.database.now(connection) - time
        connection.execute(update(outbox).values(delivered_at=before))


def kept(ledger):
    with ledger.database.reading() as connection:
        return set(connection.scalars(select(outbox.c.key)))


def test_a_month_later_only_what_still_fires_is_kept_and_nothing_is_sent_again(ledger):
    (fires,) = [key_of_beginning(one) for one in ledger.alerts.current() if one.told_incident]
    sink = Taken()
    delivered(ledger, sink)
    assert set(sink.keys) == kept(ledger) == {fires, "window 1"}
    passes(ledger, timedelta(days=29))
    delivered(ledger, sink)
    assert kept(ledger) == {fires, "window 1"}
    passes(ledger, timedelta(days=31))
    delivered(ledger, sink)
    assert kept(ledger) == {fires}
    tell(ledger)
    delivered(ledger, sink)
    assert len(sink.keys) == 2


def test_how_long_is_chosen_in_the_file(ledger):
    sink = Taken()
    delivered(ledger, sink)
    passes(ledger, timedelta(days=31))
    delivered(ledger, sink, keep_delivered=timedelta(days=400))
    assert len(kept(ledger)) == 2
    text = TEXT + "keep_delivered: 400d\n"
    read = read_configuration_text(text, environment={}).configuration
    assert read.keep_delivered == timedelta(days=400)
    with pytest.raises(InputError, match="keep_delivered"):
        read_configuration_text(TEXT + "keep_delivered: forever\n", environment={})
