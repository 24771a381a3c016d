"""The section of challengers: what it takes and what it refuses."""

from __future__ import annotations

import pytest

from pumonitor.monitor.config.file import read_configuration_text
from tests.monitor.config.one_problem import GOOD, only

PROPENSITY = GOOD.replace("known_at: known", "known_at: known\n      propensity: chance")


def _with(section: str, text: str = GOOD) -> str:
    return f"{text}    challengers: {{models: {{v7: score_v7}}, {section}}}\n"


def test_columns_and_links_are_told_apart() -> None:
    text = GOOD + "    challengers: {models: {v7: score_v7, new: 'models:/fraud@challenger'}}\n"
    read = read_configuration_text(text, environment={}).configuration
    found = read.monitors["fraud"].challengers
    assert found is not None
    assert (found.columns, found.links) == (
        {"v7": "score_v7"},
        {"new": "models:/fraud@challenger"},
    )
    assert (found.gate.better, found.gate.capacity, found.promote) == ("recall", 0.05, "by hand")


@pytest.mark.parametrize(
    ("section", "text", "said"),
    [
        ("entity: customer", PROPENSITY, "needs least_propensity in gate, as positives"),
        ("gate: {least_propensity: 0.1}", GOOD, "has least_propensity in gate, and positives"),
        ("gate: {least_propensity: 0}", PROPENSITY, "gate.least_propensity"),
        ("gate: {looks: once}", GOOD, "gate.looks"),
        ("promote: always", GOOD, "promote"),
    ],
)
def test_what_cannot_be_judged_is_refused(section: str, text: str, said: str) -> None:
    assert said in only(_with(section, text))


def test_with_propensities_the_least_is_enough() -> None:
    text = _with("gate: {least_propensity: 2%}", PROPENSITY)
    read = read_configuration_text(text, environment={}).configuration
    found = read.monitors["fraud"].challengers
    assert found is not None
    assert found.gate.least_propensity == 0.02
