"""The embedded database reads the named files and nothing else."""

import pytest

from pumonitor.errors import PumonitorError
from pumonitor.sources.reach.locations import locate
from pumonitor.sources.reach.session import open_session


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "named.csv").write_text("y,s\n1,0.5\n")
    (tmp_path / "other.csv").write_text("secret\nvalue\n")
    return tmp_path


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{folder}/other.csv')",
        "SELECT * FROM read_text('{folder}/other.csv')",
        "SELECT * FROM glob('{folder}/*')",
        "COPY (SELECT 1) TO '{folder}/written.csv'",
        "ATTACH '{folder}/new.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "SELECT * FROM folder",
    ],
)
def test_nothing_beyond_the_named_files_can_be_reached(folder, sql):
    with (
        open_session(locate(folder / "named.csv")) as session,
        pytest.raises(PumonitorError, match="cannot be read"),
    ):
        session.rows(sql.format(folder=folder))
    assert sorted(path.name for path in folder.iterdir()) == ["named.csv", "other.csv"]
