"""A worker that kills itself: `python killed_worker.py CONFIGURATION STEP TIMES`.

It works as of a fixed moment and dies, as by kill -9, when it comes to that step for the so manieth
time; 0 lets it live.
"""

import os
import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pumonitor.service.app import open_jobs
from pumonitor.service.config_file import read_configuration
from pumonitor.store.claims import WorkRules

NOW = datetime(2026, 1, 5, tzinfo=UTC)
LEASE = timedelta(seconds=0.5)


def main() -> None:
    path, fatal, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    seen = 0

    def on_step(step: str) -> None:
        nonlocal seen
        seen += step == fatal
        if step == fatal and seen == times:
            os.kill(os.getpid(), signal.SIGKILL)

    configuration = read_configuration(path).configuration
    with open_jobs(
        configuration,
        clock=lambda: NOW,
        deliver=False,
        rules=WorkRules(lease=LEASE, first_wait=LEASE, longest_wait=LEASE),
        on_step=on_step,
    ) as jobs:
        jobs.run()
        jobs.drain_with_others()


if __name__ == "__main__":
    main()
