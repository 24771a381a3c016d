"""What is said of mistaken labels."""

import numpy as np

from pumonitor import ScoreTable
from pumonitor.prior.labels.label_noise import estimate_label_purity
from pumonitor.text import number_text


def evidence(labels, scores):
    found = estimate_label_purity(ScoreTable.from_arrays(labels, scores))
    return {"label_purity_evidence": found.to_dict()}


def with_mistakes(window):
    labels = (window.positive & (window.rng.random(20_000) < 0.5)).astype(int)
    labels[~window.positive & (window.rng.random(20_000) < 0.008)] = 1
    return labels


def test_clean_labels_are_silent(make_window, findings):
    window = make_window(distance=3.0)
    settings = evidence(window.fair, window.scores)
    assert "label_noise" not in findings(window.fair, window.scores, settings=settings)


def test_mistaken_labels_are_a_warning_and_name_the_setting(make_window, findings):
    window = make_window(distance=3.0)
    labels = with_mistakes(window)
    truth = window.positive[labels == 1].mean()
    found = findings(labels, window.scores, settings=evidence(labels, window.scores))
    sentence = found["label_noise"].sentence
    assert found["label_noise"].severity == "warning"
    given = float(sentence.split("label_purity=")[1].rstrip("."))
    assert abs(given - truth) < 0.03
    assert "unless there are positives the model does not recognise at all" in sentence


def test_a_purity_that_allows_for_them_makes_it_a_note(make_window, findings):
    window = make_window(distance=3.0)
    labels = with_mistakes(window)
    settings = evidence(labels, window.scores)
    purity = settings["label_purity_evidence"]["value"]
    found = findings(labels, window.scores, settings=settings, label_purity=purity)
    assert found["label_noise"].severity == "note"
    assert f"with label_purity={number_text(purity)}" in found["label_noise"].sentence


def test_without_evidence_given_nothing_is_said(window, findings):
    assert findings(window.fair, window.scores) == {}
    assert not np.isnan(evidence(window.fair, window.scores)["label_purity_evidence"]["p_value"])
