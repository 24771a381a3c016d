"""With a label purity that is given, what scores show of mistaken labels changes no estimate."""

import numpy as np
import pytest

import pumonitor
from tests.given_labels import labels_as_given


def rows(purity):
    """Labels of which some are mistaken, plainly seen: an AUC of .98."""
    rng = np.random.default_rng(1)
    positive = rng.random(4000) < 0.25
    labels = positive & (rng.random(4000) < 0.4)
    labels |= ~positive & (rng.random(4000) < 0.4 * 0.25 / 0.75 * (1 - purity) / purity)
    return labels, rng.normal(3 * positive), rng.normal(2 * positive)


@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_no_estimate_and_no_curve_changes(purity, scenario, target):
    labels, scores, other = rows(0.9)
    settings = {
        "threshold": 1.5,
        "class_prior": (0.25, 0.22, 0.28),
        "label_purity": purity,
        "scenario": scenario,
        "target": target,
        "rng": 3,
    }
    found, pairs = [], []
    for searched in (True, False):
        with pytest.MonkeyPatch.context() if searched else labels_as_given():
            ev = pumonitor.evaluate(labels, scores, **settings)
            models = pumonitor.compare(labels, {"a": scores, "b": other}, **settings)
        assert ev.settings["label_purity_evidence"]["is_evident"] is searched
        assert models.settings["label_purity_evidence"]["is_evident"] is searched
        everything = ev.to_dict()
        found.append({part: everything[part] for part in ("estimates", "curves", "class_prior")})
        pairs.append(
            [models["a"], models["b"], models.differences("a", "b", metrics=models.metrics)]
        )
    # As text: where there is no value, a NaN is not equal to itself.
    assert repr(found[0]) == repr(found[1])
    assert repr(pairs[0]) == repr(pairs[1])
