"""The auxiliary score: the classifier's own numbers from plain arrays, and folds that hold."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pumonitor.errors import ExtraMissingError, InputError, TooFewPositivesError
from pumonitor.prior.auxiliary import AuxiliaryScore, RawColumns, raw_columns, train_auxiliary
from pumonitor.prior.auxiliary.feature_columns import MOST_CATEGORIES, FeatureColumn, FeatureColumns
from pumonitor.prior.auxiliary.folds import fold_of
from pumonitor.prior.auxiliary.training import fitted_trees, recoded

ROWS = 6000


def population(rows: int = ROWS, *, seed: int = 0) -> tuple[dict[str, Any], Any, Any]:
    """Features of all kinds with gaps, who is positive, and who of them is labeled."""
    rng = np.random.default_rng(seed)
    is_positive = rng.random(rows) < 0.15
    shop = np.array([f"shop {place}" for place in range(300)], dtype=object)[
        np.clip(rng.poisson(60 + 120 * is_positive), 0, 299)
    ]
    shop[rng.random(rows) < 0.1] = None
    amount = rng.normal(1.2 * is_positive)
    amount[rng.random(rows) < 0.1] = np.nan
    amount[:3] = np.inf
    features = {
        "amount": amount,
        "count": rng.poisson(2 + 2 * is_positive),
        "shop": shop,
        "abroad": rng.random(rows) < 0.3 + 0.3 * is_positive,
        "code": rng.integers(0, 9, rows).astype(str),
    }
    return features, is_positive, is_positive & (rng.random(rows) < 0.4)


def trained(rows: int = ROWS) -> tuple[AuxiliaryScore, RawColumns, Any]:
    features, is_positive, labeled = population(rows)
    raw = raw_columns(features, rows=rows)
    return train_auxiliary(raw, labeled, np.arange(rows)), raw, is_positive


def test_the_arrays_say_what_the_classifier_says() -> None:
    features, _, labeled = population()
    raw = raw_columns(features, rows=ROWS)
    columns = FeatureColumns.learned(raw)
    matrix = columns.encoded(raw)
    seen = np.arange(ROWS) < 2500
    trees, classifier, known = fitted_trees(matrix[seen], labeled[seen], columns=columns, seed=3)
    # Gaps where there were none, and categories that this model has not seen.
    other = matrix[~seen]
    other[np.random.default_rng(1).random(other.shape) < 0.1] = np.nan
    assert any(
        len(one) < len(column.categories)
        for one, column in zip(known, columns.columns, strict=False)
    )
    assert (trees.category_split >= 0).any()
    assert trees.missing_left.any()
    expected = classifier.decision_function(recoded(other, known))
    np.testing.assert_allclose(trees.log_odds(other), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trees.log_odds(other[:1]), expected[:1], rtol=0, atol=1e-12)


def test_no_model_has_seen_the_entities_it_scores() -> None:
    """A feature that is the entity's name, and labels drawn per entity: only a leak can rank."""
    rng = np.random.default_rng(5)
    entity = rng.integers(0, 400, 12_000)
    labeled = (rng.random(400) < 0.1)[entity]
    raw = raw_columns({"entity": entity, "noise": rng.normal(size=12_000)}, rows=12_000)

    def auc(score: AuxiliaryScore, keys: Any) -> float:
        found = score.of(raw, keys)
        return float(np.mean(found[labeled][:, np.newaxis] > found[~labeled][:2000]))

    assert auc(train_auxiliary(raw, labeled, entity), entity) < 0.65
    rows = np.arange(12_000)
    assert auc(train_auxiliary(raw, labeled, rows), rows) > 0.9


def test_equal_data_give_equal_bytes_and_bytes_give_equal_scores() -> None:
    score, raw, is_positive = trained()
    again = train_auxiliary(raw, population()[2], np.arange(ROWS))
    assert again.hash == score.hash
    assert again.to_bytes() == score.to_bytes()
    assert train_auxiliary(raw, population()[2], np.arange(ROWS), seed=1).hash != score.hash
    back = AuxiliaryScore.from_bytes(score.to_bytes())
    found = score.of(raw, np.arange(ROWS))
    assert np.array_equal(back.of(raw, np.arange(ROWS)), found)
    assert (back.hash, back.facts) == (score.hash, score.facts)
    assert score.facts["labeled"] == population()[2].sum()
    assert set(score.facts["versions"]) == {"python", "numpy", "scikit-learn"}
    assert found[is_positive].mean() > 1.5 * found[~is_positive].mean()
    with pytest.raises(ValueError, match="damaged"):
        AuxiliaryScore.from_bytes(score.to_bytes()[:-9])


def test_a_fold_is_a_matter_of_the_key_alone() -> None:
    keys = np.array(["a", "longer than others", "ä", "12", ""])
    assert fold_of(keys).tolist() == [int(fold_of(keys[[place]])[0]) for place in range(5)]
    assert fold_of(np.array([12, 7])).tolist() == fold_of(np.array(["12", "7"])).tolist()
    shares = np.bincount(fold_of(np.arange(50_000))) / 50_000
    assert np.abs(shares - 0.2).max() < 0.01


def test_new_categories_and_gaps_are_missing_values() -> None:
    score, raw, _ = trained()
    keys = np.arange(ROWS)
    missing = {**raw, "shop": np.full(ROWS, None, dtype=object)}
    new = {**raw, "shop": np.full(ROWS, "never seen", dtype=object)}
    assert np.array_equal(score.of(new, keys), score.of(missing, keys))
    assert np.isfinite(score.of(dict.fromkeys(raw, missing["shop"]), keys)).all()
    shop = next(one for one in score.columns.columns if one.name == "shop")
    assert len(shop.categories) <= MOST_CATEGORIES
    # Text that is a number everywhere is one; a gap among it stays a gap.
    code = next(one for one in score.columns.columns if one.name == "code")
    assert code.kind == "numbers in text"
    assert code.encoded(np.array(["3", "n/a", None, "4.5"], dtype=object)).tolist()[::3] == [3, 4.5]


def test_text_among_numbers_is_missing_until_it_is_more_than_half() -> None:
    column = FeatureColumn.learned("code", np.array(["1", "2"], dtype=object))
    half = np.array(["1", "n/a", "2", "none"], dtype=object)
    assert np.isnan(column.encoded(half)).tolist() == [False, True, False, True]
    with pytest.raises(InputError, match="other text, such as"):
        column.encoded(half[1:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"amount": np.full(ROWS, "12 EUR", dtype=object)}, "held numbers .* holds text now"),
        ({"shop": np.zeros(ROWS)}, "'shop' held text .* holds numbers now"),
        ({"code": np.full(ROWS, "x", dtype=object)}, "other text, such as 'x'"),
        (None, "no feature column 'abroad'"),
    ],
)
def test_other_types_are_refused(change: dict[str, Any] | None, message: str) -> None:
    score, raw, _ = trained()
    changed = {name: one for name, one in raw.items() if change is not None or name != "abroad"}
    with pytest.raises(InputError, match=message):
        score.of(changed | (change or {}), np.arange(ROWS))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"x": [1.0, 2.0]}, "'x' has 2 for 3 labels"),
        ({}, "one column of features or more"),
        ({"when": pd.date_range("2026-01-01", periods=3)}, "'when' holds datetime64.*numbers, or"),
        ({"x": np.array([1, "a", 2], dtype=object)}, "'x' holds int and str"),
        (pl.LazyFrame({"x": [1, 2, 3]}), "holds its rows"),
    ],
)
def test_columns_that_are_no_features(features: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        raw_columns(features, rows=3)


def test_all_kinds_of_tables_are_read_alike() -> None:
    features = {"x": [1.5, None, 3.0], "t": ["a", None, "b"], "b": [True, None, False]}
    expected = {"x": [1.5, "gap", 3.0], "t": ["a", "gap", "b"], "b": ["true", "gap", "false"]}
    frames = [pd.DataFrame(features), pl.DataFrame(features), pl.DataFrame(features).to_arrow()]
    frames.append(pd.DataFrame(features).convert_dtypes())
    frames.append(pd.DataFrame(features).astype({"t": "category"}))
    for frame in frames:
        raw = raw_columns(frame, rows=3)
        found = {
            name: [
                "gap" if value is None or value != value else value  # noqa: PLR0124
                for value in one.tolist()
            ]
            for name, one in raw.items()
        }
        assert found == expected


def test_what_cannot_be_trained_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    features, _, labeled = population()
    raw = raw_columns(features, rows=ROWS)
    keys = np.arange(ROWS)
    few = labeled & (np.cumsum(labeled) <= 149)
    with pytest.raises(TooFewPositivesError, match=r"needs 150 .* there are 149"):
        train_auxiliary(raw, few, keys)
    with pytest.raises(InputError, match="'gone' is missing in all 6000 rows"):
        train_auxiliary({**raw, "gone": np.full(ROWS, np.nan)}, labeled, keys)
    with pytest.raises(TooFewPositivesError, match="an entity that recurs less"):
        train_auxiliary(raw, labeled, np.where(labeled, 7, keys))
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ExtraMissingError, match=r"pip install 'pumonitor\[features\]'"):
        train_auxiliary(raw, labeled, keys)
