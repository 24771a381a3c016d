"""A window that is counted slice by slice of its ids has the counts that it has as a whole."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pumonitor.errors import InputError
from pumonitor.sources.windows import asking, different_ids, labels_at_hand, slices
from pumonitor.sources.windows.answers import Answers, Repeats
from tests.sources.monitored import REQUEST, assert_equal, labels, opened, predictions

# Arrow reads pandas in a way that pandas announces to change.
pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")


@pytest.fixture(params=[False, True], ids=["whole numbers", "text"])
def frames(request):
    return predictions(text_ids=request.param), labels(text_ids=request.param)


@pytest.fixture
def few(monkeypatch):
    """As if a few hundred rows or labels were more than can be held."""
    monkeypatch.setattr(asking, "_ROWS_HELD", 10)
    monkeypatch.setattr(labels_at_hand, "_ROWS_HELD", 10)
    monkeypatch.setattr(different_ids, "_IDS_AT_ONCE", 60)
    monkeypatch.setattr(slices, "_LABELS_AT_ONCE", 50)


def statements(source, monkeypatch):
    """What the engine is asked for, as it is asked."""
    asked, keep = [], source._engine.keep

    def kept(name, statement, *, about):
        asked.append((name, statement.sql))
        return keep(name, statement, about=about)

    monkeypatch.setattr(source._engine, "keep", kept)
    return asked


@pytest.mark.parametrize(("repeated", "orphans"), [(True, "count"), (False, "skip")])
def test_slices_add_up_to_the_whole(frames, few, monkeypatch, repeated, orphans):
    made, known = frames
    if not repeated:
        made = made.drop_duplicates("prediction id")
    with monkeypatch.context() as as_ever, closing(opened(made, known)) as source:
        as_ever.setattr(asking, "_ROWS_HELD", 2_000_000)
        expected = source.counts(REQUEST)
    with closing(opened(made, known)) as source:
        asked = statements(source, monkeypatch)
        if orphans == "skip":
            source._orphans = "skip"
            found = replace(expected.found, orphan_labels=0)
            expected = replace(expected, found=found, unmatched=None)
        assert_equal(source.counts(REQUEST), expected)
    assert sum(name == "pumonitor_states" for name, _ in asked) > 2


def test_labels_of_ids_beyond_those_of_the_window_are_looked_for_as_well(few):
    made, known = predictions(), labels()
    beyond = known.head(3).assign(
        case=[-(10**12), 10**12, 10**13], confirmed_at=REQUEST.window.start
    )
    with closing(opened(made, known)) as source:
        expected = source.counts(REQUEST).found.orphan_labels
    with closing(opened(made, pd.concat([known, beyond]))) as source:
        assert source.counts(REQUEST).found.orphan_labels == expected + 3


def test_rows_without_an_id_are_told_of(few):
    made = predictions()
    made["prediction id"] = made["prediction id"].astype("Int64")
    window = REQUEST.window
    inside = made[(made["scored_at"] >= window.start) & (made["scored_at"] < window.end)]
    made.loc[inside.index[20], "prediction id"] = None
    with (
        closing(opened(made, labels())) as source,
        pytest.raises(InputError, match="has 1 ids that are missing"),
    ):
        source.counts(REQUEST)


def answers(rows, repeats):
    """Rows of version, country, cell, history, propensity, lowest and highest score, number."""
    names = ("model_version", "segment_0", "cell", "history", "propensity")
    columns = zip(*rows, strict=True)
    groups = {
        name: np.array(values)
        for name, values in zip((*names, "lower_score", "upper_score", "n"), columns, strict=True)
    }
    groups["place"] = np.zeros(len(rows), dtype=np.int64)
    found = {"ids": np.array([len(rows)])}
    return Answers(groups=groups, found=found, repeats={0: repeats}, orphans={})


def test_groups_of_the_same_keys_become_one():
    none = float("nan")
    one = answers(
        [("a", "DE", 7, 4, none, 0.3, 0.6, 10), ("a", "DE", 7, 5, 0.5, 0.4, 0.4, 1)],
        Repeats(same=2, other=1, problem=0),
    )
    other = answers(
        [
            ("a", "FR", 7, 4, none, 0.1, 0.2, 5),
            ("a", "DE", 7, 4, none, 0.2, 0.5, 4),
            ("a", "DE", 7, 5, 0.25, 0.3, 0.9, 2),
        ],
        Repeats(same=1, other=3, problem=2),
    )
    found = slices.added(one, other, segments=("segment_0",))
    rows = {
        (country, history, None if np.isnan(chance) else chance): (low, high, number)
        for country, history, chance, low, high, number in zip(
            *(
                found.groups[name].tolist()
                for name in (
                    "segment_0",
                    "history",
                    "propensity",
                    "lower_score",
                    "upper_score",
                    "n",
                )
            ),
            strict=True,
        )
    }
    assert rows == {
        ("DE", 4, None): (0.2, 0.6, 14),
        ("FR", 4, None): (0.1, 0.2, 5),
        ("DE", 5, 0.5): (0.4, 0.4, 1),
        ("DE", 5, 0.25): (0.3, 0.9, 2),
    }
    assert found.repeats == {0: Repeats(same=3, other=4, problem=2)}
    assert found.found["ids"].tolist() == [2, 3]
