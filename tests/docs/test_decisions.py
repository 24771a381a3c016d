"""Decisions have one page each, in one form, and what they and the walks name is there."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from tests.docs.documents import ROOT

_ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
_PAGES = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs/decisions").glob("*.md"))
    if path.name != "index.md"
}
_FORM = ("Situation", "Decision", "Why", "Tried and left out", "Where in the code")
_LEFT_OUT_IF_EMPTY = "Tried and left out"
# Of a path the folder or the ending shows that it is one.
_PATH = re.compile(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:py|toml|lock|yml|md))`")
_NAMED_IN = re.compile(r"((?:`\w+`(?:,| and)?\s)+)in\s+`([\w./-]+\.py)`")
_METRICS = "pu/"
"""What the names of metrics in MLflow begin with."""


def _title(page: str) -> str:
    (title,) = re.findall(r"^# (.+)$", page, flags=re.MULTILINE)
    return str(title)


def _links(text: str) -> dict[str, str]:
    """Page -> what its link says."""
    found = re.findall(r"^- \[(.+)\]\((?:docs/decisions/)?([\w-]+\.md)\)$", text, re.MULTILINE)
    assert len({page for _, page in found}) == len(found)
    return {page: said for said, page in found}


def _missing(text: str, *, folders: tuple[str, ...] = ("",)) -> list[str]:
    """Paths in backticks that are not there, below any of the folders."""
    return [
        path
        for path in _PATH.findall(text)
        if not path.startswith(_METRICS)
        and not any((ROOT / above / path).exists() for above in folders)
    ]


def _walks() -> list[str]:
    return re.split(r"^\*\*", _ARCHITECTURE.partition("## Four walks")[2], flags=re.MULTILINE)[1:5]


def test_every_decision_is_linked_by_its_title_from_architecture_and_from_the_index() -> None:
    titles = {name: _title(page) for name, page in _PAGES.items()}
    index = (ROOT / "docs/decisions/index.md").read_text(encoding="utf-8")
    assert len(titles) > 30
    assert _links(_ARCHITECTURE.partition("## Decisions")[2]) == titles
    assert _links(index) == titles


@pytest.mark.parametrize("name", _PAGES)
def test_a_decision_has_its_form(name: str) -> None:
    headings = re.findall(r"^## (.+)$", _PAGES[name], flags=re.MULTILINE)
    expected = [one for one in _FORM if one != _LEFT_OUT_IF_EMPTY or one in headings]
    assert headings == expected


@pytest.mark.parametrize("name", _PAGES)
def test_files_and_benchmarks_that_a_decision_names_are_there(name: str) -> None:
    page = _PAGES[name]
    assert _missing(page) == []
    modules = re.findall(r"`python -m (benchmarks[\w.]*)", page)
    assert [one for one in modules if find_spec(one) is None] == []
    where = page.partition("## Where in the code")[2]
    assert re.search(r"`(pumonitor|plugins)/[\w/]+\.py`", where)


@pytest.mark.parametrize("name", _PAGES)
def test_functions_are_in_the_files_where_a_decision_says(name: str) -> None:
    for names, path in _NAMED_IN.findall(_PAGES[name]):
        text = (ROOT / path).read_text(encoding="utf-8")
        for one in re.findall(r"\w+", names.replace(" and", "")):
            assert re.search(rf"\b(?:def|class) {one}\b|^{one}\b.* =", text, re.MULTILINE), one


def test_functions_in_files_are_recognised() -> None:
    found = [names for page in _PAGES.values() for names, _ in _NAMED_IN.findall(page)]
    assert len(found) > 10


def test_files_that_the_recipes_name_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    # A recipe names a folder once, and then files in it.
    named = tuple(path for path in _PATH.findall(text) if path.endswith("/"))
    rooms = ("", "pumonitor", "pumonitor/metrics", "pumonitor/prior", "pumonitor/monitor")
    assert _missing(text, folders=(*rooms, *named)) == []
    assert _missing("`no_such_file.py`", folders=(*rooms, *named)) == ["no_such_file.py"]


def test_files_that_the_map_and_the_walks_name_are_there() -> None:
    rooms = ("", "pumonitor", "pumonitor/monitor/windows", "pumonitor/prior/estimators")
    assert _missing(_ARCHITECTURE, folders=rooms) == []
    assert _missing("`pumonitor/no_such_file.py`, `no/such/`", folders=rooms) == [
        "pumonitor/no_such_file.py",
        "no/such/",
    ]


def test_a_walk_has_at_most_twelve_steps_and_each_names_a_file() -> None:
    walks = _walks()
    assert [walk.partition("**")[0] for walk in walks] == [
        "F1, from `evaluate` to MLflow",
        "A window, through `pumonitor run`",
        "A `shift` rule, to a webhook",
        "`auto`, to its interval",
    ]
    for walk in walks:
        steps = re.findall(r"^(\d+)\. `([\w/.]+)`", walk, flags=re.MULTILINE)
        assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
        assert 5 < len(steps) <= 12
