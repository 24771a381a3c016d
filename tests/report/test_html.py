from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from pumonitor.names import title
from pumonitor.report.figures import inline_svg
from pumonitor.report.html import render_html
from pumonitor.results import Evaluation
from pumonitor.text import number_text

VOID = {"meta", "rect", "path", "line"}


class _Reader(HTMLParser):
    """Tags with their attributes, words outside tags, and whether all tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.balanced = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.balanced &= bool(self._open) and self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.words.append(data)


def _read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    return reader


def _text(page: str) -> str:
    return " ".join(" ".join(_read(page).words).split())


@pytest.fixture(params=["impossible_page", "case_control_page", "nothing_flagged_page"])
def any_page(request: pytest.FixtureRequest) -> str:
    page: str = request.getfixturevalue(request.param)
    return page


def test_the_page_needs_nothing_from_elsewhere(any_page: str) -> None:
    page = any_page
    assert len(page.encode()) < 1_500_000
    assert re.search(r"https?:|//[a-z]|@import|url\(", page) is None
    reader = _read(page)
    assert reader.balanced
    tags = {tag for tag, _ in reader.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "image", "use"}
    assert not any({"src", "href", "xlink:href"} & set(attrs) for _, attrs in reader.tags)
    identifiers = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(identifiers) == len(set(identifiers))


def test_the_page_never_shows_nan(any_page: str) -> None:
    assert re.search(r"nan\b|\binf\b|infinity", any_page, re.IGNORECASE) is None
    assert re.search(r"\bNone\b", _text(any_page)) is None


def test_title_and_context_are_escaped(usual: Evaluation) -> None:
    attack = '</title><script>alert("x")</script>'
    page = render_html(usual, title=attack, context={"<b onload=x>": "<img src=y onerror='z'>"})
    tags = [tag for tag, _ in _read(page).tags]
    assert "script" not in tags
    assert "img" not in tags
    assert not any("onload" in attrs or "onerror" in attrs for _, attrs in _read(page).tags)
    assert attack in unescape(page)
    assert "<b onload=x> <img src=y onerror='z'>" in _text(page)


def test_all_estimates_stand_in_the_page_with_their_intervals(
    case_control: Evaluation, case_control_page: str
) -> None:
    text = _text(case_control_page)
    for name, estimate in case_control.estimates.items():
        assert title(name, case_control.settings) in text
        if estimate.undefined_reason is not None:
            assert f"No value: {estimate.undefined_reason}." in text
            continue
        value, low, high = estimate.displayed
        assert number_text(value) in text
        assert f"{number_text(low)} to {number_text(high)}" in text


def test_the_page_says_what_it_rests_on_and_assumes(case_control_page: str) -> None:
    text = _text(case_control_page)
    assert "200 confirmed positives, and 5,000 unconfirmed cases." in text
    assert "90% of the confirmed positives are really positive" in text
    assert "the confirmed positives were collected apart from them" in text
    assert "Assumed, as given: 10.0% (8.0 to 13.0%) of all cases are positive." in text
    assert "are a fair sample of all positives" in text


def test_warnings_stand_in_the_page_and_colour_the_verdict(
    impossible: Evaluation, impossible_page: str, case_control: Evaluation, case_control_page: str
) -> None:
    assert impossible.warnings
    for finding in impossible.warnings:
        assert finding.sentence in _text(impossible_page)
    assert 'class="verdict doubtful"' in impossible_page
    assert not any(finding.severity == "warning" for finding in case_control.warnings)
    assert 'class="verdict"' in case_control_page


def test_impossible_values_are_said_to_be_so_and_what_that_means(
    impossible: Evaluation, impossible_page: str
) -> None:
    text = _text(impossible_page)
    came_out = number_text(impossible["precision"].value)
    assert f"Impossible value: it came out at {came_out} (" in text
    assert "Chance does not explain that" in text
    assert "Chance alone can do that" in text


def test_what_has_no_value_is_given_its_reason(
    nothing_flagged: Evaluation, nothing_flagged_page: str
) -> None:
    text = _text(nothing_flagged_page)
    reason = nothing_flagged["precision"].undefined_reason
    assert f"No value: {reason}." in text
    assert f"No value for Precision, LL score: {reason}." in text


def test_the_title_and_the_context_head_the_page(case_control_page: str) -> None:
    assert "<title>Chargebacks</title>" in case_control_page
    assert "Chargebacks Model version 3" in _text(case_control_page)


def test_a_drawing_without_a_size_is_refused() -> None:
    with pytest.raises(ValueError, match="has a width and a height, got '<svg>'"):
        inline_svg("<svg>", description="x")
