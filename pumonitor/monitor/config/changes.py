"""What changed from one configuration to another, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pumonitor.monitor.config.sections.prior_of_period import shown_meaning
from pumonitor.monitor.config.values.durations import shown_duration

if TYPE_CHECKING:
    from pumonitor.monitor.config.sections.monitor import Monitor

TABLES: Final = ("predictions", "positives")
_MOST_SHOWN: Final = 60


def changes_between(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Differences of two configurations, as the ledger has them, in words."""
    return list(changes_in(before, now, ()))


def changes_in(
    before: Mapping[str, Any], now: Mapping[str, Any], ignored: Sequence[str]
) -> Iterator[str]:
    """Differences, without those of tables whose source is ignored."""
    old, new = _flat(before), _flat(now)
    for name in dict.fromkeys((*new, *old)):
        if name in {f"{table}.source" for table in ignored} or old.get(name) == new.get(name):
            continue
        # Looks at windows follow the maturity unless they are given.
        if name == "panes" and old.get("maturity") != new.get("maturity"):
            continue
        yield f"{name} was {_shown(name, old.get(name))} and is now {_shown(name, new.get(name))}"


def unidentified(monitor: Monitor) -> tuple[str, ...]:
    """Tables whose address could not be read."""
    return tuple(name for name in TABLES if not getattr(monitor, name).source.is_identified)


def _flat(meaning: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in meaning.items():
        if name in TABLES:
            found |= {f"{name}.{key}": one for key, one in value.items()}
        else:
            found[name] = value
    return found


def _shown(name: str, value: Any) -> str:
    if name == "maturity" and value is not None:
        return shown_duration(timedelta(seconds=value))
    if name == "panes" and value is not None:
        return _listed([shown_duration(timedelta(seconds=one)) for one in value])
    if name == "class_prior" and isinstance(value, Mapping):
        return shown_meaning(value)
    if isinstance(value, Mapping):
        text = " ".join(str(one) for key, one in value.items() if key != "dialect")
        return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    if isinstance(value, list | tuple):
        return _listed([str(one) for one in value])
    return "not given" if value is None else str(value)


def _listed(values: Sequence[str]) -> str:
    return f"[{', '.join(values)}]"
