"""What each estimate is called and means, for readers who know nothing of unlabeled data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from pumonitor.text import (
    count_text,
    given_text,
    number_text,
    percent_text,
    span_text,
    with_interval,
)

__all__ = [
    "ALSO_CALLED",
    "AMOUNTS",
    "AT_THRESHOLD",
    "COUNTS",
    "GROUPS",
    "MEANING",
    "SHARES",
    "TITLES",
    "UNCORRECTED_OF",
    "VALUE",
    "estimate_text",
    "estimate_with_interval",
    "title",
    "top_k_text",
]

AT_THRESHOLD: Final = (
    "precision",
    "recall",
    "f1",
    "f_beta",
    "specificity",
    "mcc",
    "balanced_accuracy",
    "accuracy",
    "predicted_positive_rate",
    "ll_score",
)
"""Estimates of the decision at the chosen threshold."""

VALUE: Final = ("recall_value", "precision_value", "caught_value", "missed_value")
"""The same decision by what rows are worth, where that is given."""

AMOUNTS: Final = ("caught_value", "missed_value")
"""Estimates in the unit of the values."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "At the chosen threshold": AT_THRESHOLD,
        "By value": VALUE,
        "Ranking, whatever the threshold": ("auc", "aul", "average_precision"),
        "How many positives there are": ("class_prior", "unlabeled_prior", "label_frequency"),
        "At the best threshold": (
            "f1_max",
            "f1_max_threshold",
            "mcc_max",
            "mcc_max_threshold",
            "balanced_accuracy_max",
            "balanced_accuracy_max_threshold",
            "accuracy_max",
            "accuracy_max_threshold",
        ),
        "In the highest scores": ("precision_at_k", "recall_at_k", "lift_at_k"),
        "Uncorrected: unconfirmed counted as negative": (
            "f1_pu",
            "mcc_pu",
            "balanced_accuracy_pu",
            "accuracy_pu",
            "auc_pu",
            "average_precision_pu",
        ),
    }
)
"""Estimates as tables show them, by heading."""

UNCORRECTED_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "auc": "auc_pu",
        "average_precision": "average_precision_pu",
        "f1": "f1_pu",
        "accuracy": "accuracy_pu",
        "balanced_accuracy": "balanced_accuracy_pu",
        "mcc": "mcc_pu",
    }
)
"""The estimate that counts unconfirmed cases as negatives, for each that has one."""

COUNTS: Final[Mapping[str, str]] = MappingProxyType(
    {"labeled_positives": "Confirmed positives", "predictions": "Predictions"}
)
"""Numbers of rows that a monitor judges like estimates, and what they are called."""

TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "class_prior": "Share of positives",
        "unlabeled_prior": "Hidden positives",
        "label_frequency": "Share confirmed",
        "predicted_positive_rate": "Share flagged",
        "aul": "AUL",
        "auc": "AUC",
        "average_precision": "Average precision",
        "recall": "Recall",
        "precision": "Precision",
        "specificity": "Specificity",
        "f1": "F1",
        "f_beta": "F-beta",
        "accuracy": "Accuracy",
        "balanced_accuracy": "Balanced accuracy",
        "mcc": "MCC",
        "ll_score": "LL score",
        "recall_value": "Recall by value",
        "precision_value": "Precision by value",
        "caught_value": "Value of positives caught",
        "missed_value": "Value of positives missed",
        "f1_max": "Best F1",
        "f1_max_threshold": "Threshold of best F1",
        "balanced_accuracy_max": "Best balanced accuracy",
        "balanced_accuracy_max_threshold": "Threshold of best balanced accuracy",
        "mcc_max": "Best MCC",
        "mcc_max_threshold": "Threshold of best MCC",
        "accuracy_max": "Best accuracy",
        "accuracy_max_threshold": "Threshold of best accuracy",
        "precision_at_k": "Precision at k",
        "recall_at_k": "Recall at k",
        "lift_at_k": "Lift at k",
        "auc_pu": "Uncorrected AUC",
        "average_precision_pu": "Uncorrected average precision",
        "f1_pu": "Uncorrected F1",
        "accuracy_pu": "Uncorrected accuracy",
        "balanced_accuracy_pu": "Uncorrected balanced accuracy",
        "mcc_pu": "Uncorrected MCC",
    }
)
"""A short name of each estimate."""

ALSO_CALLED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ap": "average_precision",
        "auc_pr": "average_precision",
        "auc_roc": "auc",
        "au_pr": "average_precision",
        "au_prc": "average_precision",
        "au_roc": "auc",
        "auroc": "auc",
        "auprc": "average_precision",
        "aucpr": "average_precision",
        "base_rate": "class_prior",
        "balanced_acc": "balanced_accuracy",
        "c": "label_frequency",
        "count": "predictions",
        "f": "f1",
        "f_measure": "f1",
        "f_one": "f1",
        "fbeta": "f_beta",
        "hit_rate": "recall",
        "labels": "labeled_positives",
        "lift": "lift_at_k",
        "matthews": "mcc",
        "matthews_corrcoef": "mcc",
        "phi": "mcc",
        "pi": "class_prior",
        "positive_predictive_value": "precision",
        "positive_rate": "class_prior",
        "positives": "labeled_positives",
        "ppv": "precision",
        "pr_auc": "average_precision",
        "prauc": "average_precision",
        "prediction_count": "predictions",
        "prevalence": "class_prior",
        "prior": "class_prior",
        "roc": "auc",
        "roc_auc": "auc",
        "rocauc": "auc",
        "rows": "predictions",
        "selectivity": "specificity",
        "sensitivity": "recall",
        "tnr": "specificity",
        "tpr": "recall",
        "true_negative_rate": "specificity",
        "true_positive_rate": "recall",
        "volume": "predictions",
    }
)
"""Synonym to name; endings such as _score are removed before the search."""

SHARES: Final = ("precision", "recall", "predicted_positive_rate", "specificity", "accuracy")
"""Estimates at the threshold that are shares of cases: charts have them in percent."""

_WITHOUT_LUCK = (
    "What chance adds to the best of many thresholds is taken off (not with an audit), so it can "
    "be below the value at the threshold in use."
)

MEANING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "class_prior": "Of all cases, the share that is really positive, confirmed or not.",
        "unlabeled_prior": "Of the unconfirmed cases, the share that is really positive.",
        "label_frequency": "Of the real positives, the share that has been confirmed.",
        "predicted_positive_rate": "Of all cases, the share the model flags.",
        "aul": (
            "Chance that a real positive scores above a case picked at random. It also moves "
            "when the share of positives does."
        ),
        "auc": (
            "Chance that a real positive scores above a real negative: 0.5 is guessing, 1 is "
            "perfect."
        ),
        "average_precision": (
            "Precision averaged over the positives as they are found from the top score down; "
            "guessing gives the share of positives."
        ),
        "recall": "Of the real positives, the share the model flags.",
        "precision": "Of the flagged cases, the share that is really positive.",
        "specificity": "Of the real negatives, the share that the model does not flag.",
        "f1": "Harmonic mean of precision and recall: high only when both are.",
        "f_beta": "Like F1, with recall counting beta times as much as precision.",
        "accuracy": (
            "Of all cases, the share that the model classifies correctly. Where positives are rare "
            "it is high even for a model that flags nothing."
        ),
        "balanced_accuracy": "Mean of recall and specificity: 0.5 is guessing.",
        "mcc": (
            "Correlation between the decisions of the model and the truth: 0 is guessing, 1 is "
            "perfect."
        ),
        "ll_score": (
            "Recall squared over the share flagged. It runs from 0 to 1 / share of positives, so "
            "it compares models on the same cases only."
        ),
        "recall_value": "Of what the real positives are worth, the share the model flags.",
        "precision_value": "Of what the flagged cases are worth, the share of the real positives.",
        "caught_value": "What the real positives that the model flags are worth.",
        "missed_value": "What the real positives that the model does not flag are worth.",
        "f1_max": f"The highest F1 that any threshold gives. {_WITHOUT_LUCK}",
        "f1_max_threshold": "The score threshold that gives the highest F1.",
        "balanced_accuracy_max": (
            f"The highest balanced accuracy that any threshold gives. {_WITHOUT_LUCK}"
        ),
        "balanced_accuracy_max_threshold": (
            "The score threshold that gives the highest balanced accuracy."
        ),
        "mcc_max": f"The highest MCC that any threshold gives. {_WITHOUT_LUCK}",
        "mcc_max_threshold": "The score threshold that gives the highest MCC.",
        "accuracy_max": f"The highest accuracy that any threshold gives. {_WITHOUT_LUCK}",
        "accuracy_max_threshold": "The score threshold that gives the highest accuracy.",
        "precision_at_k": "Of the k highest-scored cases, the share that is really positive.",
        "recall_at_k": "Of the real positives, the share among the k highest-scored cases.",
        "lift_at_k": (
            "How many times more positives are among the k highest-scored cases than among as "
            "many picked at random."
        ),
        "auc_pu": "AUC of confirmed against unconfirmed cases.",
        "average_precision_pu": "Average precision if every unconfirmed case were negative.",
        "f1_pu": "F1 if every unconfirmed case were negative.",
        "accuracy_pu": "Accuracy if every unconfirmed case were negative.",
        "balanced_accuracy_pu": "Balanced accuracy if every unconfirmed case were negative.",
        "mcc_pu": "MCC if every unconfirmed case were negative.",
    }
)
"""One plain sentence for each estimate (two where a warning belongs to it)."""


_NO_SETTINGS: Final[Mapping[str, Any]] = MappingProxyType({})


def top_k_text(top_k: float) -> str:
    """How many cases "the top k" are, in words.

    Examples
    --------
    >>> top_k_text(0.1), top_k_text(500)
    ('top 10%', 'top 500')
    """
    if 0 < top_k < 1:
        return f"top {percent_text(top_k)}"
    return f"top {count_text(int(top_k))}"


def title(name: str, settings: Mapping[str, Any] = _NO_SETTINGS) -> str:
    """A short name of an estimate or a count, with the evaluation's own k and beta in it.

    Parameters
    ----------
    name : str
        What has no title is its own, with spaces.
    settings : mapping, optional
        Of the evaluation.

    Examples
    --------
    >>> title("precision_at_k", {"top_k": 0.1}), title("f_beta", {"f_beta": 2.0})
    ('Precision, top 10%', 'F2')
    >>> title("missed_value", {"value_unit": "EUR"})
    'EUR of positives missed'
    >>> title("f1"), title("labeled_positives"), title("no_data")
    ('F1', 'Confirmed positives', 'no data')
    """
    if name.endswith("_at_k") and "top_k" in settings:
        return f"{TITLES[name].removesuffix(' at k')}, {top_k_text(settings['top_k'])}"
    if name == "f_beta" and "f_beta" in settings:
        return f"F{given_text(settings['f_beta'])}"
    if name in AMOUNTS and settings.get("value_unit"):
        return TITLES[name].replace("Value", settings["value_unit"], 1)
    return TITLES.get(name) or COUNTS.get(name) or name.replace("_", " ")


_HEALTH_SHARES: Final = ("health:unmatched_labels", "health:label_delay")
_HEALTH_COUNTS: Final = ("health:no_data", "health:volume")
_HEALTH_SPANS: Final = ("health:stale",)


def estimate_text(metric: str, value: float | None) -> str:
    """A metric's value with the sign of its unit; an en dash where it is undefined.

    Examples
    --------
    >>> estimate_text("f1", 0.61234), estimate_text("predictions", 5200.0)
    ('0.612', '5,200')
    >>> estimate_text("f1", None), estimate_text("health:unmatched_labels", 0.25)
    ('–', '25%')
    """
    if value is None or math.isnan(value):
        return "–"
    if metric in COUNTS or metric in _HEALTH_COUNTS:
        return count_text(value)
    if metric in _HEALTH_SPANS:
        return span_text(timedelta(seconds=value))
    return percent_text(value) if metric in _HEALTH_SHARES else number_text(value)


def estimate_with_interval(metric: str, value: float, low: float | None, high: float | None) -> str:
    """A metric's value with its unit and, if it has one, its interval.

    Examples
    --------
    >>> estimate_with_interval("auc", 0.71, 0.68, 0.75)
    '0.710 (0.680 to 0.750)'
    >>> estimate_with_interval("health:label_delay", 0.3, 0.2, 0.4)
    '30% of the maturity (20% to 40%)'
    """
    unit = " of the maturity" if metric == "health:label_delay" else ""
    unit = " predictions" if metric in _HEALTH_COUNTS else unit
    return with_interval(value, low, high, unit=unit, as_text=partial(estimate_text, metric))
