"""Files of a table whose log says which of them count: refused, since deleted rows are in them."""

from __future__ import annotations

from contextlib import closing

import polars as pl
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.sources.one_table.scored_rows import read_scored_rows
from pumonitor.sources.opening import open_source
from tests.sources.small_tables import (
    LABELS,
    NOW,
    PREDICTIONS,
    counts,
    described,
    known,
    made,
    message_of,
)

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

BECAUSE = "rows that were deleted or replaced are in them as well and would be counted; "
REMEDY = (
    "write the rows that the table has now to Parquet files in a folder outside it and name these, "
    "or in Python hand over a data frame of its rows"
)
LINES = {
    "a Delta table": "write delta://{} instead (pip install 'pumonitor[delta]')",
    "an Iceberg table": (
        "write iceberg://CATALOG/NAMESPACE.TABLE, the table's name in its catalog, instead "
        "(pip install 'pumonitor[iceberg]')"
    ),
    "a Hudi table": REMEDY,
}


def table(folder, log, *, below=""):
    """A table with two files, of which the log knows one by now, and the folder it is in."""
    root = folder / "lake" / "predictions"
    data = root / below
    data.mkdir(parents=True)
    (root / log).parent.mkdir()
    (root / log).write_text("{}")
    for place in range(2):
        pl.from_pandas(made()).write_parquet(data / f"part-{place}.parquet")
    return root


def refusal(root, name, kind, log, remedy):
    said = f"{name} names files of {kind}, {root} (its {log} lists which of them are current): "
    return said + BECAUSE + remedy


@pytest.mark.parametrize(
    ("log", "kind", "below", "patterns"),
    [
        (
            "_delta_log/00000000000000000000.json",
            "a Delta table",
            "",
            ["*.parquet", "part-0.parquet", "**/*.parquet", "../*/*.parquet", "../**/*.parquet"],
        ),
        (
            "_delta_log/00000000000000000007.json",
            "a Delta table",
            "day=1/hour=3",
            ["day=*/hour=*/*.parquet", "day=1/hour=3/part-1.parquet", "**/*.parquet"],
        ),
        ("metadata/v3.metadata.json", "an Iceberg table", "data/day=1", ["data/*/*.parquet"]),
        ("metadata/00001-a.metadata.json", "an Iceberg table", "day=1", ["*/*.parquet"]),
        (".hoodie/hoodie.properties", "a Hudi table", "2026/01/05", ["*/*/*/*.parquet"]),
    ],
)
def test_a_pattern_inside_a_table_is_refused(tmp_path, log, kind, below, patterns):
    root = table(tmp_path, log, below=below)
    for pattern in patterns:
        name = f"{root}/{pattern}"
        about = (root, name, kind, log.partition("/")[0])
        expected = refusal(*about, LINES[kind].format(root))
        assert message_of(counts, name, known()) == expected
        assert message_of(described, made(), name) == expected
        assert message_of(read_scored_rows, name, labels="l", thresholds={"a": None}) == expected


def test_a_link_into_a_table_is_refused_as_well(tmp_path):
    root = table(tmp_path, "_delta_log/0.json", below="day=1")
    (tmp_path / "current").symlink_to(root / "day=1")
    name = f"{tmp_path}/current/*.parquet"
    remedy = LINES["a Delta table"].format(root)
    expected = refusal(root, name, "a Delta table", "_delta_log", remedy)
    assert message_of(counts, name, known()) == expected


def test_its_folder_is_no_folder_of_files(tmp_path):
    root = table(tmp_path, "_delta_log/0.json")
    remedy = LINES["a Delta table"].format(root)
    expected = refusal(root, str(root), "a Delta table", "_delta_log", remedy)
    assert message_of(counts, root, known()) == expected


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "{}", "--labels", "l", "--scores", "s"),
        ("compare", "{}", "--labels", "l", "--scores", "s,t"),
        ("estimate-prior", "{}", "--labels", "l", "--scores", "s"),
        ("init", "{}", "confirmed.csv", "--yes"),
        ("init", "{}", "--yes"),
    ],
)
def test_commands_refuse_it_with_status_2(tmp_path, command):
    root = table(tmp_path, "_delta_log/0.json")
    name = root if command[0] == "init" else f"{root}/*.parquet"
    done = CliRunner().invoke(app, [one.format(name) for one in command])
    assert done.exit_code == 2
    assert "files of a Delta table" in done.stderr
    assert BECAUSE + LINES["a Delta table"].format(root) in done.stderr


def test_what_looks_a_little_like_a_table_is_read(tmp_path):
    """Metadata of something else, an empty folder, and an Iceberg table beside the files."""
    scored = tmp_path / "scored" / "day=1"
    scored.mkdir(parents=True)
    pl.from_pandas(made()).write_parquet(scored / "p.parquet")
    (tmp_path / "scored" / "metadata").mkdir()
    (tmp_path / "scored" / "metadata" / "notes.json").write_text("{}")
    (tmp_path / "scored" / "_delta_log").mkdir()
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "v1.metadata.json").write_text("{}")
    table(tmp_path, "_delta_log/0.json")
    for pattern in ("scored/*/*.parquet", "lake/predictions/../../scored/*/*.parquet"):
        assert counts(str(tmp_path / pattern), known()).found.predictions == 4


def test_what_the_message_names_works(tmp_path):
    """The rows that count, in a folder outside or as frames, are those of the file the log has."""
    root = table(tmp_path, "_delta_log/0.json")
    current = pl.read_parquet(root / "part-1.parquet").head(3)
    outside = tmp_path / "now"
    outside.mkdir()
    current.write_parquet(outside / "p.parquet")
    for table_now in (str(outside / "*.parquet"), current, current.lazy(), current.to_arrow()):
        source = open_source(table_now, PREDICTIONS, known(), LABELS, clock=lambda: NOW)
        with closing(source):
            assert source.describe().predictions == 3
