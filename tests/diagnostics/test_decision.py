"""Thresholds that flag nearly everything, and F1 against flagging everything."""

import numpy as np
import pytest


def test_a_high_f1_by_flagging_nearly_all_is_called_out(make_window, findings):
    window = make_window(prior=0.6, distance=1.0)
    low = float(np.quantile(window.scores, 0.03))
    found = findings(window.fair, window.scores, threshold=low, class_prior=0.6)
    sentence = found["flags_nearly_everything"].sentence
    assert sentence.startswith("97% of all rows are flagged, and F1 0.7")
    assert "hardly better than the 0.750 of flagging every row" in sentence


def test_many_positives_found_well_are_not_called_out(make_window, findings):
    window = make_window(prior=0.92, distance=4.0)
    low = float(np.quantile(window.scores, 0.08))
    found = findings(window.fair, window.scores, threshold=low, class_prior=0.92)
    assert "flags_nearly_everything" not in found


def test_flagging_every_row_says_what_f1_that_is(window, findings):
    sentence = findings(window.fair, window.scores, threshold=0.0)["one_sided_decision"].sentence
    assert "F1 is the 0.182 of flagging every row" in sentence


@pytest.mark.parametrize(("share", "fires"), [(0.01, True), (0.4, False)])
def test_f1_below_flagging_everything_is_a_note(make_window, findings, share, fires):
    window = make_window(prior=0.4, distance=1.5)
    strict = float(np.quantile(window.scores, 1 - share))
    found = findings(window.fair, window.scores, threshold=strict, class_prior=0.4)
    assert ("f1_below_flagging_everything" in found) == fires
    if fires:
        assert found["f1_below_flagging_everything"].severity == "note"
