"""`pumonitor evaluate`: what it prints, its exit status, and where each thing goes."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from pumonitor.text import percent_text

THRESHOLD = 1.0


def run(*arguments, columns: int = 100):
    runner = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    positive = rng.random(4000) < 0.12
    scores = np.round(rng.normal(1.8 * positive), 2)
    return (positive & (rng.random(4000) < 0.4)).astype(int), scores


@pytest.fixture(scope="module")
def folder(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("scored")
    labels, scores = rows
    pa.parquet.write_table(pa.table({"y": labels, "s": scores}), folder / "all.parquet")
    lines = [f"{y},{s}" for y, s in zip(labels.tolist(), scores.tolist(), strict=True)]
    (folder / "all.csv").write_text("y,s\n" + "\n".join(lines) + "\n")
    (folder / "part1.csv").write_text("y,s\n" + "\n".join(lines[:1500]) + "\n")
    (folder / "part2.csv").write_text("y,s\n" + "\n".join(lines[1500:]) + "\n")
    return folder


def arguments(file, **options):
    given = {"labels": "y", "scores": "s", "threshold": THRESHOLD, "class_prior": 0.12} | options
    flat = [(f"--{name.replace('_', '-')}", value) for name, value in given.items()]
    return ["evaluate", file, *(part for pair in flat for part in pair)]


def evaluation(file, **options):
    result = run(*arguments(file, **options), "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_json_is_the_evaluation_and_nothing_else(folder, rows):
    found = evaluation(folder / "all.csv")
    assert sorted(found) == [
        "assumption",
        "bounds",
        "class_prior",
        "curves",
        "estimates",
        "schema_version",
        "settings",
        "warnings",
    ]
    expected = pumonitor.evaluate(*rows, threshold=THRESHOLD, class_prior=0.12, rng=0).to_dict()
    assert found["estimates"] == json.loads(json.dumps(expected["estimates"]))


def test_csv_parquet_and_a_glob_of_parts_give_the_same_numbers(folder):
    files = ("all.csv", "all.parquet", "part*.csv")
    first, second, third = (evaluation(folder / name)["estimates"] for name in files)
    assert first == second == third


def test_counts_by_bin_agree_with_rows_within_their_resolution(folder):
    exact = evaluation(folder / "all.csv")
    binned = evaluation(folder / "all.csv", max_rows_exact=100)
    resolution = binned["settings"]["resolution"]
    for name in ("aul", "auc", "recall", "precision", "f1"):
        difference = binned["estimates"][name]["value"] - exact["estimates"][name]["value"]
        assert abs(difference) <= 2 * resolution + 1e-12


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_the_table_fits_the_terminal_and_holds_every_group(folder, columns):
    result = run(*arguments(folder / "all.csv"), columns=columns)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert "…" not in result.stdout
    for heading in (
        "At the chosen threshold",
        "Ranking, whatever the threshold",
        "How many positives there are",
        "At the best threshold",
        "In the highest scores",
    ):
        assert heading in result.stdout
    (precision,) = [line for line in lines if line.startswith("  Precision  ")]
    assert " to " in precision
    assert "95% interval" in result.stdout
    assert "Share of positives: 12%, taken as known" in result.stdout


def test_meanings_are_said_where_there_is_room(folder):
    meaning = "Of the real positives, the share the model flags"
    assert meaning not in run(*arguments(folder / "all.csv"), columns=100).stdout
    assert meaning in run(*arguments(folder / "all.csv"), columns=160).stdout


def test_warnings_and_impossible_values_are_said_in_words(folder):
    result = run(*arguments(folder / "all.csv", class_prior=0.9), columns=140)
    assert result.exit_code == 0
    assert "impossible)" in result.stdout
    assert "Warning: " in result.stdout


def test_what_stands_on_an_impossible_prior_is_marked(folder):
    lines = run(*arguments(folder / "all.csv", class_prior=0.9), columns=140).stdout.splitlines()

    def value_of(title):
        line = next(one for one in lines if one.startswith(f"  {title}  "))
        return line.removeprefix(f"  {title}").split()[0]

    for name in ("F1", "MCC", "Share of positives"):
        assert value_of(name).endswith("!"), name
    for name in ("AUL", "Recall"):
        assert not value_of(name).endswith("!"), name
    assert any(line.startswith("!: ") and "impossible" in line for line in lines)


def test_a_prior_below_what_is_confirmed_is_refused(folder):
    result = run(*arguments(folder / "all.csv", class_prior=0.001))
    assert result.exit_code == 2
    assert "class_prior=0.001 is impossible" in " ".join(result.output.replace("│", " ").split())


def test_undefined_estimates_say_why(folder):
    result = run(*arguments(folder / "all.csv", threshold=1000), columns=200)
    assert result.exit_code == 0
    (precision,) = [line for line in result.stdout.splitlines() if line.startswith("  Precision  ")]
    assert "undefined" in precision
    assert "no row" in precision.lower()


def test_binned_rows_are_said_to_be_binned(folder, rows):
    labels, _ = rows
    crowded = np.random.default_rng(2).normal(2.0 * labels, 1.0)
    pa.parquet.write_table(pa.table({"y": labels, "s": crowded}), folder / "crowded.parquet")
    result = run(*arguments(folder / "crowded.parquet", max_rows_exact=0))
    assert "Rows were counted by score bin, which changes AUL and AUC by at most" in result.stdout


@pytest.mark.parametrize("prior", ["0.1", "0.08,0.15", "0.1,0.08,0.15", "auto", "dedpul"])
def test_every_form_of_class_prior_is_read(folder, prior):
    found = evaluation(folder / "all.csv", class_prior=prior)["class_prior"]
    if "," in prior:
        assert (found["low"], found["high"]) == (0.08, 0.15)
    assert 0.03 < found["value"] < 0.3


def test_label_frequency_and_purity_are_read(folder):
    found = evaluation(
        folder / "all.csv", class_prior="auto", label_frequency="0.3,0.5", label_purity="auto"
    )
    assert found["class_prior"]["method"] == "given label frequency"
    assert found["class_prior"]["label_frequency"] == pytest.approx(np.sqrt(0.15))
    assert found["settings"]["label_purity"] == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_frequency": "half"}, "must be a number, LOW,HIGH"),
        ({"label_frequency": "0.4", "class_prior": "0.1"}, "not both"),
        ({"label_purity": "high"}, "must be a number or 'auto'"),
        ({"class_prior": "1.5"}, "class_prior must satisfy 0 < class_prior < 1, got 1.5"),
        ({"class_prior": "0.3,0.1"}, "must satisfy 0 < low < high < 1"),
        ({"class_prior": "0.1,high"}, "must be LOW,HIGH or VALUE,LOW,HIGH"),
        ({"class_prior": "magic"}, "magic"),
        ({"labels": "label"}, "all.csv has no column 'label' (labels)"),
        ({"confidence_level": "1.5"}, "confidence_level"),
        ({"label_purity": "0"}, "label_purity"),
        ({"scenario": "both"}, "case-control"),
        ({"threshold": "nan"}, "threshold must be finite, got nan"),
        ({"top_k": "-1"}, "top_k"),
    ],
)
def test_bad_usage_ends_with_status_2_and_a_message_on_stderr(folder, options, message):
    result = run(*arguments(folder / "all.csv", **options), columns=200)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_bad_input_ends_with_status_2(tmp_path):
    (tmp_path / "a.csv").write_text("y,s\n1,0.5\nyes,0.2\n")
    result = run(*arguments(tmp_path / "a.csv"))
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: labels column 'y' of ")
    missing = run(*arguments(tmp_path / "b.csv"))
    assert missing.exit_code == 2
    assert "did you mean" in missing.stderr


def test_a_failure_ends_with_status_3(folder, tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run(*arguments(folder / "all.csv"), "--report", tmp_path / "file" / "report.html")
    assert result.exit_code == 3
    assert result.stderr.startswith("Error: the report cannot be written to ")
    assert result.stdout == ""


def test_the_report_is_written_where_asked(folder, tmp_path):
    report = tmp_path / "new" / "report.html"
    result = run(*arguments(folder / "all.csv"), "--report", report)
    assert result.exit_code == 0
    assert "Report: " in result.stdout
    page = report.read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    as_json = run(*arguments(folder / "all.csv"), "--report", report, "--json")
    json.loads(as_json.stdout)
    assert "Report: " in as_json.stderr


def test_the_same_seed_repeats_every_digit_and_another_does_not(folder):
    first, again, other = (
        evaluation(folder / "all.csv", seed=seed)["estimates"] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_weights_and_case_control_are_passed_on(tmp_path, rows):
    labels, scores = rows
    columns = {"y": labels, "s": scores, "w": np.where(labels == 1, 1.0, 2.0)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    found = evaluation(tmp_path / "a.parquet", sample_weight="w", scenario="case-control")
    assert found["settings"]["scenario"] == "case-control"
    expected = pumonitor.evaluate(
        labels,
        scores,
        threshold=THRESHOLD,
        class_prior=0.12,
        sample_weight=columns["w"],
        scenario="case-control",
        rng=0,
    )
    assert found["estimates"]["auc"]["value"] == expected["auc"].value


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Everything from 1 up was reviewed, 20% of the rest, and nothing below -1.5."""
    rng = np.random.default_rng(4)
    positive = rng.random(5000) < 0.15
    scores = rng.normal(1.5 * positive)
    chance = np.select([scores >= 1, scores >= -1.5], [1.0, 0.2], 0.0)
    labels = (positive & (rng.random(5000) < chance)).astype(int)
    file = tmp_path_factory.mktemp("reviewed") / "a.parquet"
    pa.parquet.write_table(pa.table({"y": labels, "s": scores, "reviewed": chance}), file)
    return file, labels, scores, chance


def test_logged_review_probabilities_are_read_and_what_they_do_is_said(reviewed):
    file, labels, scores, chance = reviewed
    options = {"propensity": "reviewed", "min_propensity": 0.25, "detection_rate": 0.9}
    result = run(*arguments(file, class_prior="propensity", **options), columns=200)
    assert result.exit_code == 0, result.stderr
    low = np.count_nonzero(chance[labels == 1] == 0.2)
    assert f"{low} of the chances were below 25% and were raised to it, so cases" in result.stdout
    assert (
        "A review is assumed to find 90% of the positives among the cases reviewed."
    ) in result.stdout
    never = percent_text(float(np.mean(chance[labels == 0] == 0)))
    assert f"{never} of the unconfirmed cases had no chance" in result.stdout
    assert f"the {labels.sum()} confirmed cases carry as much information as " in result.stdout
    found = evaluation(file, class_prior="propensity", **options)
    expected = pumonitor.evaluate(
        labels,
        scores,
        threshold=THRESHOLD,
        class_prior="propensity",
        propensity=chance,
        min_propensity=0.25,
        detection_rate=0.9,
        rng=0,
    )
    assert found["estimates"] == json.loads(json.dumps(expected.to_dict()["estimates"]))
    assert found["class_prior"]["method"] == "propensity"


def test_the_report_says_what_propensities_did(reviewed, tmp_path):
    file, labels, *_ = reviewed
    report = tmp_path / "report.html"
    options = {"propensity": "reviewed", "class_prior": "propensity"}
    assert run(*arguments(file, **options), "--report", report).exit_code == 0
    page = " ".join(report.read_text(encoding="utf-8").split())
    assert f"Weighted by these chances the {labels.sum()} confirmed cases" in page
    assert "Counted by the chances of being confirmed" in page


def test_without_propensities_nothing_is_said_of_them(folder):
    assert "chances" not in run(*arguments(folder / "all.csv"), columns=200).stdout


def test_a_number_is_the_propensity_of_every_row(reviewed):
    file, labels, *_ = reviewed
    found = evaluation(file, propensity="0.4", class_prior="propensity")["class_prior"]
    assert found["value"] == pytest.approx(labels.mean() / 0.4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"propensity": "1.4"}, "propensity must satisfy 0 < propensity <= 1, got 1.4"),
        ({"propensity": "chance"}, "a.parquet has no column 'chance' (propensity)"),
        ({"min_propensity": "0.1"}, "min_propensity changes propensities, and there are none"),
        (
            {"propensity": "reviewed", "detection_rate": "2"},
            "detection_rate must satisfy 0 < detection_rate <= 1, got 2",
        ),
        ({"class_prior": "propensity"}, "class_prior='propensity' needs propensities"),
    ],
)
def test_wrong_propensity_options_end_with_status_2(reviewed, options, message):
    result = run(*arguments(reviewed[0], **options), columns=200)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
