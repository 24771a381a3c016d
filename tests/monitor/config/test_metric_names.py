"""Metrics by the names of other programs, limits that no value can pass, and names kept twice."""

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.config.sections.metric_names import METRICS, meant_by
from pumonitor.monitor.config.sections.rules import DETECTORS
from pumonitor.monitor.rules.detectors import DEFAULT_DETECTOR
from pumonitor.monitor.rules.detectors import DETECTORS as THERE
from tests.monitor.made_up_results import TEXT

MEANT = {
    "f1_score": "f1", "F1-Score": "f1", "f_measure": "f1",
    "roc_auc": "auc", "auc_roc": "auc", "ROC-AUC": "auc", "auroc": "auc", "rocauc": "auc",
    "precision_score": "precision", "ppv": "precision",
    "recall_score": "recall", "tpr": "recall", "sensitivity": "recall",
    "true_positive_rate": "recall", "tnr": "specificity",
    "pr_auc": "average_precision", "auprc": "average_precision",
    "average_precision_score": "average_precision",
    "accuracy_score": "accuracy", "balanced_accuracy_score": "balanced_accuracy",
    "matthews_corrcoef": "mcc", "fbeta_score": "f_beta",
    "prior": "class_prior", "prevalence": "class_prior", "base_rate": "class_prior",
    "labels": "labeled_positives", "volume": "predictions",
    "preciion": "precision", "aul ": "aul", "acu": "auc", "alu": "aul", "percision": "precision",
}  # fmt: skip


@pytest.mark.parametrize(("name", "metric"), MEANT.items())
def test_other_names_of_a_metric_lead_to_it(name, metric):
    assert meant_by(name) == metric


def test_what_is_like_nothing_leads_nowhere():
    assert meant_by("revenue in euros") is None
    # 2 AUC - 1: a limit for it is another limit for AUC.
    assert meant_by("gini") is None


def read(rule):
    return read_configuration_text(f"{TEXT}    rules: [{rule}]\n", environment={}).configuration


@pytest.mark.parametrize("name", ["f1_score", "roc_auc", "ppv", "sensitivity", "prior"])
def test_a_rule_suggests_the_metric_that_is_meant(name):
    with pytest.raises(InputError, match=f"did you mean '{MEANT[name]}'") as caught:
        read(f"{{metric: {name}, below: 0.5}}")
    assert "rules[0].metric" in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{metric: aul, below: -1}", "below is -1, and aul is never below 0"),
        ("{metric: mcc, above: -1.2}", "above is -1.2, and mcc is never below -1"),
        ("{metric: predictions, below: -5}", "below is -5, and predictions is never below 0"),
        ("{metric: auc, below: 75}", "below is 75, and auc is never above 1; did you mean 0.75?"),
    ],
)
def test_limits_that_no_value_can_pass_are_refused(rule, said):
    with pytest.raises(InputError) as caught:
        read(rule)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "rule", ["{metric: mcc, below: -0.2}", "{metric: predictions, above: 5000}"]
)
def test_limits_within_the_range_are_taken(rule):
    assert len(read(rule).monitors["card-fraud"].rules) == 1


def test_names_that_are_kept_twice_are_the_same():
    assert tuple(THERE) == DETECTORS
    assert DETECTORS[0] == DEFAULT_DETECTOR
    assert len(set(METRICS)) == len(METRICS)
