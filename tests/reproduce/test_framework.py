import json
import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.datasets import DatasetMissingError
from benchmarks.reproduce import cache, words
from benchmarks.reproduce.__main__ import main
from benchmarks.reproduce.catalog import all_rows, chosen
from benchmarks.reproduce.data import as_numbers, load
from benchmarks.reproduce.page import render_page
from benchmarks.reproduce.rows import (
    PAPERS,
    Figure,
    Row,
    RowResult,
    generator,
    monte_carlo_error,
)
from benchmarks.reproduce.run import Outcome, run_row, tally


def figure(ours, printed, rule, *, error=0.0, tolerance=0.0):
    return Figure(
        name="a number",
        ours=ours,
        error=error,
        printed=printed,
        rule=rule,
        tolerance=tolerance,
    )


@pytest.mark.parametrize(
    ("one", "inside"),
    [
        (figure(0.131, 0.1, "near", error=0.01), False),
        (figure(0.129, 0.1, "near", error=0.01), True),
        (figure(0.071, 0.1, "near", error=0.01), True),
        (figure(0.069, 0.1, "near", error=0.01), False),
        (figure(0.135, 0.1, "near", error=0.01, tolerance=0.006), True),
        (figure(0.121, 0.1, "at most", error=0.01), False),
        (figure(0.119, 0.1, "at most", error=0.01), True),
        (figure(-5.0, 0.1, "at most"), True),
        (figure(0.079, 0.1, "at least", error=0.01), False),
        (figure(0.081, 0.1, "at least", error=0.01), True),
        (figure(5.0, 0.1, "at least"), True),
        (figure(5.0, 0.1, "shown"), None),
        (figure(5.0, None, "shown"), None),
    ],
)
def test_a_number_is_judged_by_its_rule(one, inside):
    assert one.inside is inside


def test_a_figure_that_cannot_be_judged_is_refused():
    with pytest.raises(ValueError, match="rule 'near' needs a printed value"):
        figure(1.0, None, "near")
    with pytest.raises(ValueError, match="ours must be finite, got nan"):
        figure(math.nan, 1.0, "near")
    with pytest.raises(ValueError, match="rule must be one of"):
        figure(1.0, 1.0, "about")


def a_row(run=None, **changes):
    def count(repetitions, report):
        for repetition in range(repetitions):
            report(repetition + 1, repetitions)
        return RowResult(
            figures=(figure(float(repetitions), 3.0, "near"),),
            note="a note with <b>tags</b>",
            series={"x": [1.0, 2.0]},
        )

    row = Row(
        id="aul-a-row",
        paper="aul",
        title="A row",
        data=(),
        run=run or count,
        repetitions=3,
        quick=2,
    )
    return replace(row, **changes)


def run(row, folder, *, quick=False, fresh=False, report=lambda done, total: None):
    return run_row(row, folder=folder, quick=quick, fresh=fresh, report=report)


def test_a_stored_row_is_not_computed_again(tmp_path):
    calls = []

    def counted(repetitions, report):
        calls.append(repetitions)
        return a_row().run(repetitions, report)

    row = a_row(counted)
    first, second = run(row, tmp_path), run(row, tmp_path)
    assert calls == [3]
    assert not first.from_cache
    assert second.from_cache
    assert second.result.to_dict() == first.result.to_dict()
    assert run(row, tmp_path, fresh=True).from_cache is False
    assert calls == [3, 3]


def test_quick_results_are_kept_apart(tmp_path):
    row = a_row()
    run(row, tmp_path, quick=True)
    assert run(row, tmp_path).result.figures[0].ours == 3.0
    assert run(row, tmp_path, quick=True).result.figures[0].ours == 2.0


def test_a_row_whose_source_changed_is_computed_again(tmp_path, monkeypatch):
    row = a_row()
    run(row, tmp_path)
    monkeypatch.setattr(cache, "source_key", lambda row, repetitions: "another")
    assert run(row, tmp_path).from_cache is False


def test_the_key_follows_settings_and_source_but_not_pictures(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_HERE", tmp_path)
    (tmp_path / "aul.py").write_text("one = 1")
    (tmp_path / "models.py").write_text("forest = 1")
    before = cache.source_key(a_row(), 3)
    assert cache.source_key(a_row(), 4) != before
    assert cache.source_key(a_row(data=("iris",)), 3) != before
    (tmp_path / "aul_charts.py").write_text("red = 1")
    (tmp_path / "models.py").write_text("forest = 2")
    assert cache.source_key(a_row(), 3) == before
    (tmp_path / "aul_settings.py").write_text("from benchmarks.reproduce.models import forest")
    after = cache.source_key(a_row(), 3)
    assert after != before
    (tmp_path / "models.py").write_text("forest = 3")
    assert cache.source_key(a_row(), 3) != after


def test_half_a_file_is_as_good_as_none(tmp_path):
    row = a_row()
    run(row, tmp_path)
    (stored,) = (tmp_path / "rows").iterdir()
    stored.write_text(stored.read_text()[:40])
    assert run(row, tmp_path).from_cache is False


def test_no_infinity_is_stored(tmp_path):
    row = a_row(lambda repetitions, report: RowResult(figures=(), series={"x": [float("inf")]}))
    with pytest.raises(ValueError, match="Out of range float"):
        run(row, tmp_path)
    assert not (tmp_path / "rows").exists()


def test_a_row_without_data_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PUMONITOR_DATA", "nowhere")
    load.cache_clear()
    outcome = run(a_row(data=("wilt",)), tmp_path)
    assert outcome.result is None
    assert outcome.missing == (
        "no data set 'wilt': looked at nowhere/wilt.parquet, nowhere/wilt.zip"
    )
    assert tally([outcome]).without_data == 1


def test_the_count_of_what_came_out(tmp_path):
    rows = [
        a_row(
            lambda repetitions, report: RowResult(
                figures=(
                    figure(1.0, 1.0, "near"),
                    figure(2.0, 1.0, "near"),
                    figure(2.0, 1.0, "shown"),
                )
            )
        ),
        a_row(data=("no_such_set",), id="aul-other"),
    ]
    outcomes = [run(row, tmp_path) for row in rows]
    assert str(tally(outcomes)) == "1 of 2 inside, 1 without printed value, 1 without data"


def test_a_repetition_has_its_own_stream():
    assert generator("a", 1).random() == generator("a", 1).random()
    values = {
        generator(row, repetition, purpose=purpose).random()
        for row in ("a", "b")
        for repetition in (0, 1)
        for purpose in ("", "labels")
    }
    assert len(values) == 8


def test_monte_carlo_error_is_that_of_a_mean():
    assert monte_carlo_error([1.0, 3.0, 8.0]) == pytest.approx(math.sqrt(13.0) / math.sqrt(3))
    assert monte_carlo_error([1.0]) == 0.0


def test_iris_comes_from_the_package_when_the_folder_is_empty(tmp_path, monkeypatch):
    monkeypatch.setenv("PUMONITOR_DATA", str(tmp_path))
    load.cache_clear()
    try:
        iris = load("iris")
        assert iris.features.shape == (150, 4)
        assert sorted(set(iris.target)) == ["setosa", "versicolor", "virginica"]
        with pytest.raises(DatasetMissingError, match="'mushroom'"):
            load("mushroom")
    finally:
        load.cache_clear()


def test_text_becomes_one_column_a_value_and_missing_text_another():
    import pandas

    frame = pandas.DataFrame(
        {
            "size": [1.5, None, 3.0],
            "color": ["red", None, "blue"],
            "target": [0, 1, 1],
            "meta_split": ["train", "test", "train"],
        }
    )
    small = as_numbers("small", frame)
    np.testing.assert_array_equal(
        small.features,
        [[1.5, 0.0, 1.0, 0.0], [np.nan, 0.0, 0.0, 1.0], [3.0, 1.0, 0.0, 0.0]],
    )
    assert small.target.tolist() == [0, 1, 1]
    assert small.meta["meta_split"].tolist() == ["train", "test", "train"]


def test_every_row_can_be_told_apart_and_belongs_to_a_paper():
    rows = all_rows()
    assert len({row.id for row in rows}) == len(rows)
    assert {row.paper for row in rows} <= set(PAPERS)
    assert all(row.id.startswith(row.paper) for row in rows)
    assert all(row.quick <= row.repetitions for row in rows)


def test_rows_are_chosen_by_paper_or_by_part_of_their_id():
    rows = all_rows()
    assert {row.paper for row in chosen(rows, "aul")} == {"aul"}
    assert {row.id for row in chosen(rows, "figure4")} >= {"tabatabaei-figure4-iris"}
    assert chosen(rows, None) == rows
    assert [row.id for row in chosen(rows, "aul-figure1")] == ["aul-figure1"]
    with pytest.raises(ValueError, match=r"no paper or row 'nonsense' \(there are tabatabaei, "):
        chosen(rows, "nonsense")
    with pytest.raises(ValueError, match=r"'aul-figure11'; did you mean 'aul-figure1'\?"):
        chosen(rows, "aul-figure11")


def test_the_page_shows_numbers_verdicts_and_no_markup_from_notes(tmp_path):
    page = render_page([run(a_row(), tmp_path)])
    assert "1 of 1 numbers agree with the print." in page
    assert "a note with &lt;b&gt;tags&lt;/b&gt;" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_page_says_what_is_outside(tmp_path):
    row = a_row(repetitions=7)
    page = render_page([run(row, tmp_path)])
    assert "0 of 1 numbers agree with the print." in page
    assert '<td class="outside">outside</td>' in page


def test_a_row_without_data_has_its_place_on_the_page():
    page = render_page(
        [Outcome(row=a_row(), repetitions=3, result=None, missing="no data set 'x'")]
    )
    assert "no data set &#39;x&#39;" in page


@pytest.mark.parametrize(
    ("one", "ours", "printed"),
    [
        (figure(0.0740, 0.07, "near", error=0.0123), "0.074 ± 0.012", "0.070"),
        (figure(0.0101, 0.0096, "near", error=0.0002), "0.0101 ± 0.0002", "0.0096"),
        (figure(0.5, 0.0, "at least"), "0.500", "≥ 0"),
        (figure(4177.0, 4177.0, "near"), "4177", "4177"),
        (figure(1.25, None, "shown"), "1.250", "–"),
    ],
)
def test_numbers_are_written_to_the_digits_they_have(one, ours, printed):
    assert words.ours(one) == ours
    assert words.printed(one) == printed


def test_the_command_prints_the_table_writes_the_page_and_counts(tmp_path, capsys):
    status = main(["--only", "aul-figure1", "--quick", "--folder", str(tmp_path)])
    shown = capsys.readouterr()
    assert status == 0
    assert "AUL from the labels" in shown.out
    assert shown.out.splitlines()[-1] == "4 of 4 inside, 0 without printed value, 0 without data"
    assert "aul-figure1: computed" in shown.err
    page = tmp_path / "only-aul-figure1-quick.html"
    assert page.read_text().count("<svg") == 1
    stored = json.loads((tmp_path / "rows" / "aul-figure1-1.json").read_text())
    assert stored["row"] == "aul-figure1"


def test_the_command_refuses_a_row_that_is_not_there(capsys):
    assert main(["--only", "nonsense"]) == 2
    assert "no paper or row 'nonsense'" in capsys.readouterr().err


def test_only_the_strict_command_ends_with_one_when_a_number_is_outside(
    tmp_path, monkeypatch, capsys
):
    from benchmarks.reproduce import __main__ as command

    monkeypatch.setattr(command, "all_rows", lambda: (a_row(repetitions=7),))
    assert main(["--folder", str(tmp_path)]) == 0
    assert "0 of 1 inside" in capsys.readouterr().out
    assert main(["--folder", str(tmp_path), "--strict"]) == 1
