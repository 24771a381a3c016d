"""One problem that `doctor` finds, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

Severity = Literal["error", "warning"]

LATE: Final = timedelta(days=1)
"""What is later than this has something wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One problem with its severity and its remedy.

    Attributes
    ----------
    severity : {"error", "warning"}
    what : str
    remedy : str
    """

    severity: Severity
    what: str
    remedy: str
