"""Where scores and labels come from: one file per kind of source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pumonitor._on_demand import on_demand

if TYPE_CHECKING:
    from pumonitor.sources.one_table.files import read_score_table

__all__ = ["read_score_table"]

_HOMES = {
    "read_score_table": "pumonitor.sources.one_table.files",
}

# Columns of a configuration are read without the readers of rows.
__getattr__ = on_demand(__name__, _HOMES)
