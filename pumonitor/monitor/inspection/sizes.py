"""How large the state database is, in words and as JSON."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.results.read_sizes import LedgerSizes
from pumonitor.text import size_text

_SUPPOSED: Final = timedelta(days=90)
"""How long superseded evaluations would be kept, where the configuration does not say."""

_MOST_MONITORS: Final = 20


def sizes_in_words(configuration: Configuration, ledger: LedgerReader) -> list[str]:
    """Lines of text: tables and monitors, the largest first, and what retention frees."""
    kept = configuration.keep_evaluations or _SUPPOSED
    found = ledger.sizes(older_than=kept)
    lines = [f"state database {size_text(sum(found.tables.values()))}"]
    lines += [f"  {name:<24} {size_text(size):>10}" for name, size in found.tables.items()]
    lines.append("evaluations by monitor, and how many of them are superseded")
    shown = list(found.evaluations.items())[:_MOST_MONITORS]
    lines += [f"  {name:<24} {n:>10,} {found.superseded.get(name, 0):>10,}" for name, n in shown]
    others = len(found.evaluations) - len(shown)
    if others:
        lines.append(f"  and {others:,} monitors with fewer")
    return [*lines, _freed(found, kept, is_set=configuration.keep_evaluations is not None)]


def sizes_as_json(configuration: Configuration, ledger: LedgerReader) -> dict[str, Any]:
    """The same in JSON types, of all monitors."""
    kept = configuration.keep_evaluations or _SUPPOSED
    found = ledger.sizes(older_than=kept)
    return {
        "tables": dict(found.tables),
        "monitors": {
            name: {"evaluations": number, "superseded": found.superseded.get(name, 0)}
            for name, number in found.evaluations.items()
        },
        "keep_evaluations": None if configuration.keep_evaluations is None else kept.days,
        "days_supposed": kept.days,
        "bytes_freed": found.bytes_superseded,
    }


def _freed(found: LedgerSizes, kept: timedelta, *, is_set: bool) -> str:
    number = sum(found.superseded.values())
    what = f"{number:,} evaluations, about {size_text(found.bytes_superseded)}"
    if is_set:
        return f"the next rounds delete {what} (keep_evaluations: {kept.days}d)"
    return f"keep_evaluations: {kept.days}d would delete {what}; without it all are kept"
