"""The configuration of the evaluator, read and refused before anything is computed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pumonitor.errors import did_you_mean, nearest

__all__ = ["Configuration", "known_keys", "nearest_key", "without_evaluator_name"]

_OWN_KEYS = frozenset({"labels", "pos_label", "table", "col_mapping", "report"})
_ROW_KEYS = (
    "labels",
    "pos_label",
    "propensity",
    "detection_rate",
    "min_propensity",
    "sample_weight",
    "entity",
    "label_source",
    "auxiliary",
    "groups",
    "ids",
    "reviews",
    "value",
    "value_unit",
)
_COLUMN_KEYS = frozenset(
    {
        "sample_weight",
        "entity",
        "propensity",
        "label_source",
        "auxiliary",
        "groups",
        "ids",
        "reviews",
        "value",
    }
)

# Keys of other evaluators may stand beside ours: only what is very like one of ours is taken for
# it.
_LIKENESS = 0.75


@cache
def known_keys() -> frozenset[str]:
    """Keywords of `pumonitor.evaluate` and the evaluator's own keys."""
    import pumonitor

    keywords = inspect.signature(pumonitor.evaluate).parameters.values()
    return _OWN_KEYS | {item.name for item in keywords if item.kind is item.KEYWORD_ONLY}


def nearest_key(key: str) -> str | None:
    """The known key that `key` is a misspelling of, if there is one.

    Examples
    --------
    >>> nearest_key("class_priro"), nearest_key("log_model_explainability")
    ('class_prior', None)
    """
    return next(iter(nearest(key, sorted(known_keys()), likeness=_LIKENESS)), None)


def without_evaluator_name(config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The evaluator's own keys, also from ``{"pu": {...}}``.

    MLflow unwraps that form for a list of evaluators, and not for a single name.
    """
    config = config or {}
    inner = config.get("pu")
    return inner if len(config) == 1 and isinstance(inner, Mapping) else config


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What the caller asked for.

    Attributes
    ----------
    options : mapping
        Keywords of `pumonitor.evaluate`, passed on as they are; with a table of counts those of
        `pumonitor.evaluate_table`.
    labels, sample_weight, entity, propensity, label_source, groups, ids, value : str, array-like
        Columns of the data by name, or their values.
    auxiliary : list of str, table of features or None
        Columns of the data by name, or a table with a row for each of theirs.
    reviews : Reviews, mapping or None
        Keywords of `pumonitor.Reviews`, columns of the data by name.
    pos_label : object
        The positive class of a model whose classes are not 0 and 1.
    table : object
        Counts in place of rows.
    col_mapping : mapping
        Argument of an extra metric to column of the data.
    report : bool
        Whether to draw the report and the charts, which takes seconds.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    labels: Any = None
    sample_weight: Any = None
    entity: Any = None
    propensity: Any = None
    label_source: Any = None
    auxiliary: Any = None
    groups: Any = None
    ids: Any = None
    reviews: Any = None
    value: Any = None
    pos_label: Any = None
    table: Any = None
    col_mapping: Mapping[str, Any] = field(default_factory=dict)
    report: bool = True

    @classmethod
    def read(cls, config: Mapping[str, Any] | None) -> Configuration:
        """Read the evaluator's configuration.

        Raises
        ------
        ValueError
            If a key is unknown, or belongs to rows while a table of counts is given.

        Examples
        --------
        >>> Configuration.read({"class_prior": 0.1, "sample_weight": "weight"}).options
        {'class_prior': 0.1}
        """
        config = without_evaluator_name(config)
        for key in config:
            if key not in known_keys():
                raise ValueError(_unknown(key))
        apart = {*_OWN_KEYS, *_COLUMN_KEYS}
        if config.get("table") is not None:
            rejected = [key for key in _ROW_KEYS if config.get(key) is not None]
            if rejected:
                msg = (
                    f"evaluator_config has a table of counts and {', '.join(rejected)}, which need "
                    "rows: give one or the other"
                )
                raise ValueError(msg)
        return cls(
            options={key: value for key, value in config.items() if key not in apart},
            **{key: config[key] for key in apart if config.get(key) is not None},
        )


def _unknown(key: Any) -> str:
    hint = did_you_mean(str(key), sorted(known_keys()), likeness=_LIKENESS) or "."
    return (
        f"unknown key {key!r} in the configuration of evaluator 'pu'{hint} Known keys are "
        f"{', '.join(sorted(known_keys()))}. Keys for other evaluators go under their own name: "
        "evaluators=['pu', 'default'] and evaluator_config={'pu': {...}, 'default': {...}}"
    )
