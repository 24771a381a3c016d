"""The words of the report: what estimates mean, how they are grouped, and the verdict."""

from __future__ import annotations

from pumonitor.names import GROUPS, MEANING, TITLES, title
from pumonitor.report.verdict import verdict

__all__ = ["GROUPS", "MEANING", "TITLES", "title", "verdict"]
