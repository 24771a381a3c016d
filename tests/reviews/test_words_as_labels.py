"""A column of verdicts where labels should be."""

from __future__ import annotations

import pytest

import pumonitor
from pumonitor.errors import InputError
from pumonitor.sources import read_score_table


def test_words_of_reviewers_are_sent_to_reviews():
    with pytest.raises(InputError, match=r"verdicts as reviews=pumonitor.Reviews"):
        pumonitor.evaluate(["ok", "fraud", "ok"], [0.1, 0.9, 0.2])


def test_other_words_are_not():
    with pytest.raises(InputError) as told:
        pumonitor.evaluate(["yes", "no", "no"], [0.1, 0.9, 0.2])
    assert "Reviews" not in str(told.value)


@pytest.mark.parametrize("words", [["keep", "remove"], ["Legitimate", "Confirmed fraud"]])
def test_words_that_init_knows_are_known_here(words):
    with pytest.raises(InputError, match=r"These are words of reviewers"):
        pumonitor.evaluate([*words, words[0]], [0.1, 0.9, 0.2])


def test_verdicts_are_missing_where_nobody_looked(tmp_path):
    with pytest.raises(InputError, match=r"no labels but reviews \(reviews=pumonitor.Reviews"):
        pumonitor.evaluate([1.0, 0.0, float("nan")], [0.9, 0.8, 0.2])
    file = tmp_path / "v.csv"
    file.write_text("v,s\nfraud,0.9\nok,0.8\n0,0.2\n")
    with pytest.raises(InputError, match=r"'fraud' \(1 times\).*These are words of reviewers"):
        read_score_table(file, labels="v", scores="s")
