"""How far back goes what is usual."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

__all__ = ["OVER"]

OVER: Final = timedelta(days=28)
"""What is usual is what was so long before."""
