"""An engine elsewhere that takes tables counts only rows that no label is about; the sum is whole.

The embedded engine stands for one, whose statements cost nothing to wait for.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources import opening
from pumonitor.sources.column_types.dialects import DuckDB
from pumonitor.sources.windows import asking_apart, counting, slices
from pumonitor.sources.windows.counts_duckdb import DuckDBEngine
from tests.sources.monitored import REQUEST, assert_equal, labels, predictions
from tests.sources.monitored import opened as monitored
from tests.sources.test_many_windows import alone, assert_same, cases, opened, tables

START = datetime(2026, 3, 10, tzinfo=UTC)
DAY = timedelta(days=1)


class FarDuckDB(DuckDB):
    __slots__ = ()
    holds_rows = False


class Elsewhere(DuckDBEngine):
    """Takes tables, and notes which it was sent and what it was asked."""

    most_labels = 1000

    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.dialect = FarDuckDB()
        self.sent = {}
        self.asked = []

    def send(self, name, table):
        self.sent[name] = table
        self._connection.register(name, table)

    def _sql(self, statement):
        self.asked.append(statement.sql)
        return super()._sql(statement)

    @property
    def statements(self):
        """How many were asked since, of those that read predictions."""
        found = [one for one in self.asked if "pumonitor_frame_0" in one]
        self.asked.clear()
        return len(found)


@pytest.fixture
def elsewhere(monkeypatch):
    """Sources that are opened in it are of such an engine."""

    def opening_of(*given, by=opened):
        with monkeypatch.context() as patched:
            patched.setattr(opening, "DuckDBEngine", Elsewhere)
            return closing(by(*given))

    return opening_of


def request(day, *ages):
    start = START + day * DAY
    window = Window(start=start, end=start + DAY, index=day)
    moments = tuple(window.end + age * DAY for age in ages or (0, 1, 5))
    return CountRequest(window=window, as_of=moments, threshold=0.5, delay_edges=(3600.0, 86_400.0))


def row(number, hours, score=0.25, version="a", country="DE"):
    return (number, START + timedelta(hours=hours), score, version, country)


def said(number, hours, label=1, chance=0.5):
    return (number, START + timedelta(hours=hours), label, chance)


@given(case=cases(), differ=st.booleans())
@settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_counts_are_those_of_the_embedded_engine(elsewhere, case, differ):
    made, known, requests = case
    if differ:
        # Of labels that are about 3 there is no prediction.
        made = [
            (one[0] if one[0] is None else 3000 if place == 3 else place, *one[1:])
            for place, one in enumerate(made)
        ]
    both = tables(made, known)
    with closing(opened(*both)) as here, elsewhere(*both) as there:
        expected = alone(here, requests)
        for one, wanted in zip(there.counts_of_many(requests), expected, strict=True):
            assert type(one) is type(wanted)
            if isinstance(wanted, Exception):
                assert str(one) == str(wanted)
            else:
                assert_equal(one, wanted)
        assert_same(there, requests)


@pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")
@pytest.mark.parametrize("text_ids", [False, True])
def test_rows_of_many_kinds(elsewhere, text_ids):
    made = predictions(text_ids=text_ids).drop_duplicates("prediction id")
    known = labels(text_ids=text_ids)
    with closing(monitored(made, known)) as here, elsewhere(made, known, by=monitored) as there:
        expected = here.counts(REQUEST)
        assert expected.found.label_rows > 0
        assert expected.found.orphan_labels > 0
        assert_equal(there.counts(REQUEST), expected)
        # The rows, whether ids differ, and ids of labels that no row of the window has; then the
        # first prediction, and of text ids of predictions and other spellings.
        assert there._engine.statements == (7 if text_ids else 5)
        # By its own moment, before which no row of a later time plays a part.
        early = replace(REQUEST, as_of=(REQUEST.window.start + timedelta(hours=6),))
        assert_equal(there.counts(early), here.counts(early))


def test_a_row_with_a_label_is_counted_once_and_by_its_own_score(elsewhere):
    made = [row(1, 1, 0.75), row(2, 2, 0.75), row(3, 3, 0.7500001), row(4, 4, 0.25)]
    with elsewhere(*tables(made, [said(2, 30), said(3, 500)])) as source:
        counts = source.counts(request(0))
        assert source._engine.statements == 2
    # That 3 became known is not known yet: it is of one group with 1.
    assert counts.rows.tolist() == [1, 2, 1]
    assert counts.lower.tolist() == [0.25, 0.75, 0.75]
    assert counts.upper.tolist() == [0.25, 0.7500001, 0.75]
    assert counts.found.predictions == 4
    assert (counts.found.label_rows, counts.found.orphan_labels) == (1, 0)


def test_labels_of_other_days_are_looked_for_among_all_predictions(elsewhere):
    made = [row(1, 1), row(2, 25), row(3, 26)]
    # 1 is of a day that is not counted, 9 of none, and 8 became known in no day that is.
    known = [said(1, 30), said(9, 31), said(9, 55), said(8, 2), said(2, 32)]
    days = [request(1), request(2)]
    with elsewhere(*tables(made, known)) as source:
        found = list(source.counts_of_many(days))
        assert [one.found.orphan_labels for one in found] == [1, 1]
        assert sorted(source._engine.sent[asking_apart.SOUGHT]["id"].to_pylist()) == [1, 9]
        assert source._engine.statements == 3
        assert list(source._engine.sent) == [asking_apart.LABELED, asking_apart.SOUGHT]


@pytest.mark.parametrize("labeled", [1, 2])
def test_of_an_id_that_stands_twice_the_first_row_counts(elsewhere, labeled):
    made = [row(1, 1, 0.1), row(1, 2, 0.9), row(2, 3, 0.2)]
    with elsewhere(*tables(made, [said(labeled, 30)])) as source:
        counts = source.counts(request(0))
        assert "pumonitor_ranked" in source._engine.asked[-1]
        # The rows, whether ids differ, and once more all.
        assert source._engine.statements == 3
    assert counts.lower.tolist() == [0.1, 0.2]
    assert counts.found.conflicting_predictions == 1


def test_an_id_of_two_days_is_of_both(elsewhere):
    made = [row(1, 1, 0.1), row(1, 25, 0.9), row(2, 2)]
    days = [request(0), request(1)]
    both = tables(made, [said(1, 2), said(1, 30)])
    with closing(opened(*both)) as here, elsewhere(*both) as there:
        for one, wanted in zip(there.counts_of_many(days), alone(here, days), strict=True):
            assert_equal(one, wanted)
        assert there._engine.statements == 2


@pytest.mark.parametrize(
    ("made", "known"),
    [
        ([row(1, 1), row(None, 2)], [said(1, 30)]),
        ([row(1, 1), row(2, 2)], [said(None, 30), said(1, 30)]),
        ([row(1, 1, None)], [said(1, 30)]),
        ([row(1, 1), (2, None, 0.5, "a", "DE")], [said(2, 30)]),
        ([row(1, 1)], [said(1, 30, label=7)]),
        ([row(1, 1)], [said(1, 30, chance=0.0)]),
        ([row(1, 1), row(2, 2, version="a\0")], [said(1, 30)]),
        ([row(1, 1), row(2, 2, country="DE\0")], [said(2, 30)]),
    ],
)
def test_what_cannot_be_used_is_refused_in_the_same_words(elsewhere, made, known):
    both = tables(made, known)
    with closing(opened(*both)) as here, elsewhere(*both) as there:
        with pytest.raises(InputError) as expected:
            here.counts(request(0))
        with pytest.raises(InputError) as found:
            there.counts(request(0))
        assert str(found.value) == str(expected.value)


def test_a_label_that_cannot_be_used_is_nothing_before_it_is_known(elsewhere):
    both = tables([row(1, 1), row(2, 2)], [said(1, 3), said(2, 20, label=7)])
    early = replace(request(0), as_of=(START + timedelta(hours=6),))
    with closing(opened(*both)) as here, elsewhere(*both) as there:
        assert_equal(there.counts(early), here.counts(early))


def test_labels_without_prediction_are_those_known_before_a_window_ends(elsewhere):
    both = tables([row(1, 1), row(2, 2)], [said(1, 3), said(8, 5), said(9, 20), said(9, 30)])
    early = replace(request(0), as_of=(START + timedelta(hours=6),))
    with closing(opened(*both)) as here, elsewhere(*both) as there:
        assert there.counts(early).found.orphan_labels == 2
        assert_equal(there.counts(early), here.counts(early))


@pytest.mark.parametrize("most", [0, 2])
def test_more_labels_than_come_here_stay_where_they_are(elsewhere, monkeypatch, most):
    monkeypatch.setattr(Elsewhere, "most_labels", most)
    both = tables([row(1, 1), row(2, 2)], [said(1, 30), said(2, 31), said(3, 5)])
    with closing(opened(*both)) as here, elsewhere(*both) as there:
        assert_equal(there.counts(request(0)), here.counts(request(0)))
        assert there._engine.sent == {}


def test_rows_of_many_labels_are_counted_here_slice_by_slice(elsewhere, monkeypatch):
    made = [row(place, place, place / 100) for place in range(48)]
    both = tables(made, [said(place, 20 + place) for place in range(0, 60, 2)])
    days = [request(0), request(1)]
    with closing(opened(*both)) as here:
        expected = alone(here, days)
    monkeypatch.setattr(slices, "_LABELS_AT_ONCE", 7)
    with elsewhere(*both) as there:
        for one, wanted in zip(there.counts_of_many(days), expected, strict=True):
            assert_equal(one, wanted)


def test_more_groups_than_are_borne_are_counted_window_by_window(elsewhere, monkeypatch):
    made = [row(place, place, place / 100) for place in range(48)]
    both = tables(made, [said(place, 60) for place in range(0, 48, 2)])
    days = [request(0), request(1)]
    with closing(opened(*both)) as here:
        expected = alone(here, days)
    for module in (asking_apart, counting):
        monkeypatch.setattr(module, "MOST_GROUPS", 20)
    with elsewhere(*both) as there:
        for one, wanted in zip(there.counts_of_many(days), expected, strict=True):
            assert_equal(one, wanted)
        # That it is too much tells one statement; of each window alone there are two.
        assert there._engine.statements == 5


def test_without_labels_all_rows_are_counted_there(elsewhere):
    both = tables([row(1, 1), row(2, 2)], [])
    with closing(opened(*both)) as here, elsewhere(*both) as there:
        assert_equal(there.counts(request(0)), here.counts(request(0)))


def test_times_beyond_53_bits_come_back_whole(elsewhere):
    """A label that is known a microsecond before the moment is known, one after it is not."""
    moment = START + DAY + timedelta(microseconds=1)
    known = [
        (1, moment, 1, 0.5),
        (2, moment + timedelta(microseconds=1), 1, 0.5),
        (3, moment - timedelta(microseconds=2), 1, 0.5),
    ]
    both = tables([row(number, number) for number in (1, 2, 3)], known)
    one = replace(request(0), as_of=(moment,))
    with closing(opened(*both)) as here, elsewhere(*both) as there:
        assert_equal(there.counts(one), here.counts(one))
