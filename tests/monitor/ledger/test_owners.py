"""Owners of leases: a process is told from others of its number, the dead from the living."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pumonitor.monitor.ledger.claims.owners import (
    Owner,
    is_dead,
    lives_here,
    owner_of,
    shown_owner,
    this_process,
)

SAYS_WHO_IT_IS = (
    "import sys; from pumonitor.monitor.ledger.claims.owners import this_process;"
    "print(this_process(), flush=True); sys.stdin.read()"
)
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def test_a_process_lives_until_it_is_killed_though_nobody_has_asked_how_it_ended() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SAYS_WHO_IT_IS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        owner = process.stdout.readline().strip()
        assert (lives_here(owner), is_dead(owner)) == (True, False)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert (lives_here(owner), is_dead(owner)) == (False, True), "it is a zombie"
        process.wait()
        assert is_dead(owner)
        assert is_dead(f"{owner} claim 7")


def test_a_later_process_of_the_same_number_is_another() -> None:
    me = this_process()
    assert lives_here(str(me))
    assert is_dead(str(replace(me, began=me.began - 1)))


@pytest.mark.parametrize(
    "other",
    [
        "web-2/1/4711/another machine or container",
        "web-2/1/4711/",
        "web-2/1/0/5f0e3c",
        "",
        "worker 1",
        "web-1:4711",
    ],
)
def test_of_other_machines_and_containers_nothing_is_known(other: str) -> None:
    """Though hosts, numbers and even beginnings may be the same."""
    assert (lives_here(other), is_dead(other)) == (False, False)


def test_containers_of_one_name_and_number_on_one_machine_differ() -> None:
    me = this_process()
    twin = replace(me, machine="f" * 16, began=me.began + 5)
    assert twin.shown == me.shown
    assert not is_dead(str(twin))


def test_it_is_shown_by_host_and_number() -> None:
    owner = Owner(host="web-1", pid=12, began=7, machine="ab")
    assert shown_owner(f"{owner} 0f") == "web-1, process 12"
    assert shown_owner("somebody") == "somebody"
    assert owner_of("a/b/c/d") is None
