"""Where scores and labels come from: one file per kind of source."""

from pumonitor.sources.one_table.files import read_score_table

__all__ = ["read_score_table"]
