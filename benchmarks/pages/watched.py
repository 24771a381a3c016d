"""CPU, time and statements of reads."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import event

from pumonitor.monitor.ledger.ledger import Ledger

__all__ = ["Watched"]


class Watched:
    """Times reads and counts their statements."""

    def __init__(self, ledger: Ledger, *, repeats: int) -> None:
        self._repeats = repeats
        self._statements = 0
        event.listen(ledger.database.engine, "before_cursor_execute", self._count)

    def _count(self, _connection: object, _cursor: object, statement: str, *_: object) -> None:
        self._statements += not statement.startswith("BEGIN")

    def statements(self, read: Callable[[], Any]) -> int:
        """How many statements a read takes."""
        self._statements = 0
        read()
        return self._statements

    def read(self, what: str, read: Callable[[], Any], *, repeats: int | None = None) -> None:
        """Print what a read takes, after one that is not counted."""
        read()
        cpu, wall = [], []
        for _ in range(repeats or self._repeats):
            self._statements = 0
            started, used = time.perf_counter(), time.process_time()
            read()
            cpu.append(1000 * (time.process_time() - used))
            wall.append(1000 * (time.perf_counter() - started))
        worst = sorted(cpu)[int(0.95 * (len(cpu) - 1) + 0.5)]
        print(
            f"{what:<58} {statistics.median(cpu):8.1f} {worst:8.1f} {statistics.median(wall):8.1f} "
            f"{self._statements:5}",
            flush=True,
        )
