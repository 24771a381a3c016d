"""Rows checked and counted by score cell: the columns of an exact table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor._cells import cells_of_rows, cells_of_weighted_rows
from pumonitor._entities import LabeledEntities, rank_design_effect
from pumonitor._propensities import Chances, describe
from pumonitor._validate import (
    as_entities,
    as_labels,
    as_propensities,
    as_scores,
    check_label_counts,
    check_same_index,
    row_weights,
)
from pumonitor._weights import Weights
from pumonitor.errors import InputError

DENSITY_EDGES = 1024


def columns_of_rows(
    labels: Any,
    scores: Any,
    *,
    thresholds: Iterable[float],
    sample_weight: Any,
    propensity: Any,
    detection_rate: float,
    min_propensity: float,
    density_edges: int,
    entity: Any,
) -> dict[str, Any]:
    """Attributes of the `ScoreTable` of rows; the parameters are those of its `from_arrays`."""
    check_same_index(labels, scores)
    label_values = as_labels(labels)
    score_values = as_scores(scores)
    if len(label_values) != len(score_values):
        msg = (
            f"labels and scores must have one value per row: got {len(label_values)} labels "
            f"and {len(score_values)} scores"
        )
        raise InputError(msg)
    numbers = {
        "n_labeled": int(np.count_nonzero(label_values == 1)),
        "n_unlabeled": int(np.count_nonzero(label_values == 0)),
        "n_negative": int(np.count_nonzero(label_values == -1)),
    }
    check_label_counts(numbers["n_labeled"], numbers["n_unlabeled"])
    edges = np.asarray(list(thresholds), dtype=score_values.dtype)
    settings = {"detection_rate": detection_rate, "min_propensity": min_propensity}
    logged = as_propensities(label_values, propensity, **settings)
    entities = None
    if entity is not None:
        codes = as_entities(
            entity,
            label_values,
            index_of=labels,
            sample_weight=sample_weight,
            propensity=propensity,
        )
        entities = LabeledEntities.of_rows(codes, score_values[label_values == 1])
    if sample_weight is None and propensity is None:
        cells = cells_of_rows(label_values, score_values, edges=edges, density_edges=density_edges)
        return {
            "lower": cells.lower,
            "upper": cells.upper,
            **cells.sums,
            **numbers,
            "entities": entities,
        }
    weight, represented = row_weights(label_values, sample_weight, propensity, **settings)
    cells = cells_of_weighted_rows(
        label_values,
        score_values,
        weight=weight,
        represented=represented,
        edges=edges,
        density_edges=density_edges,
    )
    columns = {
        "lower": cells.lower,
        "upper": cells.upper,
        **{name: cells.sums[name] for name in ("labeled", "unlabeled", "negative")},
        **numbers,
        "weights": Weights(**{item.name: cells.sums[item.name] for item in fields(Weights)}),
    }
    if logged is not None:
        is_labeled, is_rest = label_values == 1, label_values == 0
        columns["propensities"] = describe(logged[is_labeled], represented[is_labeled], **settings)
        columns["chances"] = Chances.of_rows(
            score_values[is_rest],
            propensity=logged[is_rest],
            weight=weight[is_rest],
            lower=cells.lower,
            **settings,
        )
    return columns


def value_design_effect(entity: Any, labels: NDArray[np.int8], values: FloatArray) -> float:
    """Of the mean rank of the values of labeled rows; 1 without entities."""
    if entity is None:
        return 1.0
    return rank_design_effect(as_entities(entity, labels), values[labels == 1])
