"""Files that cannot be used: one message that says what, where, how often and what to do."""

import re

import pyarrow as pa
import pyarrow.parquet
import pytest

from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.sources import read_score_table


def message_of(path, error=InputError, **options) -> str:
    settings = {"labels": "y", "scores": "s", "threshold": 0.5} | options
    with pytest.raises(error) as caught:
        read_score_table(path, **settings)
    return str(caught.value)


def write_csv(folder, text: str, name: str = "a.csv"):
    file = folder / name
    file.write_text(text)
    return file


def write_parquet(folder, columns, names=None, name: str = "a.parquet"):
    table = pa.table(columns) if names is None else pa.table(columns, names=names)
    pa.parquet.write_table(table, folder / name)
    return folder / name


CSV = {
    "missing labels": (
        "y,s\n1,0.5\n,0.2\nNA,0.3\n0,0.1\n",
        "labels column 'y' of {file} has 2 missing values in 4 rows, first in row 2; an unlabeled "
        "row must have label 0, and a missing label is not the same; use 1 for a confirmed "
        "positive, 0 for unlabeled, -1 for a confirmed negative",
    ),
    "unknown labels": (
        "y,s\n1,0.5\n2,0.2\n0,0.3\n2,0.1\n3,0.1\n",
        "labels column 'y' of {file} has 3 values other than 1, 0 and -1 in 5 rows: '2' (2 times), "
        "'3' (1 times), first in row 2; use 1 for",
    ),
    "words for labels": (
        "y,s\nyes,0.5\nno,0.2\nno,0.3\n",
        "has 3 values other than 1, 0 and -1 in 3 rows: 'no' (2 times), 'yes' (1 times), first in "
        "row 1; use 1 for",
    ),
    "missing scores": (
        "y,s\n1,0.5\n0,NaN\n0,\n",
        "scores column 's' of {file} has 2 missing values in 3 rows, first in row 2; a row without "
        "a score was not scored; drop it or repair the scoring job",
    ),
    "infinite scores": (
        "y,s\n1,0.5\n0,-inf\n0,0.1\n",
        "has 1 infinite values in 3 rows: '-inf' (1 times), first in row 2; clip the scores",
    ),
    "text scores": (
        "y,s\n1,0.5\n0,high\n0,0.1\n",
        "has 1 values that are not numbers in 3 rows: 'high' (1 times), first in row 2; name the "
        "column that holds the model's score",
    ),
    "decimal comma": (
        "y;s\n1;0,5\n0;0,25\n0;0,1\n",
        "the numbers have a decimal comma: write them with a decimal point",
    ),
    "constant scores": (
        "y,s\n1,0.5\n0,0.5\n0,0.5\n",
        "scores column 's' of {file} is 0.5 in all 3 rows: a constant score ranks nothing; check",
    ),
    "no rows": ("y,s\n", "{file} has no rows: there is nothing to evaluate; check the filter"),
    "no header": (
        "1,0.5\n0,0.2\n",
        "a.csv has no column 'y' (labels); its columns are '1', '0.5'",
    ),
    "blank first line": ("\n\n", "a.csv has no header line: its first line must name the columns"),
    "repeated column": (
        "y,s,s\n1,0.5,7\n0,0.2,8\n",
        "a.csv has 2 columns named 's' (scores): rename all but one of them",
    ),
    "ragged rows": (
        "y,s\n1,0.5\n0,0.2,7\n0,0.1\n",
        "{file} cannot be read: Line: 3, Original Line: 0,0.2,7, Expected Number of Columns: 2 "
        "Found: 3",
    ),
}


@pytest.mark.parametrize("case", CSV)
def test_csv_is_refused_with_a_message_that_teaches(tmp_path, case):
    text, expected = CSV[case]
    file = write_csv(tmp_path, text)
    assert expected.format(file=file) in message_of(file)


def test_the_same_is_said_of_files_too_long_for_memory(tmp_path):
    for text, expected in CSV.values():
        file = write_csv(tmp_path, text)
        assert expected.format(file=file) in message_of(file, max_rows_exact=0)


PARQUET = {
    "strings that look like labels": (
        {"y": ["1", "0", "1"], "s": [0.1, 0.2, 0.3]},
        "has 3 values other than 1, 0 and -1 in 3 rows (the column is stored as VARCHAR): "
        "'1' (2 times), '0' (1 times), first in row 1; use 1 for",
    ),
    "strings for scores": (
        {"y": [1, 0, 1], "s": ["0.1", "0.2", "0.3"]},
        "has 3 values that are not numbers in 3 rows (the column is stored as VARCHAR): '0.1'",
    ),
    "null labels": (
        {"y": [1, None, 0], "s": [0.1, 0.2, 0.3]},
        "has 1 missing values in 3 rows (the column is stored as BIGINT), first in row 2; an unl",
    ),
    "label that wraps to 1 in eight bits": (
        {"y": [1, 257, 0], "s": [0.1, 0.2, 0.3]},
        "has 1 values other than 1, 0 and -1 in 3 rows (the column is stored as BIGINT): '257'",
    ),
    "two columns of scores in a list": (
        {"y": [1, 0, 1], "s": [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]},
        "has 3 values that are not numbers in 3 rows (the column is stored as DOUBLE[]): "
        "'[0.1, 0.9]'",
    ),
    "NaN scores": (
        {"y": [1, 0, 1], "s": [0.1, float("nan"), 0.3]},
        "has 1 missing values in 3 rows (the column is stored as DOUBLE)",
    ),
}


@pytest.mark.parametrize("case", PARQUET)
def test_parquet_is_refused_with_a_message_that_teaches(tmp_path, case):
    columns, expected = PARQUET[case]
    assert expected in message_of(write_parquet(tmp_path, columns))


def test_repeated_parquet_column_is_refused(tmp_path):
    columns = [pa.array([1, 0, 1]), pa.array([0.1, 0.2, 0.3]), pa.array([7.0, 8.0, 9.0])]
    file = write_parquet(tmp_path, columns, names=["y", "s", "s"])
    assert (
        message_of(file) == "a.parquet has 2 columns named 's' (scores): rename all but one of them"
    )


def test_an_unknown_column_is_answered_with_the_nearest_names(tmp_path):
    file = write_csv(tmp_path, "confirmed,score,score_old\n1,0.5,1\n0,0.2,2\n")
    assert message_of(file, labels="confirmed", scores="Scores") == (
        "a.csv has no column 'Scores' (scores); did you mean 'score' or 'score_old'?"
    )


def test_one_column_cannot_be_labels_and_scores(tmp_path):
    file = write_csv(tmp_path, "y,s\n1,0.5\n")
    assert message_of(file, scores="y") == (
        "labels and scores both name the column 'y': they must differ"
    )


def test_too_few_positives_are_refused_with_column_and_file(tmp_path):
    file = write_csv(tmp_path, "y,s\n0,0.5\n0,0.2\n")
    for max_rows in (100, 0):
        said = message_of(file, TooFewPositivesError, max_rows_exact=max_rows)
        assert said.startswith(f"labels column 'y' of {file}: ")
        assert "2 rows" in said


def test_weights_and_propensities_out_of_range_are_refused(tmp_path):
    file = write_csv(tmp_path, "y,s,w,e\n1,0.5,0,0.5\n0,0.2,2,7\n1,0.1,nan,1.5\n")
    assert message_of(file, sample_weight="w") == (
        f"sample_weight column 'w' of {file} has 2 values that are not finite numbers above 0 in 3 "
        "rows: '0' (1 times), first in row 1; give every row a weight"
    )
    assert "propensity column 'e'" in message_of(file, propensity="e")
    assert "has 1 values on labeled rows that are not above 0 and at most 1 in 3 rows: '1.5'" in (
        message_of(file, propensity="e")
    )


def test_the_row_is_counted_in_the_file_that_holds_it(tmp_path):
    write_csv(tmp_path, "y,s\n1,0.5\n0,0.2\n", name="p1.csv")
    write_csv(tmp_path, "y,s\n1,0.5\n0,0.4\n5,0.2\n", name="p2.csv")
    assert "in 5 rows: '5' (1 times), first in row 3 of p2.csv; use" in message_of(
        tmp_path / "p*.csv"
    )


def test_the_first_bad_row_is_found_deep_in_a_long_file(tmp_path):
    rows = ["1,0.5", "0,0.25"] * 150_000
    rows[270_000] = "1,abc"
    file = write_csv(tmp_path, "y,s\n" + "\n".join(rows) + "\n")
    assert "'abc' (1 times), first in row 270001; " in message_of(file)


def test_a_missing_file_is_answered_with_the_nearest_name(tmp_path):
    write_csv(tmp_path, "y,s\n", name="scored.csv")
    assert message_of(tmp_path / "score.csv") == (
        f"there is no file {tmp_path}/score.csv; did you mean {tmp_path}/scored.csv?"
    )
    assert "there is no file" in message_of(tmp_path / "zzz.parquet")
    assert "the directory" in message_of(tmp_path / "nowhere" / "a.csv")
    assert re.match("no file matches .*: check the pattern", message_of(tmp_path / "x*.csv"))


def test_directories_addresses_and_other_kinds_are_refused(tmp_path):
    write_csv(tmp_path, "y,s\n", name="part.csv")
    assert message_of(tmp_path) == (
        f"{tmp_path} is a directory: name the files in it, for example '{tmp_path}/*.csv'"
    )
    assert "is an address (s3), and only files on this machine" in message_of("s3://b/a.parquet")
    assert "is neither Parquet nor named like CSV" in message_of(
        write_csv(tmp_path, "y,s\n", name="a.xlsx")
    )
    assert "is not Parquet although its name says so" in message_of(
        write_csv(tmp_path, "y,s\n", name="a.parquet")
    )
    assert "is empty (0 bytes)" in message_of(write_csv(tmp_path, "", name="b.csv"))
    write_parquet(tmp_path, {"y": [1, 0], "s": [0.1, 0.2]}, name="part.parquet")
    assert "matches both CSV and Parquet" in message_of(tmp_path / "part.*")


def test_a_damaged_parquet_file_is_refused(tmp_path):
    file = write_parquet(tmp_path, {"y": [1, 0] * 500, "s": [0.1, 0.2] * 500})
    file.write_bytes(file.read_bytes()[:-40])
    assert message_of(file).startswith(f"{file} cannot be read: ")


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    file = tmp_path / "latin.csv"
    file.write_bytes("y,s\n1,0.5\n0,0.2\ncaf\xe9,1\n".encode("latin1"))
    assert "Line: 4" in message_of(file)
