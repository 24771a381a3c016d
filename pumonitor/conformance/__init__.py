"""Whether an engine counts as DuckDB does: `verify` asks both about the same generated rows."""

from pumonitor.conformance.verification import CaseResult, Verification, verify

__all__ = ["CaseResult", "Verification", "verify"]
