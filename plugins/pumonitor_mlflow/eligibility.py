"""When the evaluator runs, and a line in the log when it does not."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pumonitor_mlflow.configuration import known_keys, nearest_key, without_evaluator_name

# Below MLflow's own logger, so that the line shows beside MLflow's and obeys its level.
_logger = logging.getLogger("mlflow.pumonitor")

# Keys of the evaluators MLflow ships; a flat configuration reaches every evaluator.
_KEYS_OF_MLFLOW = frozenset(
    {
        "average",
        "col_mapping",
        "eval_results_mode",
        "eval_results_path",
        "explainability_algorithm",
        "explainability_kernel_link",
        "explainability_nsamples",
        "label_list",
        "log_explainer",
        "log_metrics_with_dataset_info",
        "log_model_explainability",
        "max_classes_for_multiclass_roc_pr",
        "metric_prefix",
        "pos_label",
        "sample_weights",
    }
)


def is_meant(*, model_type: str | None, evaluator_config: Mapping[str, Any] | None) -> bool:
    """Whether to evaluate: for the type ``pu``, and for classifiers that are configured for it.

    A classifier without a configuration belongs to MLflow's own evaluator: when no evaluator is
    named, MLflow asks every installed one.

    Examples
    --------
    >>> is_meant(model_type="classifier", evaluator_config={"class_prior": 0.1})
    True
    >>> is_meant(model_type="classifier", evaluator_config={"log_model_explainability": False})
    False
    """
    if model_type == "pu":
        return True
    if model_type not in ("classifier", None):
        _logger.info(
            "Evaluator 'pu' skipped: it evaluates binary classifiers (model_type 'pu' or "
            "'classifier'), not model_type %r.",
            model_type,
        )
        return False
    if any(_speaks_of_this_evaluator(key) for key in without_evaluator_name(evaluator_config)):
        return True
    _logger.info(
        "Evaluator 'pu' skipped: with model_type %r it needs a configuration of its own, such as "
        "evaluator_config={'pu': {'class_prior': 'auto'}}; with model_type='pu' it needs none.",
        model_type,
    )
    return False


def _speaks_of_this_evaluator(key: Any) -> bool:
    if key in _KEYS_OF_MLFLOW:
        return False
    # A misspelt key counts, so that it is refused by name rather than skipped.
    return key in known_keys() or nearest_key(str(key)) is not None
