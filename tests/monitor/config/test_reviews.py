"""The section of review queues: what it takes, what it means, and what it refuses."""

from __future__ import annotations

import pytest

from pumonitor.monitor.config.file import configuration_hash, read_configuration_text
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from tests.monitor.config.one_problem import GOOD, only

QUEUE = "source: r.csv, id: id, verdict: verdict"
ACTION = "      action: {column: action, stopped: [declined]}\n    positives:"


def with_queue(queue=f"{QUEUE}, blocks: true", text=GOOD, more=""):
    return f"{text}    reviews: {{{queue}}}\n{more}"


def monitor_of(text, **environment):
    return read_configuration_text(text, environment=environment).configuration.monitors["fraud"]


def test_one_queue_or_a_list_of_them():
    listed = f"{GOOD}    reviews:\n      - {{{QUEUE}, blocks: false}}\n"
    (alone,), (in_list,) = monitor_of(with_queue()).reviews, monitor_of(listed).reviews
    assert (alone.blocks, in_list.blocks) == (True, False)
    assert alone.columns.always == "score"


def test_what_is_asked_of_the_tables_follows_from_it():
    queue = (
        "source: r.csv, id: case, decided_at: at, reviewer: who, blocks: true, detection_rate: "
        "[0.8, 0.95], verdict: {column: v, positive: [Fraud], negative: [ok]}, chosen_by: {column: "
        "why, score: [Top], random: [Lottery]}"
    )
    text = with_queue(queue, GOOD.replace("    positives:", ACTION), "    complaint_rate: 0.6\n")
    monitor = monitor_of(text)
    (columns,) = [one.columns for one in monitor.reviews]
    assert (columns.id, columns.verdict, columns.decided_at) == ("case", "v", "at")
    assert columns.verdict_words.labels == {"Fraud": 1, "ok": -1}
    assert columns.reasons == {"top": "score", "lottery": "random"}
    how = HowReviewed.of(monitor)
    assert how == HowReviewed(
        blocks=True,
        segments=("country",),
        action="action",
        stopped=("declined",),
        is_reason_given=True,
        detection_rate=(0.8, 0.95),
        complaint_rate=(0.6, 0.6),
    )
    assert HowReviewed.from_json(how.to_json()) == how
    assert monitor.predictions.counted_by == ("country", "action")


def test_results_depend_on_every_key_of_it():
    hashes = {
        configuration_hash(monitor_of(text))
        for text in (
            GOOD,
            with_queue(),
            with_queue(f"{QUEUE}, blocks: false"),
            with_queue(f"{QUEUE}, blocks: true, reviewer: who"),
            with_queue(f"{QUEUE}, blocks: true, chosen_by: why"),
            with_queue(f"{QUEUE}, blocks: true, detection_rate: 0.9"),
            with_queue(more="    complaint_rate: [0.4, 0.8]\n"),
            with_queue(text=GOOD.replace("    positives:", ACTION)),
        )
    }
    assert len(hashes) == 8


def test_an_address_of_reviews_is_a_secret():
    text = with_queue(
        "source: {url: 'postgresql+psycopg://me:${HIDDEN}@host/db', table: reviews}, id: id, "
        "verdict: verdict, blocks: true"
    )
    monitor = monitor_of(text, HIDDEN="opensesame")
    assert "opensesame" not in repr(monitor.reviews)
    assert len(monitor.secrets) == 3
    assert "needs the environment variable HIDDEN" in only(text)


@pytest.mark.parametrize(
    ("rate", "expected"), [("1", None), ("[1, 1]", None), ("[0.9, 1]", (0.9, 0.999))]
)
def test_a_review_that_finds_all_has_no_detection_rate_to_estimate(rate, expected):
    monitor = monitor_of(with_queue(f"{QUEUE}, blocks: true, detection_rate: {rate}"))
    assert HowReviewed.of(monitor).detection_rate == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (with_queue(QUEUE), "reviews[0].blocks, line 19: is missing"),
        (
            with_queue("source: r.csv, id: id, verdict: id, blocks: true"),
            "both as id and as verdict",
        ),
        (with_queue(more="    complaint_rate: 80\n"), "complaint_rate"),
        (with_queue(more="    complaint_rate: [0.8, 1]\n"), "complaint_rate is below 1"),
        (GOOD + "    complaint_rate: 0.5\n", "give reviews as well"),
        (GOOD.replace("    positives:", ACTION), "give reviews as well"),
        (with_queue(more="    class_prior: 0.01\n"), "class_prior cannot be given beside reviews"),
        (with_queue(more="    label_purity: 0.9\n"), "label_purity cannot be given beside reviews"),
        (with_queue(more="    audits: {}\n"), "chosen_by: audit"),
        (
            with_queue(
                text=GOOD.replace("known_at: known", "known_at: known\n      propensity: p")
            ),
            "positives.propensity cannot be given beside reviews",
        ),
        (
            with_queue(text=GOOD.replace("segments: [country]", "features: [amount]")),
            "predictions.features cannot be given beside reviews",
        ),
        (
            f"{GOOD}    reviews: [{{{QUEUE}, blocks: true}}, {{{QUEUE}, blocks: false}}]\n",
            "reviews differ in blocks",
        ),
        (
            with_queue(f"{QUEUE}, blocks: true, chosen_by: {{score: [top]}}"),
            "needs either a column or always",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(text, said):
    assert said in only(text)


def test_another_score_filled_the_queue():
    text = with_queue(f"{QUEUE}, blocks: true, ranked_by: champion_score")
    how = HowReviewed.of(monitor_of(text))
    assert (how.ranked_by, how.score_scale) == ("champion_score", "probability")
    assert HowReviewed.from_json(how.to_json()) == how
    assert configuration_hash(monitor_of(text)) != configuration_hash(monitor_of(with_queue()))


def test_the_score_of_the_queue_is_a_column_of_its_own():
    text = with_queue(f"{QUEUE}, blocks: true, ranked_by: score")
    assert only(text).endswith(
        "reviews have ranked_by: score, which predictions name as score: name the column of the "
        "score that filled the queue; without ranked_by the score itself"
    )
