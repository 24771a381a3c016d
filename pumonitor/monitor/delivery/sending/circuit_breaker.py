"""Circuit breaker: after repeated failures a destination is not tried for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pumonitor.monitor.doubled_wait import doubled_wait


@dataclass(slots=True, kw_only=True)
class CircuitBreaker:
    """Allows all messages while closed, and none after `failures_to_open` failures in a row.

    After the wait it allows one message as a probe. It closes if that is delivered, else it waits
    twice as long.

    Attributes
    ----------
    failures_to_open : int
    first_wait, longest_wait : timedelta

    Examples
    --------
    >>> from datetime import timezone
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
    >>> breaker = CircuitBreaker(
    ...     failures_to_open=1, first_wait=timedelta(minutes=1), longest_wait=timedelta(hours=1)
    ... )
    >>> breaker.failed(noon)
    >>> breaker.allowed(noon, most=20), breaker.allowed(noon + timedelta(minutes=1), most=20)
    (0, 1)
    """

    failures_to_open: int
    first_wait: timedelta
    longest_wait: timedelta
    _failures: int = 0
    _open_until: datetime | None = None

    def allowed(self, now: datetime, *, most: int) -> int:
        """How many messages may be tried now, up to `most`."""
        if self._open_until is None:
            return most
        return 0 if now < self._open_until else 1

    def succeeded(self) -> None:
        """The destination answered."""
        self._failures = 0
        self._open_until = None

    def failed(self, now: datetime) -> None:
        """The destination is down."""
        self._failures += 1
        openings = self._failures - self.failures_to_open
        if openings >= 0:
            wait = doubled_wait(self.first_wait, openings, longest=self.longest_wait)
            self._open_until = now + wait
