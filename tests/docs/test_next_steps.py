"""What to do about each cause stands in docs/alerts.md as alerts say it."""

from __future__ import annotations

import pytest

from docs.from_code.next_steps import PAGE, part, with_part


def test_the_page_has_the_steps_as_the_code_has_them() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == with_part(written), "write it anew: python -m docs.from_code.next_steps"
    assert "**Scores are on another scale**\n\n1. Look at what changed when it began." in part()


def test_a_page_without_a_place_for_them_is_refused() -> None:
    with pytest.raises(ValueError, match="must have the lines"):
        with_part("# Alerts\n")
