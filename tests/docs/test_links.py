"""No link within the documentation is dead."""

from __future__ import annotations

import re

import pytest
import yaml

from docs.from_code.pages import made_pages
from tests.docs.documents import ROOT, documents

_LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_PAGES = made_pages()


def _text(place: str) -> str | None:
    """A page that is made or written; None where there is none."""
    if place.removeprefix("docs/") in _PAGES and place.startswith("docs/"):
        return _PAGES[place.removeprefix("docs/")]
    path = ROOT / place
    if path.is_dir():
        return ""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def _anchors(text: str) -> set[str]:
    """Of the headings, as the site and the forge make them, and those written as attributes."""
    plain = _FENCED.sub("", text)
    headings = re.findall(r"^#+ (.+?)(?: \{.*\})?$", plain, flags=re.MULTILINE)
    made = {
        re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", one.lower()).strip()) for one in headings
    }
    return made | set(re.findall(r"\{[^}]*#([\w-]+)[^}]*\}", text))


def _resolved(document: str, target: str) -> str:
    parts = [*document.split("/")[:-1]]
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


WRITTEN = [str(path.relative_to(ROOT)) for path in documents()]
ALL = [*WRITTEN, "ARCHITECTURE.md", "CONTRIBUTING.md", *(f"docs/{place}" for place in _PAGES)]


@pytest.mark.parametrize("document", ALL)
def test_links_lead_somewhere(document: str) -> None:
    text = _FENCED.sub("", _text(document) or "")
    dead = []
    for link in _LINK.findall(text):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        # The site shows such a picture in one colour scheme alone.
        target, _, anchor = re.sub(r"(?<=\.png)#only-(light|dark)$", "", link).partition("#")
        place = _resolved(document, target) if target else document
        there = _text(place)
        if there is None or (anchor and anchor not in _anchors(there)):
            dead.append(link)
    assert dead == []


def test_a_dead_link_and_a_dead_anchor_are_noticed() -> None:
    assert _text(_resolved("docs/cookbook/fraud.md", "../no-page.md")) is None
    assert "no-heading" not in _anchors(_text("docs/reference/commands.md") or "")
    assert "evaluate" in _anchors(_text("docs/reference/commands.md") or "")


def test_the_site_lists_every_page() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"[\w/-]+\.md", text))
    written = {place.removeprefix("docs/") for place in WRITTEN} - {"README.md"}
    assert listed == written | set(_PAGES)
    assert yaml.safe_load(text)["strict"] is True
