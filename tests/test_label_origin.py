"""Where labels come from: what results take for granted, how far it moves, what is refused."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from pumonitor.report.html import render_html
from pumonitor.sensitivity.label_preference import f1_at_recall, recall_under_preference
from pumonitor.text import percent_text

FAIR = "Labels are taken for a fair sample of the positives: "


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    positive = rng.random(4000) < 0.1
    return (positive & (rng.random(4000) < 0.4)).astype(int), rng.normal(2.0 * positive)


def evaluated(rows, **settings):
    return pumonitor.evaluate(*rows, threshold=1.5, class_prior=0.1, **settings)


def observed(positives, confirmed, flagged):
    """Recall by fair labels, and the share confirmed, where each positive has its own chance."""
    labeled = positives * confirmed
    return labeled[flagged].sum() / labeled.sum(), labeled.sum() / positives.sum()


@pytest.mark.parametrize("odds", [3.0, 1 / 3, 2.0])
@pytest.mark.parametrize("odds_below", [0.01, 0.7, 20.0])
def test_a_step_in_the_odds_at_the_threshold_is_undone_exactly(odds, odds_below):
    positives = np.array([130.0, 270.0, 40.0, 85.0])
    flagged = np.array([False, False, True, True])
    each = np.where(flagged, odds * odds_below, odds_below)
    recall, frequency = observed(positives, each / (1 + each), flagged)
    truth = positives[flagged].sum() / positives.sum()
    assert recall_under_preference(recall, odds, label_frequency=frequency) == pytest.approx(truth)


def test_no_other_odds_within_the_ratio_move_recall_further():
    rng = np.random.default_rng(1)
    flagged = np.arange(9) >= 6
    for _ in range(300):
        positives = rng.gamma(1.0, 100.0, size=9)
        each = np.exp(rng.normal(0.0, 2.0) + np.log(3.0) * rng.random(9))
        recall, frequency = observed(positives, each / (1 + each), flagged)
        truth = positives[flagged].sum() / positives.sum()
        low, high = (
            recall_under_preference(recall, odds, label_frequency=frequency) for odds in (3, 1 / 3)
        )
        assert low - 1e-9 <= truth <= high + 1e-9
        # Not knowing how many are confirmed only widens it.
        assert recall_under_preference(recall, 3.0) <= low


def test_no_more_is_caught_than_is_flagged():
    assert f1_at_recall(0.9, class_prior=0.1, predicted_positive_rate=0.05) == pytest.approx(
        2 * 0.05 / 0.15
    )


def test_the_first_line_names_the_assumption_and_what_a_preference_moves(rows):
    ev = evaluated(rows)
    low, high = ev.assumption.metrics["recall"]
    recall, frequency = ev["recall"].value, ev["label_frequency"].value
    # Confirmed positives stay where they are, a share of the others moves.
    tilted = recall / 3 / (recall / 3 + 1 - recall)
    assert low == pytest.approx(frequency * recall + (1 - frequency) * tilted)
    assert low < recall < high
    assert ev.assumption.metrics["f1"][0] < ev["f1"].value < ev.assumption.metrics["f1"][1]
    sentence = ev.assumption.sentence
    assert sentence.startswith(FAIR)
    assert f"recall would be {percent_text(low)}, not {percent_text(recall)}" in sentence
    assert sentence.endswith("label_origin: queue, complaints, both or random.")
    assert str(ev).splitlines()[0] == sentence
    written = json.loads(json.dumps(ev.to_dict()["assumption"], allow_nan=False))
    assert written["metrics"]["recall"]["if_flagged_preferred"] == low
    assert sentence in render_html(ev)


def test_what_the_user_says_of_labels_is_believed(rows):
    unsaid = evaluated(rows)
    complaints, random = (evaluated(rows, label_origin=said) for said in ("complaints", "random"))
    assert complaints.assumption.sentence.startswith("Complaints are taken for a fair sample")
    assert "Say where" not in complaints.assumption.sentence
    assert random.assumption is None
    assert random.to_dict()["assumption"] is None
    assert "drawn by chance" in render_html(random)
    for said in (complaints, random):
        assert said["recall"].to_dict() == unsaid["recall"].to_dict()


@pytest.mark.parametrize("origin", ["queue", "both"])
def test_labels_that_a_queue_chose_are_refused(rows, origin):
    models = {"old": rows[1], "new": rows[1] + 0.1}
    tried = (
        lambda: evaluated(rows, label_origin=origin),
        lambda: pumonitor.decide(*rows, threshold=1.5, label_origin=origin),
        lambda: pumonitor.compare(rows[0], models, label_origin=origin),
    )
    for attempt in tried:
        with pytest.raises(pumonitor.errors.InputError, match="cannot be known from them") as error:
            attempt()
        assert "reviews=pumonitor.Reviews(...), --verdicts" in str(error.value)


def test_recall_among_what_the_queue_saw_is_told_as_that(rows):
    labels, scores = rows
    seen = np.mean(scores[labels == 1] >= 1.5)
    with pytest.raises(pumonitor.errors.InputError) as error:
        evaluated(rows, label_origin="queue")
    assert (
        f"{percent_text(seen)} score at or above the threshold, which is recall among what"
        in str(error.value)
    )


def test_propensities_and_reviews_make_up_for_a_queue(rows):
    ev = evaluated(rows, label_origin="queue", propensity=0.4)
    assert "given their propensities" in ev.assumption.sentence
    labels, scores = rows
    reviewed = scores >= 2.0
    verdicts = np.where(reviewed, labels.astype(float), np.nan)
    by_reviews = pumonitor.evaluate(
        labels * ~reviewed,
        scores,
        threshold=1.5,
        label_origin="queue",
        reviews=pumonitor.Reviews(verdicts, blocks=True),
    )
    assert by_reviews.assumption is None


def test_another_word_is_refused(rows):
    with pytest.raises(ValueError, match="got 'chargebacks'"):
        evaluated(rows, label_origin="chargebacks")


def test_an_upper_bound_is_promised_of_fair_labels_alone(rows):
    ev = pumonitor.evaluate(*rows, threshold=1.5)
    (bound,) = [one for one in ev.warnings if one.name == "prior_is_upper_bound"]
    assert bound.sentence.startswith(
        "The class prior was estimated from the scores. If labels are a fair sample"
    )


def chosen_by_the_champion(seed, *, rows=12_000):
    """The challenger is better by far; labels are what the champion's queue found."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.01
    models = {
        "champion": rng.normal(1.5 * positive),
        "challenger": rng.normal(2.3 * positive),
    }
    reviewed = models["champion"] >= np.quantile(models["champion"], 0.98)
    return (positive & reviewed).astype(int), models


def test_compare_cannot_tell_where_labels_do_not_rule_out_a_queue():
    for seed in range(5):
        labels, models = chosen_by_the_champion(seed)
        found = pumonitor.compare(labels, models, threshold=2.0, class_prior=0.01)
        # A verdict would be the wrong one.
        assert found.best("recall") == "champion"
        assert not any(found.lead(metric).is_clear for metric in found.metrics)
        assert "Which model is better cannot be told." in (found.caution or found.no_verdict)
    said = pumonitor.compare(labels, models, threshold=2.0, class_prior=0.01, label_origin="random")
    assert said.caution is None
    assert said.lead("recall").is_clear
    assert said.assumption is None


def test_the_command_says_the_line_first_and_takes_the_origin(rows, tmp_path):
    file = tmp_path / "scored.csv"
    lines = [f"{label},{score}" for label, score in zip(*map(np.ndarray.tolist, rows), strict=True)]
    file.write_text("y,s\n" + "\n".join(lines) + "\n")
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    base = [str(file), "--labels", "y", "--threshold", "1.5", "--class-prior", "0.1"]

    def ran(command, *more, scores="s"):
        return runner.invoke(app, [command, *base, "--scores", scores, *more])

    for command in ("evaluate", "decide"):
        shown = ran(command)
        assert shown.exit_code == 0, shown.output
        assert shown.stdout.strip().splitlines()[1].startswith(FAIR)
        assert FAIR not in ran(command, "--label-origin", "random").stdout
    refused = ran("evaluate", "--label-origin", "queue")
    assert refused.exit_code == 2
    assert "--verdicts" in refused.stderr


def test_a_recall_of_nothing_is_not_said_to_move(rows, tmp_path):
    labels, scores = rows
    file = tmp_path / "scored.csv"
    lines = [f"{label},{score}" for label, score in zip(labels, scores, strict=True)]
    file.write_text("\n".join(["label,score", *lines]))
    asked = ["decide", str(file), "--labels", "label", "--scores", "score", "--capacity", "0.1"]
    done = CliRunner().invoke(app, [*asked, "--threshold", "50"])
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.split())
    assert FAIR in told
    assert "recall would be" not in told
