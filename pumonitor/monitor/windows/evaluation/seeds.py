"""Seeds of the random draws behind the intervals of a monitor."""

from __future__ import annotations

from datetime import UTC
from hashlib import sha256

from pumonitor.ports import Window


def seed_of(window: Window | None, *, model_version: str, segment: str) -> int:
    """Seed of a series: its stretch of time, model version and segment, and nothing else.

    So the same rows give the same intervals to the last digit: in all panes of a window, in a
    monitor of another name, from another table or engine, under settings that do not matter to
    them. Windows differ in their seeds: errors of the draws would add up over time.

    Parameters
    ----------
    window : Window or None
        None for what is drawn of several windows together.
    model_version, segment : str

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> day = Window(start=datetime(2026, 1, 1, tzinfo=UTC), end=datetime(2026, 1, 2, tzinfo=UTC),
    ...              index=20454)
    >>> seed_of(day, model_version="7", segment="country=DE")
    17095382148967159
    """
    stretch = () if window is None else (window.start, window.end)
    parts = (
        *(one.astimezone(UTC).isoformat(timespec="microseconds") for one in stretch),
        model_version,
        segment,
    )
    # The lengths tell ("a", "bc") from ("ab", "c").
    named = "".join(f"{len(part)}:{part}" for part in parts).encode()
    return int.from_bytes(sha256(named).digest()[:7], "big")
