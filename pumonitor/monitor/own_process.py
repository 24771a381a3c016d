"""Settings of processes that run nothing but pumonitor: its commands and the workers they start."""

from __future__ import annotations

import gc
from typing import Final

_OBJECTS: Final = 50_000


def collect_garbage_seldom() -> None:
    """Look for garbage after 50,000 new objects in place of 700.

    A round makes thousands of short-lived objects and next to no cycles: Python's own setting walks
    all that was imported again and again for nothing, 4 to 8% of a command's time.
    """
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
