"""Metrics of a message as the names and finite numbers logged to MLflow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pumonitor.monitor.delivery.mlflow.slugs import segment_slug, slug
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.views.numbers import PREFIX, NumberView, metric_parts

_PARTS = {"value", "low", "high", "infeasible"}


def metric_values(
    metrics: Mapping[str, Any], *, segment: str = "", group: str = PREFIX.rstrip("/")
) -> dict[str, float]:
    """Names and values to log: ``pu/<name>``, ``pu/<name>_low``, ``pu/<name>_high``.

    Names for a segment begin with ``pu/<segment>/``. `pumonitor.views.numbers.metric_parts`
    decides which values are logged, as in the evaluator.

    Parameters
    ----------
    metrics : mapping
        By name a number, None, or a mapping with ``value`` and, where they exist, ``low``,
        ``high`` and ``infeasible``.
    segment : str
        ``column=value``, "" for all rows.
    group : str
        Text before the first slash, in place of ``pu``.

    Raises
    ------
    MessageRefusedError
        If something is not a number, or two names become one.

    Examples
    --------
    >>> metric_values({"auc": {"value": 0.9, "low": 0.8, "high": 0.95}, "n_labeled": 31})
    {'pu/auc': 0.9, 'pu/auc_low': 0.8, 'pu/auc_high': 0.95, 'pu/n_labeled': 31.0}
    >>> metric_values({"f1": None}, segment="country=DE")
    {'pu/country.DE/f1_undefined': 1.0}
    """
    prefix = f"{group}/{segment_slug(segment)}/" if segment else f"{group}/"
    values: dict[str, float] = {}
    origin: dict[str, str] = {}
    for name, given in metrics.items():
        for ending, value in metric_parts(_view(name, given)):
            key = f"{prefix}{slug(name)}{ending}"
            if key in values:
                msg = f"metrics {origin[key]!r} and {name!r} would both be {key}: rename one"
                raise MessageRefusedError(msg)
            values[key] = value
            origin[key] = name
    return values


def _view(name: str, given: Any) -> NumberView:
    parts = given if isinstance(given, Mapping) else {"value": given}
    unknown = sorted(set(parts) - _PARTS)
    if unknown:
        msg = (
            f"metric {name!r} has the key {unknown[0]!r}, which is unknown: its keys are "
            f"{', '.join(sorted(_PARTS))}"
        )
        raise MessageRefusedError(msg)
    value, low, high = (_finite(name, parts.get(part)) for part in ("value", "low", "high"))
    return NumberView(value=value, low=low, high=high, infeasible=bool(parts.get("infeasible")))


def _finite(name: str, given: Any) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float):
        msg = f"metric {name!r} must be a number or null, got {given!r:.80}"
        raise MessageRefusedError(msg)
    try:
        value = float(given)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None
