"""A window's page and numbers come out of its stored table as they were."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import pytest

import pumonitor
from pumonitor.monitoring.pooling import EarlierPrior, pooled_class_prior
from pumonitor.results import ClassPriorEstimate
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


@pytest.mark.parametrize(
    ("own", "origin"),
    [
        ("auto", "Estimated from the scores and pooled with earlier windows"),
        (None, "Estimated from the scores of earlier windows, since those of this one cannot tell"),
        ("propensity", "Counted by the chances of being confirmed and pooled with earlier windows"),
    ],
)
def test_a_pooled_class_prior_is_not_called_given(
    table: ScoreTable, own: str | None, origin: str
) -> None:
    estimate = ClassPriorEstimate(value=0.13, low=0.08, high=0.2, method=own or "auto")
    earlier = [
        EarlierPrior(index=index, estimate=replace(estimate, value=value))
        for index, value in enumerate([0.12, 0.14, 0.13])
    ]
    prior = pooled_class_prior(None if own is None else estimate, index=3, earlier=earlier)
    assert prior is not None
    text = html.unescape(
        re.sub("<[^>]+>", " ", window_report(table, prior, threshold=0.8, title="Card fraud"))
    )
    assert f"{origin}: about 13" in text
    assert len(re.findall(re.escape(f"{origin}: "), text)) == 2
    assert "Taken as given" not in text
    assert "Given:" not in text


def test_an_estimate_of_the_window_alone_is_not_called_given(table: ScoreTable) -> None:
    prior = ClassPriorEstimate(value=0.13, low=0.08, high=0.2, method="auto")
    page = window_report(table, prior, threshold=0.8, title="Card fraud")
    assert "Estimated from the scores: " in page
    assert "Taken as given" not in page
    given = ClassPriorEstimate.given((0.08, 0.2))
    page = window_report(table, given, threshold=0.8, title="Card fraud")
    assert "Taken as given: about " in page
    assert "Given: " in page
