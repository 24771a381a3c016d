"""`--entity` of evaluate, compare and decide: the same numbers as in Python, and what is said."""

import json

import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from tests.metrics.test_entities import some_rows

LABELS, SCORES, ENTITY = some_rows()
USUAL = ("--labels", "y", "--threshold", "1.5", "--class-prior", "0.4", "--entity", "card")


def run(*arguments):
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("cards") / "scored.parquet"
    columns = {"y": LABELS, "score": SCORES, "card": ENTITY, "other": SCORES**3}
    pa.parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("most_exact", [5_000_000, 0])
def test_evaluate_counts_labels_by_entity(file, most_exact):
    result = run(
        *("evaluate", file, "--scores", "score", *USUAL, "--json"),
        *("--max-rows-exact", most_exact),
    )
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    expected = pumonitor.evaluate(
        LABELS, SCORES, threshold=1.5, class_prior=0.4, entity=ENTITY, rng=0
    )
    assert found["settings"]["labeled_entities"] == 60
    exact = most_exact > 0
    for name in ("recall", "aul"):
        for end in ("low", "high"):
            assert found["estimates"][name][end] == pytest.approx(
                getattr(expected[name], end), abs=1e-12 if exact else 0.02
            )


def test_evaluate_says_what_shared_entities_leave(file):
    said = " ".join(run("evaluate", file, "--scores", "score", *USUAL).stdout.split())
    assert "confirmed cases are of 60 entities and tell as much as" in said


def test_compare_and_decide_take_it(file):
    compared = run("compare", file, "--scores", "score,other", *USUAL, "--json")
    assert json.loads(compared.stdout)["settings"]["labeled_entities"] == 60
    decided = json.loads(run("decide", file, "--scores", "score", *USUAL, "--json").stdout)
    expected = pumonitor.decide(
        LABELS, SCORES, threshold=1.5, class_prior=0.4, entity=ENTITY, rng=0
    )
    assert decided == json.loads(json.dumps(expected.to_dict()))


def test_a_column_that_is_not_there_is_named(file):
    arguments = [part if part != "card" else "carb" for part in USUAL]
    result = run("evaluate", file, "--scores", "score", *arguments)
    assert result.exit_code == 2
    assert "has no column 'carb' (entity); did you mean 'card'?" in " ".join(result.stderr.split())
