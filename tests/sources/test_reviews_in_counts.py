"""A table of counts that a job made of predictions, complaints and reviews."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pumonitor.conformance.cases.reviews import cases_of_reviews
from pumonitor.errors import InputError
from pumonitor.sources.counted.rows import rows_of
from pumonitor.sources.counted.schema import CountedSettings
from pumonitor.sources.counted.statement import set_statement
from pumonitor.sources.opening import open_source
from tests.sources.monitored import NOW, assert_equal

CASES = {case.name: case for case in cases_of_reviews()}
NAMES = (
    "reviews beside complaints",
    "reviews of a queue that another score filled, probability",
)


def opened(case, place=None):
    """The rows of a case, or its counts at an address."""
    tables = {role: place or table.arrow() for role, table in case.tables.items()}
    return open_source(
        tables["predictions"],
        case.made,
        tables["positives"],
        case.known,
        score_scale=case.scale,
        reviews=[(tables["reviews"], case.reviewed)],
    )


def settings_of(source, case):
    return CountedSettings.of(
        case.requests[0],
        score_scale=case.scale,
        segments=source.segments,
        states=source.states,
        ranked_by=source.ranked_by,
    )


def by_rows(source, case):
    """The set as this program writes it."""
    counts = source.counts(case.requests[0])
    return rows_of(counts, case.requests[0], settings_of(source, case), counted_at=NOW)


def by_statement(source, case):
    """The set as one statement gives it."""
    query = source.query_of([case.requests[0]])
    source.load_both(query)
    asked = set_statement(
        query, case.requests[0], settings_of(source, case), counted_at=NOW, rules=source.rules
    )
    columns = source.engine.columns(asked, about="the set")
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


def written(table, path):
    pq.write_table(table, path / "counts.parquet")
    return f"counts://{path}/*.parquet"


@pytest.mark.parametrize("make", [by_rows, by_statement])
@pytest.mark.parametrize("name", NAMES)
def test_it_gives_back_what_was_counted(name, make, tmp_path):
    case = CASES[name]
    with closing(opened(case)) as source:
        expected = source.counts(case.requests[0])
        address = written(make(source, case), tmp_path)
    with closing(opened(case, address)) as counts:
        found = counts.counts(case.requests[0])

    assert_equal(found, replace(expected, reviewers=()))
    assert found.rules == expected.rules
    assert len(set(found.history.tolist())) > 3


def test_counts_of_complaints_alone_are_refused(tmp_path):
    case = CASES[NAMES[0]]
    with closing(opened(case)) as source:
        table = by_rows(source, case)
        settings = replace(settings_of(source, case), states=None)
    alone = table.set_column(
        table.schema.get_field_index("settings"),
        "settings",
        pa.array([settings.text] * len(table)),
    )
    with (
        closing(opened(case, written(alone, tmp_path))) as counts,
        pytest.raises(InputError, match=r"of other settings: states is None there and \d+ here"),
    ):
        counts.counts(case.requests[0])


def test_counts_with_reviews_are_refused_without_them(tmp_path):
    case = CASES[NAMES[0]]
    with closing(opened(case)) as source:
        address = written(by_rows(source, case), tmp_path)
    with (
        closing(
            open_source(address, case.made, address, case.known, score_scale=case.scale)
        ) as counts,
        pytest.raises(InputError, match=r"of other settings: states is \d+ there and None here"),
    ):
        counts.counts(case.requests[0])


def test_all_tables_are_one(tmp_path):
    case = CASES[NAMES[0]]
    with pytest.raises(InputError, match="all tables must name the same source"):
        open_source(
            "counts://a/*.parquet",
            case.made,
            "counts://a/*.parquet",
            case.known,
            reviews=[("reviews.parquet", case.reviewed)],
        )
