"""A window's page and numbers come out of its stored table as they were."""

from __future__ import annotations

import html
import json
import re

import pytest

import pumonitor
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
    ("method", "origin"),
    [
        (
            "followed from auto",
            "Estimated from the scores of the first windows and followed from there",
        ),
        ("followed from a given prior", "Given for a stated period and followed from there"),
    ],
)
def test_a_followed_class_prior_is_not_called_given(
    table: ScoreTable, method: str, origin: str
) -> None:
    prior = ClassPriorEstimate(value=0.13, low=0.08, high=0.2, method=method)
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
