"""Sentences on a class prior that is followed: where it comes from, and what cannot be told."""

import pytest

from pumonitor.prior.followed.in_words import prior_changes, prior_origin, prior_sentences

SINCE = "Since the first 13 windows "
LOWER = "confirmed positives score lower (another ranking, or others get confirmed)"
HIGHER = LOWER.replace("lower", "higher")
LEVEL = {
    "source": "auto",
    "value": 0.05,
    "low": 0.02,
    "high": 0.09,
    "windows": 13,
    "confirmed": 400,
    "start": "2026-01-01T00:00:00+00:00",
    "end": "2026-01-14T00:00:00+00:00",
}


def over_time(explanations=(((), 0.98),), *, level=None, windows=41, moved=0.02, **more):
    """Each explanation is factors by name and a chance; marginal chances follow from them."""
    listed = [
        {"changed": list(factors), "chance": chance, "factors": dict(factors)}
        for factors, chance in explanations
    ]
    names = {"class prior": "class_prior", "label frequency": "label_frequency"}
    since = {
        names.get(name, name): {
            "chance": sum(one["chance"] for one in listed if name in one["changed"])
        }
        for name in ("class prior", "label frequency", "ranking", "negatives")
    }
    return {
        "level": LEVEL | (level or {}),
        "windows": windows,
        "moved": moved,
        "index": "score",
        "index_reason": None,
        "reference_end": None,
        "since_reference": since,
        "explanations": listed,
    } | more


@pytest.mark.parametrize(
    ("level", "said"),
    [
        ({"windows": 1, "confirmed": 7}, "1 of the 10 windows and 7 of the 150 confirmed"),
        ({"windows": 6, "confirmed": 400}, "6 of the 10 windows and 400 confirmed positives that"),
        (
            {"windows": 12, "confirmed": 80},
            "12 windows and 80 of the 150 confirmed positives that are needed have arrived (20 are "
            "enough after 30 windows).",
        ),
        ({"windows": 30, "confirmed": 14}, "30 windows and 14 of the 20 confirmed positives that"),
        ({"windows": 11, "confirmed": 160}, "this begins when the labels of its first windows"),
    ],
)
def test_what_is_not_followed_yet_says_what_it_takes(level, said):
    text = prior_sentences(over_time((), level=level, windows=0, moved=None))
    assert f"The class prior is not followed yet: {said}" in text
    assert "since" not in text.lower()


def test_a_reference_is_awaited():
    text = prior_origin(over_time((), windows=0, moved=None, reference_end="2026-01-11T00:00"))
    assert text.endswith(
        "The class prior is not followed yet: this begins when the labels of the reference, which "
        "ends on 2026-01-10, are mature."
    )


def test_unlikely_explanations_are_not_told():
    explanations = [({RANKING: 0.4}, 0.94), ({PRIOR: 2.0, RANKING: 0.4}, 0.05)]
    said = prior_changes(over_time(explanations))
    assert "has about doubled" not in said
    assert said.startswith(f"{SINCE}{LOWER}. The share")


def test_a_given_level_names_its_period_and_one_of_another_method_that():
    given = {
        "source": "given",
        "start": "2025-12-31T23:00:00+00:00",
        "end": "2026-01-31T23:00:00+00:00",
    }
    assert prior_origin(over_time(level=given, windows=1)) == (
        "Given as 5.0% (2.0 to 9.0%) for January 2026 and followed through 1 window since."
    )
    assert "(1 to 13 January 2026) by the method dedpul and followed" in prior_origin(
        over_time(level={"source": "dedpul"})
    )


def test_a_new_version_says_that_its_scores_are_not_known():
    text = prior_origin(over_time(index="counts", predecessor="6"))
    assert "its share of positives starts from that of version 6 and follows the number of" in text
    assert "that of the version before it and" in prior_origin(
        over_time(index="counts", predecessor="")
    )


def test_why_features_play_no_part_is_said():
    reason = "the column amount is missing"
    text = prior_origin(over_time(index_reason=reason))
    assert text.endswith("The features are not used: the column amount is missing.")
    text = prior_origin(over_time(index="auxiliary", index_reason=f"{reason}."))
    assert text.endswith(
        "It is followed with the auxiliary score of the features, but not in this window: the "
        "column amount is missing."
    )
    assert prior_origin(over_time(index="auxiliary")).endswith(
        "with the auxiliary score of the features."
    )


def test_where_nothing_moved_nothing_else_is_said():
    assert prior_changes(over_time()) == "Nothing seems to have changed since the first 13 windows."
    assert prior_sentences(over_time()).endswith("since. Nothing seems to have changed since then.")
    many = prior_changes(over_time(()))
    assert many == (
        "What has changed since the first 13 windows is unclear: too many explanations fit."
    )


PRIOR, SHARE, RANKING, OTHERS = "class prior", "label frequency", "ranking", "negatives"


@pytest.mark.parametrize(
    ("explanations", "said"),
    [
        (
            [({RANKING: 0.4}, 0.97)],
            f"{SINCE}{LOWER}. The share of positives seems to be what it was.",
        ),
        (
            [({RANKING: 0.4}, 0.7), ({PRIOR: 0.7, RANKING: 0.4}, 0.25)],
            f"{SINCE}{LOWER}; that the share of positives has fallen by "
            "about 30% as well cannot be ruled out (about 3 to 1 against it). A review of "
            "about 2,000 random cases would show how many are positive now.",
        ),
        (
            [({PRIOR: 2.0}, 0.3), ({SHARE: 1.9}, 0.6)],
            f"{SINCE}either the share of positives or the share of them that gets confirmed "
            "has about doubled: scores and confirmations cannot tell which (about 2 to 1 for "
            "the second). A review of about 270 random cases would show how many are positive "
            "now.",
        ),
        (
            [({PRIOR: 0.5, RANKING: 0.5}, 0.48), ({SHARE: 0.7, RANKING: 0.5}, 0.45)],
            f"{SINCE}{LOWER}, and either the share of positives has about "
            "halved or the share of positives that gets confirmed has fallen by about 30%: "
            "scores and confirmations cannot tell which (about even chances). A review of "
            "about 630 random cases would show how many are positive now.",
        ),
        (
            [({PRIOR: 3.0}, 0.6), ({PRIOR: 3.0, SHARE: 0.5}, 0.2), ({PRIOR: 3.0, OTHERS: 1}, 0.19)],
            f"{SINCE}the share of positives has risen to about 3 times what it was; whether the "
            "share of positives that gets confirmed has about halved (about 2 in 10) or the scores "
            "of the other cases have changed (about 2 in 10) as well is unclear.",
        ),
        (
            [({}, 0.5), ({SHARE: 1.5}, 0.45)],
            "Whether the share of positives that gets confirmed has risen by about 50% since the "
            "first 13 windows is unclear (about even chances).",
        ),
        (
            [({PRIOR: 1.5}, 0.7)],
            f"{SINCE}probably the share of positives has risen by about 50% (about 7 in 10). A "
            "review of about 940 random cases would show how many are positive now.",
        ),
        (
            [({}, 0.4), ({SHARE: 0.5}, 0.3), ({RANKING: 1.4}, 0.2)],
            f"{SINCE}one of these holds, and it is unclear which: nothing has changed (about 4 in "
            "10); the share of positives that gets confirmed has about halved (about 3 in 10) or "
            f"{HIGHER} (about 2 in 10).",
        ),
    ],
)
def test_all_explanations_that_fit_are_said_with_their_chances(explanations, said):
    assert prior_changes(over_time(explanations)) == said
