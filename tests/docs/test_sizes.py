"""The README, the map of the code and the glossary stay short enough to be read."""

from __future__ import annotations

import re

from tests.docs.documents import ROOT


def test_the_readme_has_at_most_150_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_architecture_has_at_most_200_lines() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_the_glossary_has_at_most_60_terms_each_named_once() -> None:
    page = (ROOT / "docs/concepts.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(\S[^\n]*)\n:   ", page, flags=re.MULTILINE)
    wanted = {"Hypothesis", "Notification", "Pane", "Lease", "Fencing token", "Outbox"}
    assert wanted | {"Label maturity"} <= set(terms)
    assert len(terms) == len(set(terms)) <= 60
