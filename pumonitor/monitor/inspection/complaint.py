"""One problem that `doctor` finds, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


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
