"""A window's page and numbers come out of its stored table as they were."""

from __future__ import annotations

import html
import json
import re

import pytest

import pumonitor
from pumonitor.monitor.reports.window_report import window_files
from pumonitor.results import ClassPriorEstimate
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


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take a second or two a page, and what is asserted is the text."""
    for name in ("figures", "prior_figures", "threshold_figures", "sensitivity_figures"):
        monkeypatch.setattr(f"pumonitor.report.html.{name}", lambda *_, **__: [])


def page_of(table: ScoreTable, prior: ClassPriorEstimate) -> str:
    return window_files(table, prior, threshold=0.8, title="Card fraud")["report.html"]


LEVEL = {
    "value": 0.12,
    "low": 0.07,
    "high": 0.19,
    "start": "2026-01-01T00:00:00+00:00",
    "end": "2026-02-01T00:00:00+00:00",
    "windows": 31,
    "confirmed": 900,
}


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    ("source", "origin"),
    [
        (
            "auto",
            "Estimated as 12% (7 to 19%) from the scores of the first 31 windows (January 2026) "
            "and followed through 5 windows since.",
        ),
        ("given", "Given as 12% (7 to 19%) for January 2026 and followed through 5 windows since."),
    ],
)
def test_a_followed_class_prior_is_said_to_be_with_what_cannot_be_told(
    table: ScoreTable, source: str, origin: str
) -> None:
    prior = followed(source, ("class prior",), ("label frequency",))
    page = page_of(table, prior)
    text = " ".join(html.unescape(re.sub("<[^>]+>", " ", page)).split())
    assert f"13% (8 to 20%) of all cases are positive. {origin}" in text
    assert "Since the first 31 windows either the share of positives or the share of them" in text
    assert "A review of about " in text
    assert "Taken as given" not in text
    assert "Given:" not in text


def followed(source: str, *changed: tuple[str, ...]) -> ClassPriorEstimate:
    names = ("class_prior", "label_frequency", "ranking", "negatives")
    over_time = {
        "level": {**LEVEL, "source": source},
        "windows": 5,
        "index": "score",
        "moved": 0.5,
        "since_reference": {name: {"chance": 0.5} for name in names},
        "explanations": [
            {"changed": list(one), "chance": 1 / len(changed), "factors": dict.fromkeys(one, 2.0)}
            for one in changed
        ],
    }
    return ClassPriorEstimate(
        value=0.13,
        low=0.08,
        high=0.2,
        method=f"followed from {source}",
        diagnostics={"over_time": over_time},
    )


@pytest.mark.usefixtures("without_pictures")
def test_an_estimate_of_the_window_alone_is_not_called_given(table: ScoreTable) -> None:
    prior = ClassPriorEstimate(value=0.13, low=0.08, high=0.2, method="auto")
    page = page_of(table, prior)
    assert "Estimated from the scores: " in page
    assert "Taken as given" not in page
    given = ClassPriorEstimate.given((0.08, 0.2))
    page = page_of(table, given)
    assert "Taken as given: about " in page
    assert "Assumed, as given: " in page
