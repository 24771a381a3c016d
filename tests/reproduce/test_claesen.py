import pytest

from benchmarks.reproduce import claesen as paper
from benchmarks.reproduce.claesen_covertype import figure_5
from benchmarks.reproduce.claesen_known_rows import tables
from benchmarks.reproduce.data import available


def silent(done, total):
    assert 0 < done <= total


@pytest.mark.parametrize("repetitions", [6, pytest.param(12, marks=pytest.mark.slow)])
def test_bounds_hold_and_are_no_wider_than_the_published_ones(monkeypatch, repetitions):
    monkeypatch.setattr(paper, "_SIZES", (100, 1000))
    monkeypatch.setattr(paper, "_UNLABELED", 20_000)
    result = paper._figure_2(repetitions, silent)
    figures = {figure.name: figure for figure in result.figures}
    for size in (100, 1000):
        assert figures[f"bounds hold AUROC, {size} known positives"].inside
        ratio = figures[f"width over that of the published construction, {size} known positives"]
        assert ratio.inside
        assert 0.9 < ratio.ours < 1.02


@pytest.mark.parametrize("run", [paper._figure_3, paper._figure_4])
def test_the_assumed_prior_moves_bounds_and_swaps_models(run):
    result = run(1, silent)
    assert [figure.name for figure in result.figures if not figure.inside] == []


def test_known_positives_tighten_more_than_known_negatives():
    result = tables(3, silent)
    assert [figure.name for figure in result.figures if not figure.inside] == []


@pytest.mark.skipif(not available("covertype_16pct"), reason="data set covertype_16pct is not here")
def test_the_true_curve_of_covertype_lies_between_its_bounds():
    result = figure_5(1, silent)
    figures = {figure.name: figure for figure in result.figures}
    assert figures["bounds hold AUROC"].inside
    assert figures["share of the true ROC curve inside its bounds"].ours > 0.8
