"""Labels, scores and weights of the rows, found in MLflow's dataset."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._validate import as_labels, as_scores
from pumonitor.errors import InputError
from pumonitor.reviews.given import Reviews
from pumonitor_mlflow.configuration import Configuration
from pumonitor_mlflow.model_scores import model_scores
from pumonitor_mlflow.output_scores import are_class_labels

if TYPE_CHECKING:
    from mlflow.data.evaluation_dataset import EvaluationDataset

__all__ = ["Rows", "read_rows"]

_logger = logging.getLogger("mlflow.pumonitor")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """What is evaluated, a value for each row.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        1 confirmed positive, 0 unlabeled, -1 confirmed negative.
    scores : ndarray of shape (n,)
    weights : mapping of str to array
        ``sample_weight``, ``entity``, ``propensity``, ``label_source``, ``groups`` and
        ``auxiliary`` where given.
    columns : mapping of str to array
        Every column of the data, for extra metrics.
    """

    labels: NDArray[np.int8]
    scores: NDArray[Any]
    weights: Mapping[str, Any]
    columns: Mapping[str, Any]


def read_rows(
    dataset: EvaluationDataset,
    configuration: Configuration,
    *,
    model: Any,
    output_column: str | None,
) -> Rows:
    """Find labels, scores, weights, and where labels came from.

    Raises
    ------
    InputError
        If there are no labels or no scores, a named column is missing, or values cannot be used.
    """
    columns = _columns(dataset)
    return Rows(
        labels=_labels(dataset, configuration, columns),
        scores=_scores(dataset, configuration, columns, model, output_column),
        weights={
            key: _column_or_values(value, key=key, columns=columns)
            for key, value in (
                ("sample_weight", configuration.sample_weight),
                ("entity", configuration.entity),
                ("propensity", configuration.propensity),
                ("label_source", configuration.label_source),
                ("groups", configuration.groups),
                ("ids", configuration.ids),
                ("value", configuration.value),
            )
            if value is not None
        }
        | _features(configuration.auxiliary, columns)
        | _reviews(configuration.reviews, columns),
        columns=columns,
    )


def _columns(dataset: EvaluationDataset) -> dict[str, Any]:
    features = dataset.features_data
    if hasattr(features, "columns"):
        # Numbered like scores and labels, else a metric that combines them aligns wrong rows.
        numbered = features.reset_index(drop=True)
        columns = {str(name): numbered[name] for name in numbered.columns}
    else:
        columns = dict(zip(dataset.feature_names, np.asarray(features).T, strict=True))
    for name, values in (
        (dataset.targets_name, dataset.labels_data),
        (dataset.predictions_name, dataset.predictions_data),
    ):
        if name is not None:
            columns[name] = values
    return columns


def _column_or_values(value: Any, *, key: str, columns: Mapping[str, Any]) -> Any:
    if not isinstance(value, str):
        return value
    if value not in columns:
        msg = (
            f"evaluator_config names the column {value!r} as {key}, but the data have "
            f"{', '.join(columns)} (feature_names, if given, excludes the others)"
        )
        raise InputError(msg)
    return columns[value]


def _features(value: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The table that `auxiliary` names or is."""
    if value is None:
        return {}
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return {"auxiliary": value}
    return {
        "auxiliary": {
            name: _column_or_values(name, key="auxiliary", columns=columns) for name in names
        }
    }


def _reviews(value: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The reviews whose columns are named, or which are given as they are."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return {"reviews": value}
    named = dict(value)
    for key in ("verdicts", "chosen_by", "probability", "ranked_by", "stopped"):
        given = named.get(key)
        # A word in place of a column says why all rows were reviewed.
        if given is not None and (key != "chosen_by" or given in columns):
            named[key] = _column_or_values(given, key=f"{key} of reviews", columns=columns)
    try:
        return {"reviews": Reviews(named.pop("verdicts", None), **named)}
    except TypeError as error:
        msg = (
            f"evaluator_config has reviews that cannot be read ({error}): give {{'verdicts': "
            "'a column', 'blocks': True or False}, and chosen_by, probability, ranked_by or stopped"
        )
        raise InputError(msg) from None


def _labels(
    dataset: EvaluationDataset, configuration: Configuration, columns: Mapping[str, Any]
) -> NDArray[np.int8]:
    given = configuration.labels
    if given is not None:
        name = f"labels column {given!r}" if isinstance(given, str) else "labels"
        return as_labels(
            _readable(_column_or_values(given, key="labels", columns=columns)), name=name
        )
    if dataset.labels_data is None:
        msg = (
            "no labels: evaluator 'pu' needs the confirmations (1 confirmed positive, 0 unlabeled, "
            "-1 confirmed negative); name their column with targets='...' in "
            "mlflow.models.evaluate or with evaluator_config={'pu': {'labels': '...'}}; the data "
            f"have {', '.join(columns)}"
        )
        raise InputError(msg)
    name = "targets" if dataset.targets_name is None else f"targets column {dataset.targets_name!r}"
    return as_labels(_readable(dataset.labels_data), name=name)


def _scores(
    dataset: EvaluationDataset,
    configuration: Configuration,
    columns: Mapping[str, Any],
    model: Any,
    output_column: str | None,
) -> NDArray[Any]:
    if model is not None:
        named = (
            configuration.labels,
            configuration.sample_weight,
            configuration.entity,
            configuration.propensity,
            configuration.label_source,
            configuration.ids,
        )
        scores = model_scores(
            model,
            dataset.features_data,
            column=output_column,
            pos_label=configuration.pos_label,
            not_features=[name for name in named if isinstance(name, str)],
        )
        return as_scores(scores, name="the model's scores")
    if dataset.predictions_data is None:
        msg = (
            "no scores: give mlflow.models.evaluate a model, or name the column of scores with "
            "predictions='...' (a Dataset names it itself); counts in place of rows go into "
            f"evaluator_config={{'pu': {{'table': ...}}}}; the data have {', '.join(columns)}"
        )
        raise InputError(msg)
    name = f"predictions column {dataset.predictions_name!r}"
    scores = as_scores(_readable(dataset.predictions_data), name=name)
    if are_class_labels(scores):
        _logger.warning(
            "%s has two values only, so it contains decisions and not scores: the metrics at a "
            "threshold are valid, but aul, auc and average_precision compare two groups and not a "
            "ranking.",
            name,
        )
    return scores


def _readable(values: Any) -> Any:
    """Arrays of objects as a series, which knows pandas.NA (comparing it raises)."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        import pandas

        return pandas.Series(values)
    return values
