"""CPU of what the page of a challenger computes: `python -m benchmarks.pages.challengers`.

Windows are stored as a monitor stores them. Printed are milliseconds of this process' CPU: what the
page computes (reading windows, and the gate), and what it would compute if the differences up to
each window were not stored when the window was scored.
"""

from __future__ import annotations

import time

import numpy as np

from pumonitor.gate import GateSettings, PairedLabels, judge, window_from_bytes
from pumonitor.monitor.challenging.seen import differences_of

_SETTINGS = GateSettings(not_worse={"aul": 0.01})
_SHAPES = ((8, 5_000), (52, 20_000), (104, 200_000))


def _stored(windows: int, rows: int) -> list[bytes]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(windows):
        positive = rng.random(rows) < 0.03
        champion, challenger = (rng.normal(gain * positive) for gain in (1.2, 1.25))
        confirmed = (positive & (rng.random(rows) < 0.2)).astype(int)
        one = PairedLabels.of_window(confirmed, champion, challenger, capacity=0.05)
        found.append(one.to_bytes())
    return found


def main() -> None:
    """Print a line for each number of windows and rows."""
    print(f"{'windows':>8} {'labels':>8} {'page':>8} {'charts, if not stored':>22}")
    for windows, rows in _SHAPES:
        stored = _stored(windows, rows)
        before = time.process_time()
        seen = [window_from_bytes(one) for one in stored]
        judge({"challenger": seen}, _SETTINGS)
        page = time.process_time() - before
        before = time.process_time()
        for place in range(windows):
            differences_of(seen[: place + 1])
        charts = time.process_time() - before
        labels = sum(one.positives for one in seen)
        print(f"{windows:8,} {labels:8,} {1000 * page:8.0f} {1000 * charts:22.0f}", flush=True)


if __name__ == "__main__":
    main()
