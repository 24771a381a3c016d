"""A command's process looks for garbage seldom."""

import gc
import subprocess
import sys

import pytest

from pumonitor.monitor.own_process import collect_garbage_seldom


@pytest.fixture(autouse=True)
def thresholds_as_before():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_older_generations_are_collected_as_before():
    before = gc.get_threshold()
    collect_garbage_seldom()
    assert gc.get_threshold()[0] > 5 * before[0]
    assert gc.get_threshold()[1:] == before[1:]


def test_commands_do_so_and_the_library_does_not():
    program = (
        "import gc, sys; before = gc.get_threshold(); import pumonitor.monitor.app; "
        "from pumonitor.cli.app import main; assert gc.get_threshold() == before; "
        "sys.argv = ['pumonitor', '--version']\n"
        "try:\n    main()\nfinally:\n    print(gc.get_threshold()[0] > 10 * before[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "True"
