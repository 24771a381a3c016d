"""The time from which health rules learn what is usual."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

OVER: Final = timedelta(days=28)
"""Windows of this time before a window define what is usual for it."""
