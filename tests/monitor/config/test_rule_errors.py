"""What is wrong in the rules of a configuration, each thing in one line."""

import re

import pytest

from tests.monitor.config.one_problem import GOOD, only


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "metric: f1",
            "metric: f11",
            "rules[0].metric, line 18: is no metric: 'f11'; did you mean 'f1'?",
        ),
        (
            "below: 0.5",
            "below: 0.5, drop: 0.1",
            "rules[0], line 18: must have one of below, above, drop",
        ),
        (", below: 0.5", "", "it has none of them"),
        (
            "below: 0.5",
            "belw: 0.5",
            "rules[0].belw, line 18: is not known here; did you mean 'below'?",
        ),
        ("below: 0.5", "dropp: 0.5", "rules[0].dropp, line 18: is not known here; did you mean"),
        ("metric: f1, below: 0.5", "metrc: f1, below: 0.5", "did you mean 'metric'?"),
        ("- {metric: f1, below: 0.5}", "[5]", "rules[0], line 18: must be a mapping"),
        ("below: 0.5", "below: 75", "f1 is never above 1; did you mean 0.75?"),
        ("below: 0.5", "drop: 110%", "must be below 100%"),
        ("below: 0.5", "drop: -0.1", "must be a number above 0"),
        ("below: 0.5", "below: 0.5, for: 0", "rules[0].for, line 18: must be at least 1"),
        ("below: 0.5", "drop: 0.1, frm: reference", "is not known here; did you mean 'from'?"),
        (
            "below: 0.5",
            "below: 0.5, from: reference",
            "rules[0], line 18: has from, which a rule with below does not have: its keys are "
            "metric, below, severity, to,",
        ),
        ("metric: f1, below: 0.5", "below: 0.5", "must have a metric or a health"),
        ("below: 0.5", "below: 0.5, change: 0.1", "it has below and change"),
        (
            "below: 0.5",
            "drop: 0.1, from: 0d",
            "must be reference, or the length of time whose windows",
        ),
        (
            "below: 0.5",
            "drop: 0.1, from: 2d",
            "rules[0] compares with the windows of the 2d before, but 3 windows are needed, which "
            "take 3d",
        ),
        ("below: 0.5", "below: 0.5, warning: 0.4", "of 0.4, which must be above the below of 0.5"),
        ("below: 0.5", "above: 0.5, warning: 0.6", "of 0.6, which must be below the above of 0.5"),
        ("below: 0.5", "drop: 0.1, warning: 0.2", "of 0.2, which must be below the drop of 0.1"),
        (
            "below: 0.5",
            "drop: 10%, warning: 0.05",
            "must have warning and drop either both in percent or both not",
        ),
        (
            "below: 0.5",
            "below: 0.5, warning: 0.6, severity: warning",
            "has a warning, so its own limit has severity critical, not warning: leave severity "
            "out",
        ),
        (
            "below: 0.5",
            "shift: any, warning: 0.6",
            "has warning, which a rule with shift does not have",
        ),
        ("below: 0.5", "below: 0.5, warning: 70", "warning is 70, and f1 is never above 1"),
        ("below: 0.5", "below: 0.5, detector: cusum", "has detector, which a rule"),
        ("below: 0.5", "shift: any, detector: sprt", "must be 'shiryaev-roberts', 'cusum' or"),
        (
            "below: 0.5",
            "shift: down, detector: betting",
            "uses the betting detector for f1, but that detector is only for aul, auc, recall",
        ),
        (
            "metric: f1, below: 0.5",
            "health: bad",
            "must be 'no_data', 'stale', 'lost_rows', 'few_positives',",
        ),
        (
            "metric: f1, below: 0.5",
            "health: few_positives",
            "needs below with health: few_positives, such as below: 30",
        ),
        (
            "metric: f1, below: 0.5",
            "health: volume, change: 0.5",
            "needs change in percent with health: volume, such as change: 50%",
        ),
        (
            "metric: f1, below: 0.5",
            "health: no_data, below: 3",
            "has below, which health: no_data does not have: its keys are health, severity, to, "
            "repeat, runbook, name, for, keep, provisional",
        ),
        (
            "metric: f1, below: 0.5",
            "health: unmatched_labels, above: 5",
            "above of 5: it is a share of the labels and must be below 100%",
        ),
        (
            "metric: f1, below: 0.5",
            "health: stale, after: 3d, for: 2",
            "has for, which health: stale does not have: its keys are health, after, severity, to, "
            "repeat, runbook, name",
        ),
        (
            "metric: f1, below: 0.5",
            "health: label_delay",
            "needs change or shift with health: label_delay, such as change: 50% or shift: up",
        ),
        (
            "metric: f1, below: 0.5",
            "health: label_delay, change: 50%, shift: up",
            "has change and shift: with health: label_delay give only one of them",
        ),
        (
            "metric: f1, below: 0.5",
            "health: label_delay, shift: up, detector: cusum",
            "has detector, which health: label_delay does not have",
        ),
        (
            "metric: f1, below: 0.5",
            "health: volume, shift: up",
            "has shift, which health: volume does not have: its keys are health, change, ",
        ),
        ("below: 0.5", "health: no_data", "has metric, which health: no_data does not have"),
        ("below: 0.5", "below: 0.5, after: 3d", "has after, which a rule with below does not have"),
        (
            "below: 0.5",
            "below: 0.5, per: contry",
            "rules[0] has a segment column that is not among the segments of predictions: "
            "'contry'; did you mean 'country'?",
        ),
        (
            "below: 0.5",
            "below: 0.5, per: country, segment: {country: DE}",
            "has both per (one alert for each segment) and segment (an alert for one): leave one "
            "out",
        ),
        ("below: 0.5", "below: 0.5, segment: {country: DE, x: y}", "has a segment with 2 columns"),
        (
            "below: 0.5",
            "below: 0.5, false_discovery_rate: 0.1",
            "has false_discovery_rate without per: add per, or leave it out",
        ),
        (
            "below: 0.5",
            "below: 0.5, per: country, false_discovery_rate: 1",
            "must be above 0 and below 1, got 1",
        ),
        (
            "below: 0.5",
            "below: 0.5, to: [hook]",
            "fraud.rules[0] has an unknown destination: 'hook' (there are none)",
        ),
        ("below: 0.5", "below: 0.5, to: []", "must name one destination or more, each once"),
        ("below: 0.5", "below: 0.5, repeat: 0d", "must be above 0, such as 7d, or never"),
        ("below: 0.5", "below: 0.5, runbook: wiki", "begins with https:// or http://"),
        ("below: 0.5", "below: 0.5, stale_for: 0", "must be at least 1"),
        (
            "- {metric: f1, below: 0.5}",
            "[{metric: f1, below: 0.5}, {metric: f1, below: 0.5, repeat: 1d}]",
            "rules[1] is the same as rules[0]: leave one out",
        ),
        (
            "- {metric: f1, below: 0.5}",
            "[{metric: f1, below: 0.5, name: a}, {metric: f1, below: 0.4, name: a}]",
            "rules[1] has the same name as rules[0]: 'a'",
        ),
        ("below: 0.5", "shift: sideways", "must be 'down', 'up' or 'any'"),
        ("below: 0.5", "shift: any, false_alarms_per_year: 0", "must be above 0"),
        (
            "below: 0.5",
            "below: 0.5, segment: {contry: DE}",
            "rules[0] has a segment column that is not among the segments of predictions: "
            "'contry'; did you mean 'country'?",
        ),
        ("below: 0.5", "below: 0.5, severity: bad", "must be 'info', 'warning' or 'critical'"),
        ("below: 0.5", "below: 0.5, provisional: yes", "must be true or false"),
    ],
)
def test_one_thing_that_is_wrong_with_a_rule_is_one_line_with_its_place(old, new, problem):
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    assert problem in only(text)


def test_an_item_of_a_list_has_its_own_line():
    several = "- {metric: f1, below: 0.5}\n      - {metric: f1, below: 0.4}\n      "
    for wrong, message in (
        ("- {metric: f1, below: 0.5}", "rules[2] is the same as rules[0]"),
        ("- {metric: f1, below: 0.3, to: [hook]}", "rules[2] has an unknown destination: 'hook'"),
    ):
        text = GOOD.replace("- {metric: f1, below: 0.5}", several + wrong, 1)
        line = 1 + text[: text.index(wrong, text.index("below: 0.4"))].count("\n")
        assert f"line {line}: " in only(text)
        assert message in only(text)


def test_a_drop_needs_a_reference():
    text = re.sub(r"    reference.*\n", "", GOOD).replace("below: 0.5", "drop: 10%")
    assert (
        "rules[0] compares with the reference, but the monitor has no reference: add one"
    ) in only(text)
