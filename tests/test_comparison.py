"""compare: values, ranks, differences, what it refuses, what it writes."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics as reference

import pumonitor
from pumonitor.comparison import compare
from pumonitor.errors import InputError, TooFewPositivesError

THRESHOLD = {"champion": 1.0, "challenger": 1.5, "old": 1.3}


def rows_of(rows=6000, seed=2, frequency=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.15
    shared = rng.normal(size=rows)
    scores = {
        "champion": np.round(0.8 * shared + 0.6 * rng.normal(size=rows) + 1.5 * positive, 2),
        "challenger": np.round(0.8 * shared + 0.6 * rng.gumbel(size=rows) + 2.5 * positive, 2),
        "old": rng.gumbel(size=rows) + 0.9 * positive,
    }
    return positive, (positive & (rng.random(rows) < frequency)).astype(int), scores


@pytest.fixture(scope="module")
def data():
    _, labels, scores = rows_of()
    return labels, scores


@pytest.fixture(scope="module")
def found(data):
    return compare(*data, threshold=THRESHOLD, class_prior=(0.15, 0.12, 0.19))


def test_estimates_are_those_of_evaluate(data, found):
    labels, scores = data
    for name, values in scores.items():
        ev = pumonitor.evaluate(
            labels, values, threshold=THRESHOLD[name], class_prior=(0.15, 0.12, 0.19)
        )
        for metric in ("f1", "aul", "auc", "ll_score", "precision", "recall", "f_beta"):
            one, other = found[name][metric], ev[metric]
            assert (one.value, one.low, one.high) == (other.value, other.low, other.high), metric
    assert found.class_prior.value == 0.15
    assert (found.class_prior.low, found.class_prior.high) == (0.12, 0.19)
    assert found.prior_from is None


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_a_difference_is_that_of_the_estimates_and_turns_with_its_sign(
    data, scenario, target, purity
):
    found = compare(
        *data,
        threshold=THRESHOLD,
        class_prior=0.15,
        scenario=scenario,
        target=target,
        label_purity=purity,
    )
    for metric in found.metrics:
        one = found.difference("challenger", "old", metric)
        apart = found["challenger"][metric].value - found["old"][metric].value
        assert one.value == pytest.approx(apart, abs=1e-12)
        assert one.low < one.value < one.high
        other = found.difference("old", "challenger", metric)
        assert (other.value, other.low, other.high) == (-one.value, -one.high, -one.low)
        assert other.se == one.se
        assert other.prior_bias == -one.prior_bias
        lowest, highest = one.sampling_interval
        assert lowest <= one.value <= highest
        assert other.sampling_interval == (-highest, -lowest)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("target", ["process", "window"])
def test_equal_columns_differ_by_exactly_nothing(data, weighted, scenario, target):
    labels, scores = data
    rng = np.random.default_rng(3)
    weights = {
        "sample_weight": rng.random(len(labels)) + 0.5,
        "propensity": rng.uniform(0.2, 0.6, len(labels)),
    }
    found = compare(
        labels,
        {"one": scores["old"], "between": scores["champion"], "same": scores["old"].copy()},
        threshold=1.3,
        class_prior=(0.15, 0.12, 0.19),
        scenario=scenario,
        target=target,
        **(weights if weighted else {}),
    )
    for metric in found.metrics:
        difference = found.difference("one", "same", metric)
        assert (difference.value, difference.low, difference.high, difference.se) == (0, 0, 0, 0)
        assert not np.signbit(found.difference("same", "one", metric).value)
        ranks = found.ranks[metric]
        assert ranks["one"] == ranks["same"]
        lead = found.lead(metric)
        if lead.best == "one":
            assert lead.second == "same"
            assert not lead.is_clear


@pytest.mark.parametrize("target", ["process", "window"])
def test_differences_when_all_positives_are_labeled_are_those_of_scikit_learn(target):
    positive, _, scores = rows_of(rows=2311, seed=7)
    prior = float(positive.mean())
    found = compare(
        positive, scores, threshold=THRESHOLD, class_prior=prior, target=target, f_beta=1.7
    )
    flagged = {name: values >= THRESHOLD[name] for name, values in scores.items()}
    auc = {name: reference.roc_auc_score(positive, values) for name, values in scores.items()}

    def expected(function, **settings):
        one, other = (function(positive, flagged[name], **settings) for name in ("champion", "old"))
        return one - other

    apart = {
        "f1": expected(reference.f1_score),
        "precision": expected(reference.precision_score),
        "recall": expected(reference.recall_score),
        "f_beta": expected(reference.fbeta_score, beta=1.7),
        "auc": auc["champion"] - auc["old"],
        "aul": (1 - prior) * (auc["champion"] - auc["old"]),
    }
    for metric, value in apart.items():
        estimate = found.difference("champion", "old", metric)
        assert estimate.value == pytest.approx(value, abs=1e-12), metric
        if target == "window":
            # Every positive is known: nothing about this window is left open.
            assert (estimate.low, estimate.high) == pytest.approx((value, value), abs=1e-12)


def test_prior_is_estimated_from_the_model_that_ranks_best(data):
    labels, scores = data
    found = compare(labels, scores, threshold=THRESHOLD, class_prior="auto", rng=5)
    best = max(scores, key=lambda name: found[name]["aul"].value)
    assert found.prior_from == best == "challenger"
    ev = pumonitor.evaluate(labels, scores[best], threshold=THRESHOLD[best], rng=5)
    assert found.class_prior == ev.class_prior
    assert found[best]["f1"] == ev["f1"]
    by_method = compare(labels, scores, class_prior="tilt")
    assert by_method.class_prior.method == "tilt"
    assert "from challenger" in str(by_method)


def test_frames_are_mappings_of_columns(data, found):
    labels, scores = data
    expected = found.to_dict()
    for frame in (pd.DataFrame(scores), pl.DataFrame(scores), pa.table(scores)):
        again = compare(labels, frame, threshold=THRESHOLD, class_prior=(0.15, 0.12, 0.19))
        assert again.to_dict() == expected
    numbered = pd.DataFrame({1: scores["old"], 2: scores["champion"]})
    assert compare(labels, numbered, class_prior=0.15).models == ("1", "2")


def test_ranks_leads_and_text(found):
    assert found.ranks["aul"] == {"champion": 2, "challenger": 1, "old": 3}
    assert found.best("aul") == "challenger"
    lead = found.lead("aul")
    assert (lead.best, lead.second, lead.is_clear) == ("challenger", "champion", True)
    assert lead.difference == found.difference("challenger", "champion", "aul")
    text = str(found)
    assert "aul: challenger is better than champion by 0.0" in text
    assert text.index("challenger") < text.index("champion") < text.index("old")
    assert "cannot be distinguished from" in str(
        compare(
            [1, 0, 1, 0, 1, 0, 0, 0],
            {"x": [8, 7, 6, 5, 3, 3, 2, 1], "y": [7, 8, 6, 5, 4, 3, 2, 1]},
            threshold=5.5,
            class_prior=0.5,
        )
    )


def test_ties_share_a_rank_and_undefined_has_none():
    labels = np.array([1, 0, 1, 0, 1, 0, 0, 0])
    scores = {
        "x": [0.9, 0.8, 0.6, 0.5, 0.3, 0.2, 0.1, 0.0],
        "y": [0.8, 0.9, 0.6, 0.5, 0.3, 0.1, 0.2, 0.0],
        "none flagged": [0.4, 0.3, 0.2, 0.1, 0.3, 0.2, 0.2, 0.1],
        "z": [0.1, 0.9, 0.2, 0.9, 0.4, 0.2, 0.7, 0.6],
    }
    found = compare(labels, scores, threshold=0.55, class_prior=0.5)
    assert found.ranks["f1"] == {"x": 1, "y": 1, "none flagged": 3, "z": 3}
    assert found.ranks["precision"] == {"x": 1, "y": 1, "none flagged": None, "z": 3}
    assert found.best("precision") == "x"
    lacking = found.difference("x", "none flagged", "precision")
    assert math.isnan(lacking.value)
    assert lacking.undefined_reason == (
        "precision of none flagged is undefined: no row scores at or above the threshold"
    )
    nothing = compare(labels, scores, threshold=2.0, class_prior=0.5)
    with pytest.raises(ValueError, match="no model has a value of precision: no row scores"):
        nothing.best("precision")
    assert nothing.to_dict()["leads"]["precision"] is None
    json.dumps(nothing.to_dict(), allow_nan=False)
    assert "undefined" in str(nothing)


def test_written_out(found):
    written = found.to_dict()
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert written["schema_version"] == 1
    assert list(written) == [
        "schema_version",
        "assumption",
        "settings",
        "class_prior",
        "prior_from",
        "models",
        "warnings",
        "chosen_by",
        "no_verdict",
        "caution",
        "ranks",
        "leads",
        "differences",
    ]
    assert written["settings"]["threshold"] == THRESHOLD
    assert sorted(written["differences"]["aul"]) == ["champion", "old"]
    difference = found.difference("challenger", "old", "aul").to_dict()
    assert written["differences"]["aul"]["old"] == difference
    assert written["leads"]["f1"]["best"] == "challenger"


def test_frame_has_a_row_for_each_model_and_metric(found):
    frame = found.to_frame()
    assert frame.index.names == ["model", "metric"]
    assert len(frame) == 3 * 7
    assert frame.loc[("challenger", "aul"), "rank"] == 1
    assert frame.loc[("old", "f1"), "value"] == found["old"]["f1"].value


def test_the_same_seed_gives_the_same_interval(data):
    one, other, third = (
        compare(*data, class_prior=0.15, rng=seed).difference("old", "champion", "f1")
        for seed in (4, 4, 5)
    )
    assert one == other
    assert third.low != one.low
    assert third.low == pytest.approx(one.low, abs=0.005)


def test_missing_and_constant_scores_are_refused_by_model(data):
    labels, scores = data
    with pytest.raises(InputError, match="of 'old' must have one value per label: got 2 scores"):
        compare(labels, scores | {"old": [0.5, 0.1]}, class_prior=0.15)
    broken = scores["old"].copy()
    broken[[7, 9]] = np.nan
    with pytest.raises(InputError, match=r"scores of 'old' has 2 missing values .* row 7"):
        compare(labels, scores | {"old": broken}, class_prior=0.15)
    with pytest.raises(InputError, match="scores of 'old' are all equal to 1"):
        compare(labels, scores | {"old": np.ones(len(labels))}, class_prior=0.15)
    with pytest.raises(InputError, match="labels has 1 missing values"):
        compare([1.0, np.nan, *labels[2:]], scores, class_prior=0.15)
    with pytest.raises(TooFewPositivesError, match="only 1 of 6000 rows"):
        compare(np.arange(6000) == 3, scores, class_prior=0.15)


def test_names_are_text_and_each_only_once(data):
    labels, scores = data
    with pytest.raises(TypeError, match="names of models must be text, got 3 of type int"):
        compare(labels, {3: scores["old"], "a": scores["champion"]}, class_prior=0.15)
    twice = pd.DataFrame(np.column_stack([*scores.values()]), columns=["a", "b", "a"])
    with pytest.raises(InputError, match=r"columns of the same name: 'a' \(2 times\)"):
        compare(labels, twice, class_prior=0.15)
    with pytest.raises(InputError, match=r"two models or more, got 1 \('old'\): .* use evaluate"):
        compare(labels, {"old": scores["old"]}, class_prior=0.15)
    with pytest.raises(InputError, match="two models or more, got 0: "):
        compare(labels, {}, class_prior=0.15)
    with pytest.raises(TypeError, match=r"scores must be a mapping .* or a data frame .* got list"):
        compare(labels, [scores["old"], scores["champion"]], class_prior=0.15)
    with pytest.raises(TypeError, match="collect it first"):
        compare(labels, pl.LazyFrame(scores), class_prior=0.15)
    frame = pd.DataFrame(scores)
    with pytest.raises(InputError, match="different indexes"):
        compare(pd.Series(labels), frame.sort_values("old"), class_prior=0.15)


def test_thresholds_are_one_for_all_or_one_for_each(data):
    with pytest.raises(ValueError, match="none for 'old'; 'odl' is not a model"):
        compare(*data, threshold={"champion": 1, "challenger": 1, "odl": 1}, class_prior=0.15)
    with pytest.raises(ValueError, match="threshold of 'old' must be finite, got nan"):
        compare(*data, threshold=THRESHOLD | {"old": math.nan}, class_prior=0.15)
    narrow = {name: values.astype(np.float32) for name, values in data[1].items()}
    narrow["old"] = np.round(narrow["old"], 1)
    found = compare(data[0], narrow, threshold=0.7, class_prior=0.15)
    expected = np.mean(narrow["old"][data[0] == 1] >= np.float32(0.7))
    assert found["old"]["recall"].value == pytest.approx(expected, abs=1e-12)


def test_unknown_models_and_metrics_are_named_with_near_ones(found):
    with pytest.raises(KeyError, match="no model 'chalenger'; did you mean 'challenger'"):
        found.difference("chalenger", "old", "f1")
    with pytest.raises(KeyError, match="no metric 'f2'"):
        found.difference("challenger", "old", "f2")
    with pytest.raises(KeyError, match="no model 'x'"):
        found["x"]
    with pytest.raises(KeyError, match="no metric 'roc'"):
        found.lead("roc")
    with pytest.raises(KeyError, match="no metric 'recal'; did you mean 'recall'"):
        found["old"]["recal"]


def test_it_is_shown_in_one_short_line_however_many_models_there_are(found):
    assert repr(found) == (
        f"<Comparison of 3 models (champion, challenger, old) by {len(found.metrics)} metrics on "
        f"{found.settings['n_labeled']} labeled and {found.settings['n_unlabeled']} unlabeled "
        "rows; print it, or see .estimates, .to_frame()>"
    )
    estimates = {f"model {place}": found["old"] for place in range(50)}
    many = replace(found, estimates=estimates)
    assert "50 models (model 0, model 1, model 2 and 47 more)" in repr(many)
    assert len(repr(many)) < 200


def test_settings_out_of_range_are_refused(data):
    with pytest.raises(ValueError, match="beta must satisfy 0 < beta < infinity, got -1"):
        compare(*data, class_prior=0.15, f_beta=-1)
    with pytest.raises(ValueError, match="confidence_level must satisfy"):
        compare(*data, class_prior=0.15, confidence_level=95)
    with pytest.raises(ValueError, match="class_prior < label_purity"):
        compare(*data, class_prior=0.15, label_purity=0.1)


def test_confirmed_negatives_belong_to_the_population(data):
    labels, scores = data
    with_negatives = labels.copy()
    with_negatives[np.flatnonzero(labels == 0)[:700]] = -1
    plain = compare(labels, scores, threshold=THRESHOLD, class_prior=0.15)
    found = compare(with_negatives, scores, threshold=THRESHOLD, class_prior=0.15)
    for metric in found.metrics:
        one, other = (part.difference("champion", "old", metric) for part in (plain, found))
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.se == pytest.approx(other.se, rel=1e-6)
    assert found.settings["n_negative"] == 700


def test_label_frequency_stands_in_for_the_prior(data):
    labels, scores = data
    found = compare(labels, scores, threshold=THRESHOLD, label_frequency=(0.3, 0.25, 0.4))
    ev = pumonitor.evaluate(
        labels, scores["old"], threshold=THRESHOLD["old"], label_frequency=(0.3, 0.25, 0.4)
    )
    assert found.class_prior.value == pytest.approx(float(labels.mean()) / 0.3, rel=1e-12)
    assert found["old"]["precision"] == ev["precision"]
    assert found.prior_from is None
    with pytest.raises(ValueError, match="class_prior or label_frequency, not both"):
        compare(labels, scores, class_prior=0.2, label_frequency=0.3)


def test_logged_review_probabilities_go_through(data):
    labels, scores = data
    chance = np.where(scores["champion"] > 1, 0.8, 0.2)
    settings = {
        "propensity": chance,
        "detection_rate": 0.9,
        "min_propensity": 0.25,
        "class_prior": "propensity",
    }
    found = compare(labels, scores, threshold=THRESHOLD, **settings)
    ev = pumonitor.evaluate(labels, scores["old"], threshold=THRESHOLD["old"], **settings)
    assert found["old"]["f1"] == ev["f1"]
    # It counts what labeled rows stand for and reads no scores.
    assert found.prior_from is None
    assert found.settings["lifted_propensities"] == ev.settings["lifted_propensities"] > 0
    difference = found.difference("champion", "old", "f1")
    assert difference.low < difference.value < difference.high


# -- labels that one model chose ------------------------------------------------------------------


def test_fair_labels_give_the_verdict_they_gave(data, found):
    assert found.chosen_by is None
    assert set(found.warnings) == set(found.models)
    fair = compare(*data, threshold=THRESHOLD, class_prior=(0.15, 0.12, 0.19))
    assert fair.lead("aul").is_clear == (fair.lead("aul").difference.low > 0)
    assert fair.to_dict()["leads"]["aul"]["withheld"] is None
