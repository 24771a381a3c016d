"""Reviews where positives share entities: wider intervals, the same known positives."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pumonitor
from benchmarks.reviews.windows import Cell, counts_of, draw_window
from pumonitor._entities import draw_in_groups
from pumonitor.cli.app import app
from pumonitor.reviews.estimation import DRAWS
from pumonitor.reviews.reading import read_reviews
from tests.reviews.two_models import shop

CELL = Cell(most=20, alike=0.9, blocks=False)


@pytest.fixture(scope="module")
def window():
    return draw_window(CELL, np.random.default_rng([4, 2]))


def evaluated(window, **given):
    return pumonitor.evaluate(
        window.complained, window.score, threshold=window.threshold, reviews=window.reviews, **given
    )


@pytest.fixture(scope="module")
def shared(window):
    return evaluated(window, entity=window.entity)


def test_intervals_widen_with_entities_and_stay_without_shared_ones(window, shared):
    plain = evaluated(window)
    alone = evaluated(window, entity=np.arange(CELL.rows))
    for name in ("class_prior", "recall", "auc"):
        assert (shared[name].high - shared[name].low) > 1.2 * (plain[name].high - plain[name].low)
        assert alone[name] == plain[name]
    assert shared.settings["labeled_entities"] < shared.settings["n_labeled"]


def test_every_other_interval_holds_the_truth_only_with_entities():
    held = {effect: [] for effect in (False, True)}
    for run in range(6):
        window = draw_window(CELL, np.random.default_rng([7, run]))
        counts, truth = counts_of(window), window.truth()["auc"]
        for use, holds in held.items():
            effect = counts.bins.design_effect if use else 1.0
            bins = replace(counts.bins, design_effect=effect)
            auc = read_reviews(replace(counts, bins=bins)).estimates["auc"]
            holds.append(auc.low <= truth <= auc.high)
    assert sum(held[True]) > sum(held[False])


def test_hidden_positives_come_in_groups():
    rng = np.random.default_rng(1)
    number, share = np.array([400, 3, 0]), np.full((20 * DRAWS, 3), 0.05)
    apart = draw_in_groups(number, share, 1.0, rng)
    together = draw_in_groups(number, share, 8.0, rng)
    assert together.mean(axis=0) == pytest.approx(apart.mean(axis=0), rel=0.1)
    assert together[:, 0].var() == pytest.approx(8 * apart[:, 0].var(), rel=0.05)
    assert together.max(axis=0).tolist() <= number.tolist()


def test_groups_keep_the_mean_where_nearly_all_are_positive_and_few_are_left_over():
    rng = np.random.default_rng(2)
    number, share = np.array([10, 5, 2]), np.full((20 * DRAWS, 3), 0.9)
    together = draw_in_groups(number, share, 3.5, rng)
    assert together.mean(axis=0) == pytest.approx(0.9 * number, rel=0.01)
    assert np.all(together <= number + 1e-9)


def compared(rows, **given):
    reviews = pumonitor.Reviews(
        rows.verdicts, blocks=rows.blocks, ranked_by=rows.scores["champion"]
    )
    return pumonitor.compare(
        rows.complained, rows.scores, threshold=rows.thresholds, reviews=reviews, **given
    )


def test_differences_widen_with_entities_and_stay_without_shared_ones():
    rows = shop(4, blocks=False)
    # Positives of about the same score are of one card.
    order = np.argsort(np.argsort(-rows.scores["champion"][rows.is_positive]))
    card = np.arange(len(rows.complained))
    card[rows.is_positive] = -1 - order // 8
    plain, alone = compared(rows), compared(rows, entity=np.arange(len(card)))
    together = compared(rows, entity=card)
    for metric in ("recall", "auc"):
        differences = [
            each.difference("challenger", "champion", metric) for each in (plain, alone, together)
        ]
        widths = [difference.high - difference.low for difference in differences]
        assert widths[0] == widths[1]
        assert widths[2] > 1.15 * widths[0], metric


def test_the_command_reads_the_column(tmp_path, window, shared):
    verdict = pd.Series(window.reviews.given, dtype=object)
    frame = pd.DataFrame(
        {
            "chargeback": window.complained.astype(int),
            "score": window.score,
            "verdict": verdict,
            "card": [f"c{number}" for number in window.entity],
        }
    )
    frame.to_parquet(tmp_path / "scored.parquet")
    done = CliRunner().invoke(
        app,
        [
            *("evaluate", str(tmp_path / "scored.parquet"), "--labels", "chargeback"),
            *("--scores", "score", "--threshold", repr(window.threshold), "--verdicts", "verdict"),
            *("--no-blocks", "--entity", "card", "--json"),
        ],
    )
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["settings"]["labeled_entities"] == shared.settings["labeled_entities"]
    assert found["estimates"]["recall"]["low"] == pytest.approx(shared["recall"].low)
