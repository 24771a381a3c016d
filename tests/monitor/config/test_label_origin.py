"""`label_origin` of a monitor: what it changes, and what is said of labels."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pumonitor.monitor.config.file import configuration_hash, read_configuration_text
from pumonitor.monitor.inspection.label_outlook import (
    assumption_of_window,
    label_notes,
    label_warnings,
)
from pumonitor.monitor.windows.evaluate import _tables_of
from pumonitor.text import percent_text
from tests.monitor.config.one_problem import GOOD as AT_HALF
from tests.monitor.config.one_problem import only
from tests.monitor.windows.test_evaluated_tables import PRIOR, SEED, pane

GOOD = AT_HALF.replace("threshold: 0.5", "threshold: 0.8")
QUEUE = "    reviews: {source: r.csv, id: id, verdict: verdict, blocks: true}\n"


def monitor_of(text):
    return read_configuration_text(text, environment={}).configuration.monitors["fraud"]


def with_origin(origin, more=""):
    return monitor_of(f"{GOOD}    label_origin: {origin}\n{more}")


def of_positives(line):
    return monitor_of(GOOD.replace("    positives:\n", f"    positives:\n      {line}\n"))


def test_only_what_takes_values_away_changes_results():
    before = configuration_hash(monitor_of(GOOD))
    assert configuration_hash(with_origin("complaints")) == before
    assert configuration_hash(with_origin("random")) == before
    assert configuration_hash(with_origin("queue")) != before
    reviewed = configuration_hash(monitor_of(GOOD + QUEUE))
    assert configuration_hash(with_origin("queue", QUEUE)) == reviewed


def test_other_words_are_refused():
    problem = only(f"{GOOD}    label_origin: chargebacks\n")
    assert problem == (
        "monitors.fraud.label_origin, line 19: must be 'queue', 'complaints', 'both' or 'random'"
    )


@pytest.mark.parametrize("origin", ["queue", "both"])
def test_labels_of_a_queue_leave_only_what_no_label_has_a_part_in(origin):
    monitor = with_origin(origin)
    found = _tables_of(monitor).of(pane([2, 10, 28]), PRIOR, None, seed=SEED)
    assert set(found.estimates) == {"predicted_positive_rate"}
    assert "cannot be known from them alone" in found.reason
    (warning,) = label_warnings(monitor)
    assert "or reviews of a monitor" in warning
    assert list(label_notes(monitor)) == []


def test_the_line_is_made_of_the_window_s_recall_and_not_stored():
    found = _tables_of(monitor_of(GOOD)).of(pane([2, 10, 28]), PRIOR, None, seed=SEED)
    assert "assumption" not in found.plain
    rows = [
        SimpleNamespace(metric=name, value=found.estimates[name].value)
        for name in ("recall", "label_frequency")
    ]
    said = assumption_of_window(monitor_of(GOOD), found.plain, rows)
    assert "recall would be" in said
    assert f"not {percent_text(found.estimates['recall'].value)}" in said
    assert assumption_of_window(with_origin("random"), found.plain, rows) == ""
    by_reviews = {"made_with": {"reviews": {}}}
    assert assumption_of_window(monitor_of(GOOD), by_reviews, rows) == ""


def test_one_warning_names_the_command_where_something_stands_in_for_reviews():
    assert list(label_warnings(monitor_of(GOOD))) == []
    for line in (
        "propensity: chance",
        "label: result",
        "label: {column: v, positive: [a], negative: [b]}",
    ):
        (warning,) = label_warnings(of_positives(line))
        assert "pumonitor init --upgrade pumonitor.yaml" in warning
    undecided = of_positives("label: {column: v, positive: [a], undecided: [b]}")
    assert list(label_warnings(undecided)) == []
