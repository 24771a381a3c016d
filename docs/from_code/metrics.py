"""The page of metrics: estimates, what the monitor adds, and what Prometheus is given."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from docs.from_code.markdown import table
from pumonitor.names import GROUPS, MEANING, TITLES
from pumonitor.prior import METHODS

__all__ = ["page", "prometheus_metrics"]

_HEAD = """# Metrics

Made from the code. Each estimate has a value, the ends `low` and `high` of its interval, a standard error,
and a reason where it is undefined. In MLflow its name begins with `pu/`, and `_low` and `_high` follow the
name; more on [MLflow](../mlflow.md).

## Estimates

"""
_READS = {
    "ranks": "the order of the scores",
    "probabilities": "scores that are calibrated probabilities of being confirmed",
    "features": "features",
    "reference": "an earlier window that is trusted",
}


def page() -> str:
    """Markdown."""
    parts = [_HEAD]
    for heading, names in GROUPS.items():
        rows = [(f"`{name}`", TITLES[name], MEANING[name]) for name in names]
        parts += [f"### {heading}", "", table(("name", "called", "meaning"), rows)]
    parts += [_OF_MONITORS, "## Methods of the class prior\n", _METHODS]
    rows = [
        (f"`{name}`", _first_line(one.estimate.__doc__), _READS[one.reads])
        for name, one in METHODS.items()
    ]
    parts += [table(("method", "what it does", "reads"), rows), _PROMETHEUS]
    rows = [(f"`{name}`", text) for name, text in prometheus_metrics().items()]
    parts += [table(("metric", "meaning"), rows)]
    return "\n".join(parts)


_OF_MONITORS = """## Of monitors

Rules and `results` of a monitor also know these numbers of each window.

| name | meaning |
|---|---|
| `labeled_positives` | How many confirmed positives the window has |
| `predictions` | How many predictions the window has |
| `class_prior_moved` | Of a class prior that is followed: chance that its level has moved by a quarter or more since the reference |
| `class_prior_factor` | Of a class prior that is followed: how many times as high the window's own is as that of the reference |
| `class_prior_level_factor` | The same of the level, from which windows differ by themselves |
| `class_prior_to_compare` | Of a class prior from an audit: the same, its interval without the error that all windows share |
| `audited_share` | Of a window that an audit was drawn from, alone or with others: share of the audit's cases that have a verdict |
| `<name>_expected` | What a provisional number is expected to become when its labels are mature |
| `<name>_change` | Difference of a metric from the reference |
"""
_METHODS = """Names for `class_prior=` and `--class-prior`, and for `method=` and `--method`. `auto` combines
several of them; `propensity` counts what confirmed rows stand for.
"""
_PROMETHEUS = """## Prometheus

What `/metrics` of `pumonitor serve --health` gives. Metrics of estimates and alerts carry the labels
`monitor`, `model_version` and `segment`.
"""


def _first_line(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n")[0]


def prometheus_metrics() -> dict[str, str]:
    """Name -> help text, as an empty ledger gives them."""
    from pumonitor.monitor.inspection.exposition import exposition
    from pumonitor.monitor.ledger.ledger import Ledger
    from pumonitor.monitor.page_addresses import PageAddresses

    now = datetime(2026, 1, 1, tzinfo=UTC)
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.open(f"sqlite:///{Path(folder) / 'state.db'}") as ledger,
    ):
        pages = PageAddresses("https://pumonitor.example.org")
        text = exposition(ledger, monitors={}, clock=lambda: now, pages=pages)().decode()
    return dict(re.findall(r"^# HELP (\S+) (.*)$", text, flags=re.MULTILINE))
