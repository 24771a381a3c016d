"""Workers killed at every step of a round: what is recorded in the end is what should be."""

import json
import os
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from pumonitor.monitor.app import open_jobs, open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.database.schema import outbox
from tests.abandoned import AS_A_CHILD, left_alive
from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW
from tests.monitor.ledger_content import ledger_content
from tests.monitor.mlflow_and_ledger import assert_mlflow_holds_what_is_recorded
from tests.monitor.monitored_shop import FIRST, recorded, write_shop

pytestmark = pytest.mark.slow

WORKER = Path(__file__).with_name("killed_worker.py")
DAYS = 2
NOW = FIRST + timedelta(days=4)
STEPS = (
    "plan",
    "claimed to collect",
    "collected",
    "collected and stored",
    "claimed to evaluate",
    "evaluated",
    "evaluated and stored",
)
LIVES = ("", 0)
KILLED = -9


def told(path, *fates):
    line = {"configuration": str(path), "now": NOW.isoformat(), "fates": fates}
    return json.dumps(line) + "\n"


class Workers:
    """Starts workers, all at once, and tells how each ended."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )

    def codes(self, path, *fates):
        self._process.stdin.write(told(path, *fates))
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def end(self):
        self._process.communicate(timeout=30)


@pytest.fixture(scope="module")
def workers():
    workers = Workers()
    yield workers
    workers.end()


def shop(folder, state="sqlite:///state.db"):
    """Its results are to be sent, which nobody does here."""
    return write_shop(folder, days=DAYS, state=state, tracking="http://127.0.0.1:9")


def content_of(path):
    with open_ledger(read_configuration(path).configuration) as ledger:
        left = ledger.counts(now=NOW)
        assert (left.to_collect, left.to_evaluate) == (0, 0)
        return ledger_content(ledger)


@pytest.fixture(scope="module")
def undisturbed(workers, tmp_path_factory):
    path = shop(tmp_path_factory.mktemp("undisturbed"))
    assert workers.codes(path, LIVES) == [0]
    return path


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_killed_at_a_step_loses_and_doubles_nothing(
    step, workers, undisturbed, address, tmp_path
):
    path = shop(tmp_path, address)
    assert workers.codes(path, (step, 1)) == [KILLED]
    assert workers.codes(path, LIVES) == [0]
    assert content_of(path) == content_of(undisturbed)


@pytest.mark.parametrize("count", [2, 5])
def test_several_workers_killed_at_random_lose_and_double_nothing(
    count, workers, undisturbed, address, tmp_path
):
    chance = random.Random(count)  # noqa: S311
    path = shop(tmp_path, address)
    # One is sure to die: the others may find that all is done before their step comes.
    fates = [("plan", 1)]
    fates += [(chance.choice(STEPS), chance.randint(1, 2)) for _ in range(count - 1)]
    codes = workers.codes(path, *fates)
    assert set(codes) <= {0, KILLED}
    assert KILLED in codes
    assert workers.codes(path, *[LIVES] * count) == [0] * count
    assert content_of(path) == content_of(undisturbed)


@pytest.mark.filterwarnings(*WARNINGS_OF_MLFLOW)
def test_a_run_killed_when_mlflow_has_taken_what_is_not_noted_yet(
    mlflow_server, proxy, client, tmp_path
):
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    path = write_shop(
        tmp_path,
        days=2,
        first=today - timedelta(days=2),
        with_versions=True,
        # No reports, which take seconds to make.
        maturity=timedelta(days=5),
        tracking=proxy.address,
    )
    code = "from pumonitor.cli.app import main; main()"
    process = subprocess.Popen([sys.executable, "-c", code, "run", "--config", path])

    def react(request):
        answer = proxy.forward(request)
        if request.path.endswith("log-batch") and b"metrics" in request.body:
            process.kill()
        return answer

    proxy.react = react
    assert process.wait(timeout=60) == KILLED
    proxy.react = proxy.forward
    with open_jobs(read_configuration(path).configuration) as jobs:
        waiting = jobs.ledger.outbox.waiting()["mlflow"]
        assert (waiting.messages, waiting.last_error) == (3, None)
        # The one that was killed is known to be dead: nobody waits for its lease.
        done = jobs.run()
        assert (done.collected, done.deliveries["mlflow"].delivered) == (0, 3)
        assert jobs.ledger.outbox.waiting() == {}
        assert_mlflow_holds_what_is_recorded(mlflow_server, client, jobs.ledger)


def test_no_worker_survives_who_started_it(tmp_path):
    left = left_alive(
        [*AS_A_CHILD, sys.executable, WORKER],
        told=told(shop(tmp_path), LIVES, LIVES),
        when=lambda others: len(others) == 3,
    )
    assert left == []


def test_the_oracle_knows_both_days_with_their_looks_and_all_messages(undisturbed):
    with open_ledger(read_configuration(undisturbed).configuration) as ledger:
        rows = recorded(ledger)
        with ledger.database.reading() as connection:
            messages = connection.execute(select(outbox.c.destination, outbox.c.payload)).all()
    # Row fields: 3 the window's start, 6 the revision.
    looks = {(row[3], row[6]) for row in rows}
    days = [FIRST, FIRST + timedelta(days=1)]
    assert looks == {(day, revision) for day in days for revision in range(3)}
    sent = [
        (name, datetime.fromisoformat(payload["window"]["start"]), payload["revision"])
        for name, payload in messages
    ]
    assert sorted(sent) == sorted(
        [("mlflow", *look) for look in looks] + [("mlflow-files", day, 2) for day in days]
    )
