"""Scores of a live model: probabilities where the model has them, what it predicts otherwise."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError
from pumonitor_mlflow.output_scores import are_class_labels, score_column

_logger = logging.getLogger("mlflow.pumonitor")


def model_scores(
    model: Any,
    features: Any,
    *,
    column: str | None = None,
    pos_label: Any = None,
    not_features: Sequence[str] = (),
) -> NDArray[Any]:
    """Score the rows with a model as MLflow hands it to evaluators.

    A classifier's ``predict`` returns decisions. Where the classifier itself is at hand (the
    scikit-learn flavor and those that resemble it) its ``predict_proba`` is used instead, or its
    ``decision_function``.

    Parameters
    ----------
    model : mlflow.pyfunc.PyFuncModel or anything with predict
    features : pandas data frame or array of shape (n, features)
    column : str or None
        Column of the model's output that holds the score.
    pos_label : object
        The positive class when the model's classes are not 0 and 1.
    not_features : sequence of str
        Columns that hold labels or weights; kept from a model that does not ask for them.

    Raises
    ------
    InputError
        If the model returns decisions, has other than two classes, or lacks a column it needs.
    """
    classifier = _classifier_of(model)
    if classifier is not None:
        inputs = _classifier_inputs(features, classifier, model, not_features)
        return _classifier_scores(classifier, inputs, pos_label)
    inputs = _model_inputs(features, model, not_features)
    scores = score_column(model.predict(inputs), column=column, pos_label=pos_label)
    if are_class_labels(scores):
        kinds = " and ".join(map(str, np.unique(scores.astype(str))[:3]))
        msg = (
            f"the model returns decisions, not scores: all {len(scores)} predictions are {kinds}, "
            "which cannot rank cases. Let it return the probability of the positive class "
            "(mlflow.sklearn.log_model(..., pyfunc_predict_fn='predict_proba'), or predict of your "
            "PythonModel or function), or score the rows yourself and pass predictions='<column>' "
            "without a model"
        )
        raise InputError(msg)
    return scores


def _classifier_of(model: Any) -> Any:
    get_raw_model = getattr(model, "get_raw_model", None)
    if get_raw_model is None:
        return None
    try:
        raw = get_raw_model()
    except NotImplementedError:  # a served model, or a flavor without one
        return None
    if getattr(raw, "classes_", None) is None:
        return None
    scored = hasattr(raw, "predict_proba") or hasattr(raw, "decision_function")
    return raw if scored else None


def _classifier_scores(classifier: Any, inputs: Any, pos_label: Any) -> NDArray[Any]:
    position = _position_of_positive(list(classifier.classes_), pos_label)
    if hasattr(classifier, "predict_proba"):
        return np.asarray(classifier.predict_proba(inputs))[:, position]
    _logger.info(
        "Evaluator 'pu' scores with decision_function: a threshold must be on that scale, "
        "where 0 is the classifier's own."
    )
    scores = np.asarray(classifier.decision_function(inputs))
    return scores if position == 1 else -scores


def _position_of_positive(classes: list[Any], pos_label: Any) -> int:
    listed = ", ".join(str(item) for item in classes)
    if len(classes) != 2:
        msg = (
            f"the model has {len(classes)} classes ({listed}): this evaluator needs exactly two; "
            "pass the score of the positive class as static predictions"
        )
        raise InputError(msg)
    if pos_label is not None:
        if pos_label not in classes:
            msg = f"pos_label {pos_label!r} is not a class of the model, which has {listed}"
            raise InputError(msg)
        return classes.index(pos_label)
    if set(classes) not in ({0, 1}, {-1, 1}):
        msg = (
            f"the model's classes are {listed}: say which is the positive one, "
            f"evaluator_config={{'pu': {{'pos_label': {str(classes[1])!r}}}}} for example"
        )
        raise InputError(msg)
    return classes.index(1)


def _classifier_inputs(
    features: Any, classifier: Any, model: Any, not_features: Sequence[str]
) -> Any:
    """The columns the classifier was fitted on, in that order; it refuses any other."""
    if not hasattr(features, "columns"):
        return features
    fitted = getattr(classifier, "feature_names_in_", None)
    names = _signature_names(model) if fitted is None else [str(name) for name in fitted]
    if not names:
        return _model_inputs(features, model, not_features)
    present = list(features.columns)
    missing = [name for name in names if name not in present]
    if missing:
        msg = (
            f"the data lack {', '.join(missing)}, which the model needs; columns are "
            f"{', '.join(map(str, present))}"
        )
        raise InputError(msg)
    return features[names]


def _model_inputs(features: Any, model: Any, not_features: Sequence[str]) -> Any:
    """Every column but labels and weights; a copy, for the model is anyone's code."""
    if not hasattr(features, "columns"):
        return features.copy()
    asked_for = _signature_names(model)
    kept = [name for name in features.columns if name not in not_features or name in asked_for]
    return features[kept].copy()


def _signature_names(model: Any) -> list[str]:
    metadata = getattr(model, "metadata", None)
    schema = None if metadata is None else metadata.get_input_schema()
    if schema is None or not schema.has_input_names():
        return []
    return [str(name) for name in schema.input_names()]
