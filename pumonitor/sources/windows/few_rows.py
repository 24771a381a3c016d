"""A few rows that came from an engine elsewhere, with their labels, counted by the embedded one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pumonitor.sources.column_types.column_kinds import Relation
from pumonitor.sources.column_types.time_columns import TimeColumn
from pumonitor.sources.reach.places import connect
from pumonitor.sources.reach.session import Session
from pumonitor.sources.windows.answers import Answers
from pumonitor.sources.windows.answers_here import answers_here
from pumonitor.sources.windows.counts_query import CountQuery
from pumonitor.sources.windows.counts_rows import PredictionTable
from pumonitor.sources.windows.different_ids import seen_ids
from pumonitor.sources.windows.duckdb_answers import DuckDBAnswers, described
from pumonitor.sources.windows.labels_in_arrow import arrow_column, as_received
from pumonitor.sources.windows.slices import slices_of

if TYPE_CHECKING:
    import pyarrow as pa


class FewRows:
    """The rows of the windows that labels are about, and these labels.

    Parameters
    ----------
    query : CountQuery
        What was asked of all rows.
    rows : pyarrow.Table
        As `rows_told_apart` gives them.
    labels : pyarrow.Table
        Of `labels_in_arrow`.
    has_each_once : bool
        Whether no id stands in them more than once.
    """

    def __init__(
        self, query: CountQuery, *, rows: pa.Table, labels: pa.Table, has_each_once: bool
    ) -> None:
        self._engine = _ArrowTables(connect((), without=()))
        self._rows = rows
        self._labels = labels.num_rows
        made = self._relation(query, rows)
        known = self._engine.receive(labels, name=query.labels.relation.name, key=query.key)
        self._query = replace(
            query,
            predictions=_described(query, made),
            labels=replace(as_received(query.labels, known), has_each_once=has_each_once),
            dialect=self._engine.dialect,
            only=None,
        )

    def answers(self) -> Answers:
        """All but labels without prediction."""
        with self._engine.snapshot():
            seen = seen_ids(self._engine, self._query)
            slices = slices_of(seen, labels=self._labels, dialect=self._engine.dialect)
            return answers_here(self._engine, self._query, seen, slices)

    def sought(self) -> pa.Array:
        """Ids of labels known in the windows that no row has."""
        statement = self._query.still_unmatched(self._query.between)
        found = self._engine.columns(statement, about=self._query.labels.relation.name)
        # What became known in several windows is one id.
        return arrow_column(found["id"], self._rows.schema.field("id").type).unique()

    def orphans(self, elsewhere: pa.Array) -> dict[int, int]:
        """Rows of labels known in each window whose id neither a row nor a prediction has."""
        import pyarrow as pa

        ids = pa.chunked_array([*self._rows["id"].chunks, elsewhere])
        every = self._relation(self._query, pa.table({"id": ids}))
        query = replace(self._query, predictions=replace(self._query.predictions, relation=every))
        told = self._engine.rows(query.orphans(), about=query.labels.relation.name)
        return {(int(row[0]) if query.by_known else -1): int(row[-1]) for row in told}

    def close(self) -> None:
        """Let go of them."""
        self._engine.close()

    def _relation(self, query: CountQuery, rows: pa.Table) -> Relation:
        about = query.predictions.relation.name
        return self._engine.relation(rows, role=about, columns={}, parameters={})


class _ArrowTables(DuckDBAnswers):
    """The embedded library over tables that are all here."""

    def relation(
        self,
        table: object,
        *,
        role: str,
        columns: Mapping[str, str],
        parameters: Mapping[str, object],
    ) -> Relation:
        """A table with its columns, in place of the one before."""
        del columns, parameters
        view = "pumonitor_arrow"
        self._connection.register(view, table)
        session = Session(self._connection, name=role, progress=None)
        return Relation(name=role, sql=view, columns=described(session, view))


def _described(query: CountQuery, relation: Relation) -> PredictionTable:
    columns = relation.columns
    return PredictionTable(
        relation=relation,
        id=columns["id"],
        time=TimeColumn(column=columns["made"], zone=None, unit="us"),
        score=columns["score"],
        model_version=columns.get("model_version"),
        segments=tuple(columns[name] for name in query.segments),
        only_probabilities=query.predictions.only_probabilities,
    )
