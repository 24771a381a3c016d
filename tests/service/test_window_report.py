"""A window's page and numbers come out of its stored table as they were."""

from __future__ import annotations

import json

import pytest

import pumonitor
from pumonitor.service.window_report import window_files, window_report
from pumonitor.tables import ScoreTable


@pytest.fixture
def table() -> ScoreTable:
    return ScoreTable.from_counts([3, 9, 31], [720, 240, 55], edges=[0.0, 0.2, 0.8, 1.0])


def test_the_files_tell_the_numbers_of_the_window(table: ScoreTable) -> None:
    prior = pumonitor.estimate_class_prior(
        [1] * 40 + [0] * 400,
        [0.9] * 30 + [0.4] * 10 + [0.85] * 30 + [0.1] * 370,
        method="elkan_noto",
    )
    once = pumonitor.evaluate_table(table, threshold=0.8, class_prior=prior, top_k=0.05)
    files = window_files(
        table,
        prior,
        threshold=0.8,
        title="Card fraud & co",
        context={"Window": "1 January 2026"},
        top_k=0.05,
    )
    assert set(files) == {"evaluation.json", "report.html"}
    assert json.loads(files["evaluation.json"]) == json.loads(json.dumps(once.to_dict()))
    page = files["report.html"]
    assert "Card fraud &amp; co" in page
    assert "1 January 2026" in page
    assert page == window_report(
        table,
        prior,
        threshold=0.8,
        title="Card fraud & co",
        context={"Window": "1 January 2026"},
        top_k=0.05,
    )
