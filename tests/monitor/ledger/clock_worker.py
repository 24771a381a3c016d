"""Claims a window with a local clock that is wrong: ADDRESS HOURS."""

from __future__ import annotations

import datetime as datetime_module
import sys
import time
from datetime import datetime, timedelta, tzinfo


def put_off(hours: int) -> None:
    """Shift every clock that Python code can ask."""
    shift = timedelta(hours=hours)

    class Shifted(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + shift

        @classmethod
        def utcnow(cls) -> datetime:  # type: ignore[override]
            return datetime.now(datetime_module.UTC).replace(tzinfo=None) + shift

    real = time.time
    time.time = lambda: real() + shift.total_seconds()
    datetime_module.datetime = Shifted  # type: ignore[misc]


def main(address: str, hours: int) -> None:
    put_off(hours)
    from pumonitor.monitor.ledger.ledger import (
        Ledger,  # only now, so that it gets the shifted clock
    )

    with Ledger.open(address) as ledger:
        claim = ledger.claim_collect(
            "elsewhere", now=datetime(2030, 1, 1, tzinfo=datetime_module.UTC)
        )
    claimed = "nothing" if claim is None else f"day {claim.window.index - 20454}"
    sys.stdout.write(f"the clock is off by {hours} hours, claimed {claimed}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
