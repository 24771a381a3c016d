"""Small tables are read as text, the same wherever they are and whatever their types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy

from pumonitor.errors import InputError, SourceError
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.text_columns import read_text_columns

COLUMNS = {"order id": "id", "said": "verdict", "who": "reviewer"}
FRAME = pd.DataFrame(
    {"order id": [17, 18, 900719925474099312], "said": [1, 0, 1], "who": ["ann", None, "it's"]}
)
WANTED = {
    "id": ["17", "18", "900719925474099312"],
    "verdict": ["1", "0", "1"],
    "reviewer": ["ann", None, "it's"],
}


def stored(kind: str, folder: Path, request: pytest.FixtureRequest) -> Any:
    path = folder / f"verdicts.{kind}"
    if kind == "parquet":
        FRAME.to_parquet(path)
        return str(path)
    if kind == "csv":
        FRAME.to_csv(path, index=False)
        return str(path)
    if kind == "json":
        FRAME.to_json(path, orient="records", lines=True)
        return str(path)
    url = f"sqlite:///{folder / 'store.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("postgresql")
    engine = sqlalchemy.create_engine(url)
    FRAME.to_sql("text_verdicts", engine, index=False, if_exists="replace")
    engine.dispose()
    if kind == "query":
        return SqlQuery(url=url, query="SELECT * FROM text_verdicts WHERE said IS NOT NULL")
    return SqlTable(url=url, table="text_verdicts")


@pytest.mark.parametrize("kind", ["parquet", "csv", "json", "sqlite", "query", "postgresql"])
def test_every_place_gives_the_same_text(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    place = stored(kind, tmp_path, request)
    assert read_text_columns(place, COLUMNS, name="verdicts") == WANTED
    with pytest.raises(InputError, match=r"no column 'sad'.*did you mean 'said'"):
        read_text_columns(place, {**COLUMNS, "sad": "at"}, name="verdicts")


def test_a_pattern_that_matches_nothing_has_no_rows_and_a_database_that_is_away_says_so(
    tmp_path: Path,
) -> None:
    found = read_text_columns(str(tmp_path / "*.csv"), COLUMNS, name="verdicts")
    assert found == {"id": [], "verdict": [], "reviewer": []}
    away = SqlTable(url="postgresql+psycopg://me:kanarienvogel@127.0.0.1:1/db", table="t")
    with pytest.raises(SourceError) as caught:
        read_text_columns(away, COLUMNS, name="verdicts")
    assert "kanarienvogel" not in str(caught.value)
