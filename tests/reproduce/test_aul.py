import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.reproduce import aul as paper
from benchmarks.reproduce.aul_settings import FREQUENCIES, SETTINGS, Scored, expected_error, scored
from benchmarks.reproduce.data import available


def needs(name):
    if not available(name):
        pytest.skip(f"data set {name} is not here: make data")


def silent(done, total):
    assert 0 < done <= total


def by_name(result):
    return {figure.name: figure for figure in result.figures}


def naive_placements(scores):
    return np.array([np.mean([(a > b) + 0.5 * (a == b) for b in scores]) for a in scores])


@pytest.fixture
def small():
    rng = np.random.default_rng(5)
    is_positive = rng.random(60) < 0.4
    scores = np.round(rng.normal(1.2 * is_positive), 1)
    return Scored(is_positive=is_positive, scores=scores, model_auc=0.8, noise=0.0)


def test_figure_1_as_printed():
    figures = by_name(paper._figure1(1, silent))
    assert {name: round(figure.ours, 3) for name, figure in figures.items()} == {
        "AUC": 0.740,
        "AUC from the labels": 0.653,
        "AUL": 0.620,
        "AUL from the labels": 0.615,
    }
    assert all(figure.inside for figure in figures.values())


def test_the_expected_error_is_that_of_all_labelings(small):
    placements = naive_placements(small.scores)[small.is_positive]
    positives = len(placements)
    labeled = round(0.4 * positives)
    rng = np.random.default_rng(0)
    means = [rng.choice(placements, labeled, replace=False).mean() for _ in range(20_000)]
    errors = np.abs(np.array(means) - placements.mean())
    # The normal distribution of the mean is an approximation: 2% at 9 of 23.
    assert expected_error(small, 0.4) == pytest.approx(errors.mean(), rel=0.025)


def test_the_expected_error_vanishes_when_all_are_labeled(small):
    assert expected_error(small, 1.0) == 0.0


def test_table_1_is_whole():
    assert len(SETTINGS) == 9
    printed = [error for setting in SETTINGS.values() for error in setting.aul_errors]
    assert len(printed) == 27
    assert np.mean(printed) == pytest.approx(0.00959, abs=1e-5)
    for setting in SETTINGS.values():
        # AUL = pi / 2 + (1 - pi) AUC ties three printed columns together.
        implied = 0.5 * setting.class_prior + (1 - setting.class_prior) * setting.auc
        assert implied == pytest.approx(setting.aul, abs=0.0012), setting.title
        assert list(setting.aul_errors) == sorted(setting.aul_errors, reverse=True)
        assert np.all(np.array(setting.auc_errors) > np.array(setting.aul_errors))


@pytest.mark.parametrize("name", SETTINGS)
def test_the_printed_prior_fixes_the_positive_class(name):
    needs(name)
    from benchmarks.reproduce.data import load

    setting = SETTINGS[name]
    classes = setting.is_positive(load(name))
    known = classes[~np.isnan(classes)]
    assert len(known) >= setting.rows
    assert known.mean() == pytest.approx(setting.class_prior, abs=0.0006)


@pytest.mark.parametrize("name", ["concrete", "airfoil"])
def test_a_setting_in_small(name):
    needs(name)
    setting, of = SETTINGS[name], scored(name)
    assert len(of.scores) == setting.rows
    assert roc_auc_score(of.is_positive, of.scores) == pytest.approx(setting.auc, abs=5e-4)
    assert of.model_auc > setting.auc
    assert 0 < of.noise < 1
    result = paper._table1(name, 10, silent)
    figures = by_name(result)
    for frequency in FREQUENCIES:
        where = f"label frequency {frequency:g}"
        assert figures[f"MAE of AUL by Theorem 1, {where}"].inside, where
        assert figures[f"MAE of AUL over that by Theorem 1, {where}"].inside, where
        assert figures[f"MAE of AUL, {where}"].inside, where
    assert all(figures[key].inside for key in ("rows", "class prior", "AUC", "AUL"))


def test_an_estimator_that_counts_wrongly_would_be_outside():
    needs("concrete")
    errors = paper._errors("concrete", 0.4, 10)
    biased = paper._Errors(aul=errors.aul + 0.03, auc=errors.auc, expected=errors.expected)
    figures = {figure.name: figure for figure in paper._figures_at(SETTINGS["concrete"], 2, biased)}
    assert figures["MAE of AUL, label frequency 0.4"].inside is False
    assert figures["MAE of AUL over that by Theorem 1, label frequency 0.4"].inside is False


def test_draws_do_not_depend_on_how_many_there_are():
    needs("concrete")
    few, more = (paper._errors("concrete", 0.2, number) for number in (3, 5))
    np.testing.assert_array_equal(few.aul, more.aul[:3])


@pytest.fixture
def stand_in(monkeypatch):
    """Two data sets with known errors in the place of nine."""
    rng = np.random.default_rng(1)

    def errors(name, frequency, repetitions):
        sigma = 0.01 / np.sqrt(frequency * 10)
        return paper._Errors(
            aul=rng.normal(0, sigma, repetitions),
            auc=rng.normal(0.02, 4 * sigma, repetitions),
            expected=sigma * np.sqrt(2 / np.pi),
        )

    monkeypatch.setattr(paper, "_errors", errors)


def test_the_means_row_sums_up_all_settings(stand_in):
    figures = by_name(paper._means(50, silent))
    ratio = figures["MAE of AUL over that of AUC with class prior by auto"]
    assert ratio.inside
    assert 0.1 < ratio.ours < 0.35
    assert figures["settings of 27 where AUL errs less than AUC"].ours == 27.0


def test_figure_2_sees_bias_and_width(stand_in, monkeypatch):
    result = paper._figure2(50, silent)
    bias, narrower = result.figures
    assert bias.inside
    assert narrower.ours == 9.0
    assert len(result.series["boxes"]) == 18
    before = paper._errors
    monkeypatch.setattr(
        paper,
        "_errors",
        lambda *key: paper._Errors(
            aul=before(*key).aul + 0.005, auc=before(*key).auc, expected=before(*key).expected
        ),
    )
    assert paper._figure2(50, silent).figures[0].inside is False


def test_pictures_are_drawn_from_plain_lists(stand_in):
    drawn = {row.id: row.draw for row in paper.ROWS if row.draw}
    assert drawn["aul-figure1"](paper._figure1(1, silent).series).to_dict()["hconcat"]
    assert drawn["aul-table1-means"](paper._means(10, silent).series).to_dict()["layer"]
    assert drawn["aul-figure2"](paper._figure2(10, silent).series).to_dict()["layer"]
