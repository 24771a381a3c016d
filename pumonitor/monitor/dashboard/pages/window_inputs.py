"""What a window was made from: rows, configuration, class prior, seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pumonitor.monitor.config.changes import changes_between
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.windows.input_findings import ROW_KINDS
from pumonitor.text import count_text, given_text, number_text, percent_with_interval

_ALWAYS: Final = ("predictions", "label_rows")


def counted_rows(counts: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What was counted and how often; what never occurred is left out.

    Examples
    --------
    >>> counted_rows({"predictions": 5200, "label_rows": 40, "refused_labels": 2})[2]
    ('labels known more than a day before their prediction, left out', '2')
    """
    return [
        (said, count_text(int((counts or {}).get(name) or 0)))
        for name, said in ROW_KINDS.items()
        if counts is not None and (name in _ALWAYS or counts.get(name))
    ]


def configuration_said(ledger: Ledger, record: WindowRecord) -> str:
    """What changed in the configuration since the window before.

    Parameters
    ----------
    ledger : Ledger
    record : WindowRecord
        The window.
    """
    stored = ledger.configurations(record.monitor)
    if len(stored) < 2:
        return "the same as of all other windows"
    earlier = [
        one
        for one in ledger.evaluated_windows(record.monitor)
        if one.end <= record.window.start and one.configuration in stored
    ]
    if not earlier:
        return "no earlier window has results"
    last = max(one.end for one in earlier)
    before = [one.configuration for one in earlier if one.end == last]
    if record.configuration in before:
        return "unchanged since the window before"
    changes = changes_between(stored[before[-1]], stored[record.configuration])
    return f"changed since the window before: {'; '.join(changes)}"


def made_with_said(chosen: StoredEvaluation) -> list[tuple[str, str]]:
    """The class prior with its method, label purity and seed."""
    made_with = chosen.evaluation.get("made_with") or {}
    prior, settings = made_with.get("class_prior"), chosen.evaluation.get("settings") or {}
    if "audit" in made_with:
        prior = chosen.evaluation["class_prior"]
    found: list[tuple[str, str]] = []
    if prior is not None and prior["value"] is not None:
        low, high = prior["low"], prior["high"]
        value = percent_with_interval(
            prior["value"],
            prior["value"] if low is None else low,
            prior["value"] if high is None else high,
        )
        found.append(("Class prior", f"{value}, {prior['method']}"))
    if "threshold" in settings:
        found.append(("Threshold", given_text(settings["threshold"])))
    if settings.get("label_purity", 1.0) != 1.0:
        found.append(("Label purity", number_text(settings["label_purity"])))
    if "seed" in made_with:
        found.append(("Seed of the draws", str(made_with["seed"])))
    return found
