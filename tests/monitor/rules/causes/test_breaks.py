"""Breaks of strong and weak models: what is named, and what a cause says of what it cannot tell."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.detection.causes import named
from benchmarks.detection.incidents import EDGES, World, window
from pumonitor.monitor.rules.causes.excess import excess
from pumonitor.monitor.rules.causes.explained import marginal, possible_kinds
from pumonitor.monitor.rules.causes.named import KINDS, Size
from pumonitor.monitor.rules.causes.observed import Observed
from pumonitor.monitor.rules.causes.period import Period
from pumonitor.monitor.rules.causes.words import known_in_words, sentence
from tests.monitor.rules.causes.test_followed_causes import MIDDLES

STRONG, WEAK = "strong, 1.5%, 45 labels a day", "weak, 1.5%, 45 labels a day"


@pytest.mark.parametrize("kind", ["70% of scores permuted", "stale input"])
def test_a_broken_strong_model_is_no_matter_of_labels(kind):
    assert named(STRONG, kind, 1).kinds == ("ranking",)


def test_where_counts_cannot_tell_a_wrong_join_from_other_labels_both_are_said():
    cause = named(WEAK, "70% of scores permuted", 3)
    assert cause.kinds == ()
    assert set(cause.possible) == {"ranking", "labeling"}
    assert cause.sentence.startswith(cause.known)
    assert "a model that ranks worse (" in cause.sentence
    assert "other positives being confirmed (" in cause.sentence
    assert re.search(r"An audit of about [\d,]+ rows would show which", cause.sentence)


def test_rows_can_be_a_part_of_what_has_enough_of_them():
    """Samples of a part that is just possible, and of one that is not."""
    rng = np.random.default_rng(4)
    whole = np.array([0.05, 0.15, 0.3, 0.5])
    possible = np.array([0.2, 0.3, 0.3, 0.2])
    impossible = np.array([0.6, 0.2, 0.1, 0.1])
    found = {"possible": [], "impossible": []}
    for _ in range(60):
        of = rng.multinomial(1000, whole).astype(float)
        for name, shares in (("possible", possible), ("impossible", impossible)):
            part = rng.multinomial(200, shares).astype(float)
            found[name].append(excess(part, of=of, share=0.25))
    assert np.mean(np.array(found["possible"]) > 0) < 0.06
    assert min(found["impossible"]) > 3


def around(values):
    low, change, high = sorted(values)
    return Size(before=0.9, now=0.9, change=change, low=low, high=high)


signed = st.tuples(*[st.floats(-0.5, 0.5)] * 3).map(around)
ratios = st.tuples(*[st.floats(0.05, 9.0)] * 3).map(around)
supports = st.dictionaries(
    st.sets(st.sampled_from(KINDS[:-2]), min_size=1, max_size=3).map(
        lambda kinds: tuple(sorted(kinds, key=KINDS.index))
    ),
    st.floats(0.01, 1.0),
    min_size=1,
    max_size=8,
).map(lambda some: {kinds: share / sum(some.values()) for kinds, share in some.items()})
rng = np.random.default_rng(0)
COUNTED = Period.counted(
    [(MIDDLES, *window(World(rows=500), rng)[:2]) for _ in range(7)],
    edges=EDGES,
    traffic={"country=DE": [(MIDDLES, *window(World(rows=500), rng)[:2])]},
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    supports,
    st.sets(st.sampled_from(KINDS[:-2]), max_size=2),
    st.tuples(signed, signed, ratios, ratios, ratios),
    st.integers(1, 2000),
    st.booleans(),
)
def test_what_is_known_comes_first_in_20_words_and_then_at_most_two_things(
    support, kinds, sizes, needed, followed
):
    auc, score, positives, share, confirmed = sizes
    observed = Observed(
        before=COUNTED, now=COUNTED, class_prior=0.02, confirmed=confirmed, needed=needed
    )
    of = {
        "auc": auc,
        "auc_at_new_prior": auc,
        "score": score,
        "positives": positives,
        "confirmed_share": share,
    }
    ordered = tuple(sorted(kinds, key=KINDS.index))
    possible = () if kinds else possible_kinds(support, observed.shows_most(of))
    said = sentence(ordered, of, observed, support, possible, impossible=np.nan, followed=followed)
    known = known_in_words(of, observed)
    if not kinds:
        assert said.startswith(known)
    assert len(known.split()) <= 20
    assert len(re.split(r"\. |; ", said)[0].split()) <= 20, said
    shares = re.findall(r"\(\d+%\)", said)
    assert len(shares) <= 2
    assert len(said.split()) <= 45 * max(len(kinds), 1) + 35, said
    assert all(kind in marginal(support) for kind in possible)
