"""What is left of a program's processes after it was killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

AS_A_CHILD = (sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])")
"""Runs the command that follows."""

_POLL_SECONDS = 0.05
_TO_COME_SO_FAR_SECONDS = 60.0
_TO_END_SECONDS = 20.0


def left_alive(
    command: Sequence[str | Path],
    *,
    when: Callable[[list[psutil.Process]], bool],
    told: str = "",
) -> list[psutil.Process]:
    """Kill the program when its processes are as they should be; those that go on for good.

    What it is told on its input stays open, as it does where others hold it as well.
    """
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdin is not None
        program.stdin.write(told)
        program.stdin.flush()
        others: list[psutil.Process] = []
        until = time.monotonic() + _TO_COME_SO_FAR_SECONDS
        while not when(others):
            assert program.poll() is None, "it ended by itself"
            assert time.monotonic() < until, "it did not come so far"
            time.sleep(_POLL_SECONDS)
            others = psutil.Process(program.pid).children(recursive=True)
        program.kill()
        until = time.monotonic() + _TO_END_SECONDS
        while (alive := [one for one in others if _lives(one)]) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        for one in alive:
            one.kill()
    return alive


def _lives(process: psutil.Process) -> bool:
    try:
        # One that has ended and whom nobody asks how it ended is no burden.
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
