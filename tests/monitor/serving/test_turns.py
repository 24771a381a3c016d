"""One slow server delays nobody else: turns of monitors, and rounds of several workers."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from threading import Event, Thread

import pytest
import yaml

from pumonitor.errors import InputError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration, read_configuration_text
from pumonitor.monitor.config.sections.sources import Source
from pumonitor.monitor.serving.scheduler import Service
from pumonitor.monitor.serving.serving import turns_of, workers_for
from pumonitor.monitor.serving.turns import Turns
from pumonitor.monitor.windows.opening import open_monitor_source
from tests.monitor.ledger_content import ledger_content
from tests.monitor.made_up_results import TEXT
from tests.monitor.monitored_shop import FIRST, write_shop

NOW = FIRST + timedelta(days=3)
PATIENCE = 60.0
"""Seconds after which a test gives up waiting for another thread."""
SLOW = ("slow-1", "slow-2", "slow-3")
FAST = ("fast-1", "fast-2")


def test_who_waited_longest_is_next_unless_its_server_is_full():
    turns = Turns({"a": ["x"], "b": ["x"], "c": ["x"], "d": ["y"]}, at_once=2)
    for name in "abcd":
        turns.ask(name)
    assert [turns.next() for _ in range(4)] == ["a", "b", "d", None]
    turns.ask("a")
    turns.done("b")
    assert [turns.next(), turns.next()] == ["c", None]


def test_a_monitor_is_with_one_worker_at_a_time_and_waits_once():
    turns = Turns({"a": ["x"]}, at_once=2)
    turns.ask("a")
    assert turns.next() == "a"
    turns.ask("a")
    turns.ask("a")
    assert turns.next() is None
    turns.done("a")
    assert (turns.next(), turns.next()) == ("a", None)
    turns.done("a")
    assert turns.next() is None


def test_all_servers_of_a_monitor_need_room():
    turns = Turns({"a": ["x"], "b": ["x", "y"], "c": ["y"]}, at_once=5, limits={"x": 1})
    for name in "abc":
        turns.ask(name)
    assert [turns.next() for _ in range(3)] == ["a", "c", None]
    assert turns.beside("b") == {"a", "b", "c"}
    assert turns.beside("a") == {"a"}


@pytest.mark.parametrize("seed", range(5))
def test_nobody_is_passed_by_for_ever_and_no_limit_is_passed(seed):
    rng = random.Random(seed)  # noqa: S311
    servers = {f"m{n}": {rng.choice("xyz") for _ in range(2)} for n in range(12)}
    turns = Turns(servers, at_once=2, limits={"z": 1})
    taken: list[str] = []
    asked = Counter[str]()
    had = Counter[str]()
    for _ in range(500):
        if rng.random() < 0.3:
            name = rng.choice(list(servers))
            asked[name] += 1
            turns.ask(name)
        if taken and rng.random() < 0.5:
            turns.done(taken.pop(rng.randrange(len(taken))))
        if rng.random() < 0.5 and (name := turns.next()) is not None:
            assert name not in taken
            taken.append(name)
            had[name] += 1
        busy = Counter(server for name in taken for server in servers[name])
        assert all(count <= (1 if server == "z" else 2) for server, count in busy.items())
    while taken:
        turns.done(taken.pop())
        while (name := turns.next()) is not None:
            taken.append(name)
            had[name] += 1
    assert set(had) == set(asked)
    assert all(had[name] <= asked[name] for name in asked)


def test_waiting_ends_when_it_is_closed():
    turns = Turns({"a": []}, at_once=1)
    found = []
    thread = Thread(target=lambda: found.append(turns.wait()))
    thread.start()
    turns.close()
    thread.join(PATIENCE)
    assert found == [None]


# -- rounds ---------------------------------------------------------------------------------------


def shop(folder):
    """Three monitors on a server, two on files; all of them hold the same rows."""
    path = write_shop(folder, days=2, class_prior=0.1)
    head, block = path.read_text().split("monitors:\n")
    block = block.removeprefix("  card-fraud:\n")
    on_server = block.replace(
        "predictions.parquet", "{url: 'postgresql://slow.example/w', table: scored}"
    )
    blocks = [f"  {name}:\n{on_server}" for name in SLOW] + [f"  {n}:\n{block}" for n in FAST]
    path.write_text(head + "monitors:\n" + "".join(blocks))
    return path


class Server:
    """Stands before the tables of some monitors, and may not answer."""

    def __init__(self, configuration):
        self._configuration = configuration
        self.answers = Event()
        self.asked: list[str] = []
        self.is_full = Event()

    def open(self, monitor):
        if monitor.name in SLOW:
            self.asked.append(monitor.name)
            if len(self.asked) == 2:
                self.is_full.set()
            assert self.answers.wait(PATIENCE)
        # Names of files do not enter results.
        return open_monitor_source(self._configuration.monitors[FAST[0]])


def content(ledger):
    found = ledger_content(ledger)
    # What is said of sources differs: files have digests, databases have none.
    return {name: rows for name, rows in found.items() if name not in {"audit", "standings"}}


@pytest.fixture(scope="module")
def one_after_another(tmp_path_factory):
    configuration = read_configuration(shop(tmp_path_factory.mktemp("shop"))).configuration
    server = Server(configuration)
    server.answers.set()
    with open_jobs(
        configuration, clock=lambda: NOW, open_source=server.open, deliver=False
    ) as jobs:
        assert jobs.run().failures == []
        return content(jobs.ledger)


@pytest.mark.usefixtures("unsearched_labels")
def test_a_server_that_does_not_answer_delays_no_other_monitor(tmp_path, one_after_another):
    configuration = read_configuration(shop(tmp_path)).configuration
    assert (configuration.at_once, workers_for(configuration)) == (2, 3)
    server, turns = Server(configuration), turns_of(configuration)
    over = {name: Event() for name in (*SLOW, *FAST)}
    failures: list[str] = []

    def work(jobs, name):
        done = jobs.run(only=name, beside=turns.beside(name), budget=timedelta())
        failures.extend(done.failures)
        over[name].set()

    with ExitStack() as stack:
        workers = [
            stack.enter_context(
                open_jobs(configuration, clock=lambda: NOW, open_source=server.open, deliver=False)
            )
            for _ in range(workers_for(configuration))
        ]
        service = Service(
            configuration.monitors,
            workers=[partial(work, jobs) for jobs in workers],
            turns=turns,
            tidy=lambda: None,
        )
        running = Thread(target=service.serve)
        running.start()
        assert server.is_full.wait(PATIENCE)
        for name in FAST:
            assert over[name].wait(PATIENCE)
        assert sorted(server.asked) == sorted(SLOW[:2])
        assert not any(over[name].is_set() for name in SLOW)
        server.answers.set()
        for name in SLOW:
            assert over[name].wait(PATIENCE)
        service.stop()
        running.join(PATIENCE)
        assert not running.is_alive()
        assert failures == []
        assert content(workers[0].ledger) == one_after_another


def test_rounds_that_fail_give_their_place_back():
    turns = Turns({"a": ["x"], "b": ["x"]}, at_once=1)
    seen: list[str] = []
    both = Event()

    def work(name):
        seen.append(name)
        if set(seen) == {"a", "b"}:
            both.set()
        raise RuntimeError(name)

    service = Service({}, workers=[work], turns=turns, tidy=lambda: None)
    for name in "ab":
        turns.ask(name)
    running = Thread(target=service.serve)
    running.start()
    assert both.wait(PATIENCE)
    service.stop()
    running.join(PATIENCE)
    assert seen[:2] == ["a", "b"]


def test_files_of_this_machine_are_read_one_by_one():
    configuration = read_configuration_text(TEXT + "at_once: 7\n", environment={}).configuration
    assert (configuration.at_once, workers_for(configuration)) == (7, 1)
    with pytest.raises(InputError, match="at_once"):
        read_configuration_text(TEXT + "at_once: 0\n", environment={})


@pytest.mark.parametrize(
    ("source", "server"),
    [
        ("scores.parquet", ""),
        ("s3://bucket/scores/*.parquet", "s3://bucket"),
        ("https://ada:s3cret@host.example/a?sig=s3cret", "https://host.example"),
        (
            "{url: 'postgresql+psycopg://ada@db.example:5432/w?a=b', table: t}",
            "postgresql://db.example:5432",
        ),
        ("{url: 'sqlite:///scores.db', table: t}", "sqlite:///scores.db"),
    ],
)
def test_a_server_is_a_host_without_secrets(source, server):
    assert Source.model_validate(yaml.safe_load(source)).server == server
