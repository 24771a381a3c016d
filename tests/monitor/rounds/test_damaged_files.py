"""Files that are cut off or damaged: windows that may need them wait, and all others go on."""

from __future__ import annotations

import os
from datetime import timedelta

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.doctor import examine
from tests.monitor.monitored_shop import FIRST, write_shop
from tests.monitor.rounds.retried import run_again

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAYS = 4
NOW = FIRST + timedelta(days=DAYS)
REVISION = 6


def shop(folder, *, name="{:%Y-%m-%d}", rules=""):
    """The shop with a file of predictions for each day."""
    path = write_shop(folder, days=DAYS, panes="[0d]", maturity=timedelta(days=1), class_prior=0.1)
    rows = pd.read_parquet(folder / "predictions.parquet")
    (folder / "p").mkdir()
    for day, some in rows.groupby(rows.scored_at.dt.date):
        some.to_parquet(folder / f"p/{name.format(day)}.parquet")
    text = path.read_text().replace("predictions.parquet", "p/*.parquet")
    path.write_text(text.replace("reference:", "# reference:") + rules)
    return path


def cut(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file):
    file.write_bytes(b"")


def flip(file):
    """Damage the pages and leave the footer whole."""
    content = bytearray(file.read_bytes())
    for place in range(200, len(content) // 2):
        content[place] ^= 0x5A
    file.write_bytes(content)


def run(path):
    return run_again(path, NOW)


def days_with_results(results):
    return sorted({row[3].day for row in results})


def without_revisions(results):
    return sorted(str(row[:REVISION] + row[REVISION + 1 :]) for row in results)


@pytest.mark.parametrize("damage", [cut, empty, flip])
def test_only_its_window_waits_and_all_is_as_without_damage_once_it_is_repaired(damage, tmp_path):
    path = shop(tmp_path)
    file = tmp_path / "p/2026-01-02.parquet"
    whole = file.read_bytes()
    damage(file)
    for _ in range(2):
        done, results, _ = run(path)
        assert days_with_results(results) == [1, 3, 4]
        assert len(set(done.failures)) == 1
        assert "window of 2026-01-02" in done.failures[0]
        assert "2026-01-02.parquet" in done.failures[0].partition("UTC: ")[2]
        assert done.bad_input == 0
    complaints = [one.what for one in examine(read_configuration(path).configuration, now=NOW)]
    assert any("2026-01-02.parquet" in one for one in complaints)
    result = CliRunner().invoke(
        app, ["accept", "card-fraud", "2026-01-02", "--config", str(path), "--reason", "x"]
    )
    assert result.exit_code == 2
    file.write_bytes(whole)
    done, results, _ = run(path)
    assert done.failures == []
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    assert without_revisions(results) == without_revisions(run(shop(undisturbed))[1])


def test_files_that_are_damaged_in_several_ways_hold_up_their_own_windows_alone(tmp_path):
    path = shop(tmp_path)
    empty(tmp_path / "p/2026-01-02.parquet")
    cut(tmp_path / "p/2026-01-03.parquet")
    done, results, _ = run(path)
    assert days_with_results(results) == [1, 4]
    assert [text.partition(" UTC: ")[0] for text in done.failures] == [
        f"card-fraud, window of 2026-01-{day} 00:00" for day in ("02", "03")
    ]


def test_run_names_the_file_until_it_is_repaired(tmp_path):
    path = shop(tmp_path)
    file = tmp_path / "p/2026-01-02.parquet"
    cut(file)
    for _ in range(2):
        result = CliRunner().invoke(app, ["run", "--config", str(path)])
        assert result.exit_code == 3
        assert "Note: card-fraud: 2026-01-02.parquet of predictions" in result.output
        assert (
            "It may have rows from 2026-01-02 00:00 to 2026-01-02 23:59 UTC: windows that may need "
            "them wait for it" in result.output
        )


def test_without_a_day_in_its_name_a_file_is_held_to_when_it_was_written(tmp_path):
    path = shop(tmp_path, name="part-{:%d}")
    file = tmp_path / "p/part-02.parquet"
    cut(file)
    written = (FIRST + timedelta(days=1, hours=12)).timestamp()
    os.utime(file, (written, written))
    done, results, _ = run(path)
    # Clocks may differ by a day.
    assert days_with_results(results) == [4]
    assert len(set(done.failures)) == 3
    assert "part-02.parquet of predictions" in done.failures[0]


def test_a_file_of_labels_that_is_cut_off_is_waited_for(tmp_path):
    path = shop(tmp_path)
    (tmp_path / "c").mkdir()
    labels = pd.read_parquet(tmp_path / "confirmations.parquet")
    for day, some in labels.groupby(labels.confirmed_at.dt.date):
        some.to_parquet(tmp_path / f"c/{day}.parquet")
    path.write_text(path.read_text().replace("confirmations.parquet", "c/*.parquet"))
    cut(tmp_path / "c/2026-01-05.parquet")
    done, results, _ = run(path)
    # The first window was final before that day, and none of its labels counts.
    assert days_with_results(results) == [1]
    assert len(set(done.failures)) == DAYS - 1
    assert all("2026-01-05.parquet of positives" in one for one in done.failures)


def test_labels_whose_prediction_may_be_in_a_damaged_file_resolve_no_alert(tmp_path):
    rules = "    rules:\n      - {health: unmatched_labels, above: 5%, name: unmatched}\n"
    path = shop(tmp_path, rules=rules)
    file = tmp_path / "confirmations.parquet"
    labels = pd.read_parquet(file)
    strange = labels.assign(prediction_id=labels.prediction_id + 100_000)
    pd.concat([labels, strange]).to_parquet(file)
    cut(tmp_path / "p/2026-01-01.parquet")
    _, _, alerts = run(path)
    assert alerts == {"unmatched": "unknown"}
