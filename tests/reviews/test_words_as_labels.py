"""A column of verdicts where labels should be."""

from __future__ import annotations

import pytest

import pumonitor
from pumonitor.errors import InputError


def test_words_of_reviewers_are_sent_to_reviews():
    with pytest.raises(InputError, match=r"verdicts as reviews=pumonitor.Reviews"):
        pumonitor.evaluate(["ok", "fraud", "ok"], [0.1, 0.9, 0.2])


def test_other_words_are_not():
    with pytest.raises(InputError) as told:
        pumonitor.evaluate(["yes", "no", "no"], [0.1, 0.9, 0.2])
    assert "Reviews" not in str(told.value)
