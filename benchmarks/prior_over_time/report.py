"""Tables of what `runs` wrote: coverage, bias, width, alarms, explanations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.tables import show
from benchmarks.prior_over_time.methods import FILTERS, PEERS
from benchmarks.prior_over_time.streams import CHANGED_FROM, REFERENCE, SCENARIOS
from pumonitor.monitor.rules.alerts.prior_shift import LEAST_ODDS

__all__ = ["report"]

FloatArray = NDArray[np.float64]

CHANGE: Final = CHANGED_FROM - REFERENCE
BEFORE, AFTER = slice(0, CHANGE), slice(CHANGE + 5, None)
_ALARM: Final = LEAST_ODDS / (1 + LEAST_ODDS)
_PAIRS: Final = tuple(one for one in SCENARIOS if one.startswith("break and"))
_MOVES: Final = tuple(one for one in SCENARIOS if "prior" in one)
_SCORES: Final = ("ranking", "negatives")
_TRUE: Final[Mapping[str, tuple[str, ...]]] = {
    "nothing": (),
    "prior x2": ("class prior",),
    "prior x1/2": ("class prior",),
    "label frequency halves": ("label frequency",),
    "break and prior x2": ("class prior", "scores"),
    "break and label frequency halves": ("label frequency", "scores"),
}


def report(runs: Sequence[Mapping[str, Any]]) -> None:
    """Print all tables."""
    for labels in sorted({one["labels"] for one in runs}):
        of_labels = [one for one in runs if one["labels"] == labels]
        cells: dict[tuple[str, bool, str], list[Mapping[str, Any]]] = defaultdict(list)
        for one in of_labels:
            for method, found in one["methods"].items():
                key = one["scenario"], one["features_break"], method
                cells[key].append({"truth": one["truth"], **found})
        _scenarios(f"{labels} confirmed a window", cells)
        _summary(f"{labels} confirmed a window, all together", cells)


def _scenarios(title: str, cells: Mapping[tuple[str, bool, str], Sequence[Any]]) -> None:
    columns = (
        "scenario",
        "method",
        "runs",
        "before/truth",
        "after/truth",
        "after/before",
        "covered before",
        "covered after",
        "width/truth",
        "alarms",
        "seen in 5",
        "truth said",
        "another alone",
        "precision",
        "f1",
        "auc",
    )
    methods = [*FILTERS, *PEERS]
    order = sorted(cells, key=lambda key: (SCENARIOS.index(key[0]), key[1], methods.index(key[2])))
    rows = []
    for scenario, features_break, method in order:
        found = _figures(
            cells[scenario, features_break, method], _true(scenario, method, features_break)
        )
        name = scenario + (", features too" if features_break else "")
        rows.append([name, method, *(_text(found.get(column)) for column in columns[2:])])
    show(title, columns, rows)


def _summary(title: str, cells: Mapping[tuple[str, bool, str], Sequence[Any]]) -> None:
    """The issue's table."""
    rows = []
    for method in [*FILTERS, *PEERS]:
        of_method = {
            (scenario, broken): _figures(runs, _true(scenario, method, broken))
            for (scenario, broken, name), runs in cells.items()
            if name == method
        }
        if not of_method:
            continue
        single = [one for (name, _), one in of_method.items() if name not in _PAIRS]
        pairs = [one for (name, _), one in of_method.items() if name in _PAIRS]
        breaks = [one for (name, _), one in of_method.items() if name.startswith("model breaks")]
        still = [one for (name, _), one in of_method.items() if name not in _MOVES]

        def mean(group: Sequence[Mapping[str, float]], column: str) -> str:
            values = [one[column] for one in group if column in one and not np.isnan(one[column])]
            return _text(float(np.mean(values))) if values else ""

        rows.append(
            [
                method,
                mean(single, "covered after"),
                _text(min((one["covered after"] for one in single), default=None)),
                mean(pairs, "covered after"),
                mean(breaks, "after/before"),
                mean(breaks, "width/truth"),
                mean(still, "alarms"),
                mean(
                    [one for (name, _), one in of_method.items() if name == "prior x2"], "seen in 5"
                ),
                mean(
                    [one for (name, _), one in of_method.items() if name == "prior x1/2"],
                    "seen in 5",
                ),
                mean(pairs, "truth said"),
                mean(pairs, "another alone"),
                *(mean(single, metric) for metric in ("precision", "f1", "auc")),
            ]
        )
    columns = (
        "method",
        "single changes",
        "the worst of them",
        "two at once",
        "after a break/before",
        "width/truth after a break",
        "false alarms",
        "x2 in 5",
        "x1/2 in 5",
        "truth said",
        "another alone",
        "precision",
        "f1",
        "auc",
    )
    show(title, columns, rows)


def _figures(runs: Sequence[Mapping[str, Any]], true: tuple[str, ...] | None) -> dict[str, float]:
    value, low, high, truth, moved = (
        np.array([one[name] for one in runs], dtype=float)
        for name in ("value", "low", "high", "truth", "moved")
    )
    held = (low <= truth) & (truth <= high)
    with np.errstate(invalid="ignore"):
        relative = np.nanmedian(value[:, AFTER], axis=1) / np.nanmedian(value[:, BEFORE], axis=1)
    twice = (moved[:, 1:] > _ALARM) & (moved[:, :-1] > _ALARM)
    found = {
        "runs": float(len(runs)),
        "before/truth": float(np.nanmedian(value[:, BEFORE] / truth[:, BEFORE])),
        "after/truth": float(np.nanmedian(value[:, AFTER] / truth[:, AFTER])),
        "after/before": float(np.nanmedian(relative)),
        "covered before": float(held[:, BEFORE].mean()),
        "covered after": float(held[:, AFTER].mean()),
        "width/truth": float(np.nanmedian((high - low)[:, AFTER] / truth[:, AFTER])),
        "alarms": float(twice.any(axis=1).mean()),
        "seen in 5": float(twice[:, CHANGE - 1 : CHANGE + 4].any(axis=1).mean()),
    }
    said = [list(one["said"].values())[-1] for one in runs if one["said"]]
    if said and true is not None:
        of_truth = np.array([_chance(one, true) for one in said])
        most = np.array([max((chance[-1] for chance in one), default=0.0) for one in said])
        found["truth said"] = float((of_truth >= 0.1).mean())
        found["another alone"] = float(((of_truth < 0.1) & (most > 0.9)).mean())
    for name in ("precision", "f1", "auc"):
        of_metric = [flag for one in runs for flag in one.get("held", {}).get(name, [])]
        if of_metric:
            found[name] = float(np.mean(of_metric))
    return found


def _true(scenario: str, method: str, features_break: bool) -> tuple[str, ...] | None:
    """What has moved, as that method can see it: a score of features that held ranks as before."""
    true = ("scores",) if scenario.startswith("model breaks") else _TRUE.get(scenario)
    if true is None or method != "with features" or features_break:
        return true
    return tuple(one for one in true if one != "scores")


def _chance(said: Sequence[Sequence[Any]], changed: tuple[str, ...]) -> float:
    """Of a combination; a break moves positives or negatives alone, as the pool has it."""
    return float(
        sum(
            one[-1]
            for one in said
            if {"scores" if name in _SCORES else name for name in one[:-1]} == set(changed)
        )
    )


def _text(value: float | None) -> str:
    if value is None or np.isnan(value):
        return ""
    return f"{value:.0f}" if value == round(value) and value > 1 else f"{value:.3f}"
