"""Labels that are more than a statement takes: several statements come to what one would."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

import pyarrow as pa
import pytest

from pumonitor.errors import InputError
from pumonitor.ports import SampleRequest, Window
from pumonitor.scans import Scan
from pumonitor.sources.column_types.monitored_tables import SqlTable
from pumonitor.sources.column_types.warehouses import WAREHOUSES
from pumonitor.sources.engines.trino import TrinoBackend
from pumonitor.sources.engines.warehouse_engine import WarehouseEngine
from pumonitor.sources.opening import open_source
from tests.sources.monitored import (
    DAY,
    DRAW,
    LABELS,
    NOW,
    PREDICTIONS,
    REQUEST,
    WITH_CHANNELS,
    assert_equal,
    labels,
    opened,
    predictions,
)
from tests.sources.translated import Translated

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

WRITES = ("bigquery", "trino", "databricks")
ANY = "trino"
"""Where answers of parts are put together, which is the same code for all."""

PARTS = 4
YESTERDAY = replace(
    REQUEST,
    window=Window(start=REQUEST.window.start - DAY, end=REQUEST.window.start, index=20521),
)


@pytest.fixture(params=WRITES)
def warehouse(request):
    return request.param


@pytest.fixture
def in_parts(monkeypatch):
    """Opens a source whose labels go to a warehouse in four parts."""

    def make(name, made, known, columns=PREDICTIONS, engine=Translated, **limits):
        stand_in = engine(name, {"predictions": made}, label_parts=PARTS)
        monkeypatch.setattr("pumonitor.sources.opening.open_engine", lambda *_, **__: stand_in)
        place = SqlTable(url=f"{name}://x", table="predictions")
        source = open_source(place, columns, known, LABELS, clock=lambda: NOW, **limits)
        return closing(source), stand_in

    return make


@pytest.mark.parametrize(
    "text_ids",
    [
        pytest.param(True, id="text", marks=pytest.mark.slow),
        pytest.param(False, id="whole numbers"),
    ],
)
def test_counts_of_one_window_and_of_several_are_those_of_one_statement(
    in_parts, warehouse, text_ids
):
    made, known = predictions(500, text_ids=text_ids), labels(text_ids=text_ids)
    requests = [YESTERDAY, REQUEST]
    with closing(opened(made, known)) as source:
        expected = [replace(source.counts(one), unmatched=None) for one in requests]
    assert expected[1].found.orphan_labels > 0
    assert expected[1].found.duplicate_predictions > 0
    opening, engine = in_parts(warehouse, made, known)
    with opening as source:
        for found, one in zip(source.counts_of_many(requests), expected, strict=True):
            assert_equal(found, one)
        # Ids repeat, so each part is asked twice.
        assert PARTS < len(engine.asked) <= 2 * PARTS + 2
        shares = []
        assert_equal(
            source.counts(REQUEST, progress=lambda _, share: shares.append(share)), expected[1]
        )
    # Of the whole, not of each part.
    assert set(shares) == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_before_a_window_has_ended(in_parts):
    """Labels without prediction are a statement of their own then."""
    made, known = predictions(300, text_ids=True), labels(text_ids=True)
    early = replace(REQUEST, as_of=(REQUEST.window.end - DAY / 4,))
    with closing(opened(made, known)) as source:
        expected = replace(source.counts(early), unmatched=None)
    opening, _ = in_parts(ANY, made, known)
    with opening as source:
        assert_equal(source.counts(early), expected)


def test_looks_samples_draws_and_bins(in_parts):
    made, known = predictions(500, text_ids=True), labels(text_ids=True)
    made["Channel"] = made["Channel"].astype(float)
    # Fewer than there are: the least hashes of all are in the first parts.
    sample = SampleRequest(window=REQUEST.window, as_of=REQUEST.as_of, rows=60, labels=25)
    with closing(open_source(made, WITH_CHANNELS, known, LABELS, clock=lambda: NOW)) as source:
        sampled, drawn, bins = source.sample(sample), source.draw(DRAW), source.bins(DRAW)
        look = source.describe()
    assert (len(sampled.id), len(drawn) > 10) == (85, True)
    opening, _ = in_parts(ANY, made, known, WITH_CHANNELS)
    with opening as source:
        found = source.sample(sample)
        assert source.draw(DRAW) == drawn
        assert source.bins(DRAW) == bins
        seen = source.describe()
    assert found.id.tolist() == sampled.id.tolist()
    assert found.history.tolist() == sampled.history.tolist()
    assert found.features["Channel"].tolist() == sampled.features["Channel"].tolist()
    assert seen.delay_quantiles == look.delay_quantiles
    assert (seen.labels, seen.confirmed, seen.early) == (look.labels, look.confirmed, look.early)


def test_a_prediction_without_an_id_is_refused_once(in_parts):
    made, known = predictions(300, text_ids=True), labels(text_ids=True)
    made["prediction id"] = made["prediction id"].where(made.index % 20 > 0, None)
    with closing(opened(made, known)) as source, pytest.raises(InputError) as expected:
        source.counts(REQUEST)
    opening, _ = in_parts(ANY, made, known)
    with opening as source, pytest.raises(InputError) as found:
        source.counts(REQUEST)
    told = str(expected.value).replace("the data frame of predictions", "predictions predictions")
    assert str(found.value) == told
    assert re.search(r"has \d\d? ids that are missing", told)


class Costly(Translated):
    """Each statement reads so much."""

    def expected(self, reading, *, about):
        return Scan(read=100)

    def spent(self):
        return {}


def test_each_part_costs_what_the_first_does(in_parts):
    made, known = predictions(300, text_ids=True), labels(text_ids=True)
    opening, engine = in_parts("bigquery", made, known, engine=Costly, max_bytes=399)
    with opening as source:
        assert source.scan(REQUEST).read == 100 * PARTS
        asked = len(engine.asked)
        with pytest.raises(InputError, match=r"would read 400 bytes at most.*max_bytes is 399"):
            source.counts(REQUEST)
        assert len(engine.asked) == asked


def table(rows, *, repeats=1):
    ids = [f"order {one // repeats:030}" for one in range(rows)]
    return pa.table(
        {"id": ids, "known": [1_767_225_600_000_000] * rows, "label": [1] * rows}
        | {"propensity": pa.nulls(rows, pa.float64())}
    )


def written(dialect, rows):
    return dialect.parts_written(
        rows, key="text", length=len(dialect.labels_written(rows, key="text"))
    )


@pytest.mark.parametrize(
    ("warehouse", "parts"), [("bigquery", 44), ("trino", 44), ("databricks", 11)]
)
def test_two_hundred_thousand_labels_are_few_enough_for_every_statement(warehouse, parts):
    dialect = WAREHOUSES[warehouse]()
    rows = table(200_000, repeats=2)
    found = written(dialect, rows)
    assert len(found) == parts
    # Twice in a statement, with room for what else is in it.
    assert max(len(one.sql) for one in found) < 0.46 * dialect.longest_statement
    around = dialect.labels_written(rows.slice(0, 1), key="text").count(",")
    assert sum(one.sql.count(",") - around + 1 for one in found) == 200_000
    # An id is where its hash is, with all its rows.
    bounds = [one.ids.rpartition("< ")[2].strip("'") for one in found]
    for text in rows["id"].to_pylist()[:40:2]:
        digits = sha256(text.encode()).hexdigest()
        place = next(place for place, bound in enumerate(bounds) if digits < bound)
        times = [one.sql.count(text.encode().hex() + "/") for one in found]
        assert times == [2 * (number == place) for number in range(parts)]


def test_few_labels_and_too_many_are_in_no_parts(monkeypatch):
    dialect = WAREHOUSES["trino"]()
    assert written(dialect, table(4000)) == ()
    assert len(written(dialect, table(5000))) == 2
    monkeypatch.setattr(type(dialect), "longest_statement", 10_000)
    assert len(written(dialect, table(2000))) > 30
    # More would be asked for each window than anybody waits or pays for.
    assert written(dialect, table(4000)) == ()


def test_the_engine_hands_parts_on():
    engine = WarehouseEngine.__new__(WarehouseEngine)
    engine._backend = TrinoBackend()
    engine.dialect = engine._backend.dialect
    relation = engine.receive(table(5000), name="positives labels.csv", key="text")
    assert len(relation.parts) == 2
    assert relation.sql == engine.dialect.labels_written(table(5000), key="text")


def test_bounds_of_parts_leave_no_gap():
    found = written(WAREHOUSES["databricks"](), table(50_000))
    ends = [one.ids.split("'")[1::2] for one in found]
    assert ends[0][0] == "0" * 16
    assert ends[-1][1] > "f" * 64
    assert all(before[1] == after[0] for before, after in pairwise(ends))
