"""Pictures of the documentation: there, small, shown, and made from addresses that pages answer."""

from __future__ import annotations

import re

import pytest

from docs.from_code.screenshots import MOST_BYTES, PICTURES, SCHEMES, place_of
from pumonitor.demo.flip import AS_THEY_WERE, WITH_FLIPS
from tests.docs.documents import ROOT, documents

FOLDER = ROOT / "docs" / "pictures"


def shown() -> set[str]:
    """Files in that folder that a document shows."""
    texts = [path.read_text(encoding="utf-8") for path in documents()]
    return {name for text in texts for name in re.findall(r"pictures/([\w-]+\.png)", text)}


def test_every_picture_is_shown_and_every_shown_one_is_there() -> None:
    assert shown() == {path.name for path in FOLDER.iterdir()}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda one: one.name)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_pictures_of_pages_are_small(picture, scheme) -> None:
    made = place_of(picture, scheme)
    assert made.read_bytes().startswith(b"\x89PNG")
    assert made.stat().st_size <= MOST_BYTES


def test_they_are_of_the_monitors_of_the_demonstration() -> None:
    named = {part for one in PICTURES for part in re.findall(r"monitors/([\w-]+)", one.path)}
    assert named == {AS_THEY_WERE, WITH_FLIPS}
