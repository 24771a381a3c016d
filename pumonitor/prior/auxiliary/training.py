"""Learn the auxiliary score: boosted trees of labeled against other rows, one model a fold."""

from __future__ import annotations

import platform
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.errors import ExtraMissingError, TooFewPositivesError
from pumonitor.prior.auxiliary.auxiliary_score import AuxiliaryScore
from pumonitor.prior.auxiliary.feature_columns import (
    MOST_CATEGORIES,
    FeatureColumns,
    RawColumns,
)
from pumonitor.prior.auxiliary.folds import FOLDS, fold_of
from pumonitor.prior.auxiliary.trees import Trees

LEAST_LABELED: Final = 150
"""Labeled rows to train with. With 100 the score ranks worse than most models, 300 are usable, 900
better."""

_UNLABELED_PER_LABELED: Final = 10
_LEAST_UNLABELED: Final = 5000
_MOST_LABELED: Final = 20_000
_LEAST_WITHOUT_A_FOLD: Final = LEAST_LABELED // 2

_SETTINGS: Final[dict[str, Any]] = {
    "max_iter": 120,
    "learning_rate": 0.06,
    "max_leaf_nodes": 7,
    "min_samples_leaf": 25,
    "l2_regularization": 5.0,
    # By default it depends on the number of rows, and sets a tenth of them aside.
    "early_stopping": False,
}


def train_auxiliary(
    raw: RawColumns,
    labeled: NDArray[np.bool_],
    keys: NDArray[Any],
    *,
    seed: int = 0,
) -> AuxiliaryScore:
    """Learn a score of the features that is high where labeled rows are.

    The models of five folds are kept. A row is scored by the one that has seen nothing of its
    entity, in the reference and ever after, so that scores of later windows are distributed as
    those of the reference are until the world changes. It is a worse score where there are few
    labeled rows, never a wrong one: the class prior read from it is then less well bounded.

    Parameters
    ----------
    raw : mapping of str to ndarray of shape (rows,)
        Columns, as `raw_columns` gives them.
    labeled : ndarray of bool, shape (rows,)
        Confirmed positives; all other rows are taken as a sample of the population.
    keys : ndarray of shape (rows,)
        Of entities, text or whole numbers: rows of one key are never scored by a model that has
        seen another of them.
    seed : int
        Of which rows are taken where there are more than ten others per labeled row (and 5,000), or
        more than 20,000 labeled ones.

    Returns
    -------
    AuxiliaryScore

    Raises
    ------
    TooFewPositivesError
        With fewer than 150 labeled rows, or where a few entities hold most of them.
    InputError
        If a column is missing in all rows.
    ExtraMissingError
        Without scikit-learn.

    References
    ----------
    Elkan, Noto (2008), Learning classifiers from only positive and unlabeled data, KDD, Lemma 1: a
    classifier of labeled against unlabeled rows ranks as one of positives against negatives does.

    Examples
    --------
    >>> from pumonitor.prior.auxiliary import raw_columns
    >>> rng = np.random.default_rng(1)
    >>> is_positive = rng.random(8000) < 0.1
    >>> labeled = is_positive & (rng.random(8000) < 0.3)
    >>> raw = raw_columns({"size": rng.normal(2.0 * is_positive)}, rows=8000)
    >>> score = train_auxiliary(raw, labeled, np.arange(8000))
    >>> found = score.of(raw, np.arange(8000))
    >>> bool(found[is_positive].mean() > 2 * found[~is_positive].mean())
    True
    """
    confirmed = int(np.count_nonzero(labeled))
    if confirmed < LEAST_LABELED:
        msg = (
            f"an auxiliary score needs {LEAST_LABELED} confirmed positives to be trained, better "
            f"900, and there are {confirmed}"
        )
        raise TooFewPositivesError(msg)
    columns = FeatureColumns.learned(raw)
    taken = _taken(labeled, np.random.default_rng(seed))
    matrix = columns.encoded({name: values[taken] for name, values in raw.items()})
    is_labeled, folds = labeled[taken], fold_of(keys[taken])
    _check_folds(is_labeled, folds)
    models = []
    for fold in range(FOLDS):
        seen = folds != fold
        models.append(
            fitted_trees(matrix[seen], is_labeled[seen], columns=columns, seed=seed + fold)[0]
        )
    return AuxiliaryScore(
        columns=columns,
        models=tuple(models),
        facts={
            "labeled": int(np.count_nonzero(is_labeled)),
            "unlabeled": int(np.count_nonzero(~is_labeled)),
            "seed": seed,
            "settings": dict(_SETTINGS),
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "scikit-learn": _classifier()[1],
            },
        },
    )


def fitted_trees(
    matrix: FloatArray, labeled: NDArray[np.bool_], *, columns: FeatureColumns, seed: int
) -> tuple[Trees, Any, list[NDArray[np.intp]]]:
    """One model of encoded rows.

    Returns
    -------
    trees : Trees
    classifier : HistGradientBoostingClassifier
        That they were read from.
    known : list of ndarray of int
        Of each column of categories the codes it has seen; its own code of one is its place.
    """
    classifier, _ = _classifier()
    # To the classifier codes are numbers from 0 on without a gap.
    known = [
        np.unique(column[~np.isnan(column)]).astype(np.intp)
        for column in matrix[:, : columns.categorical].T
    ]
    model = classifier(
        **_SETTINGS,
        random_state=seed,
        categorical_features=[place < columns.categorical for place in range(matrix.shape[1])]
        if columns.categorical
        else None,
    )
    with _one_thread():
        model.fit(recoded(matrix, known), labeled)
    codes = max((len(one.categories) for one in columns.columns), default=0)
    return _read(model, known, codes), model, known


def recoded(matrix: FloatArray, known: list[NDArray[np.intp]]) -> FloatArray:
    """Codes of categories as one model has them; those it has not seen are missing."""
    found = matrix.copy()
    for place, seen in enumerate(known):
        of_code = np.full(MOST_CATEGORIES + 1, np.nan)
        of_code[seen] = np.arange(len(seen))
        codes = np.nan_to_num(matrix[:, place], nan=MOST_CATEGORIES).astype(np.intp)
        found[:, place] = of_code[codes]
    return found


def _classifier() -> tuple[Any, str]:
    try:
        import sklearn
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        msg = "an auxiliary score needs scikit-learn: pip install 'pumonitor[features]'"
        raise ExtraMissingError(msg) from None
    return HistGradientBoostingClassifier, sklearn.__version__


def _one_thread() -> AbstractContextManager[object]:
    """Several threads gain little on so few rows, and wait for each other on a busy machine."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits


def _taken(labeled: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows to train with, in their order."""
    found, others = np.flatnonzero(labeled), np.flatnonzero(~labeled)
    if len(found) > _MOST_LABELED:
        found = rng.choice(found, _MOST_LABELED, replace=False)
    wanted = max(_UNLABELED_PER_LABELED * len(found), _LEAST_UNLABELED)
    if len(others) > wanted:
        others = rng.choice(others, wanted, replace=False)
    return np.sort(np.concatenate([found, others]))


def _check_folds(labeled: NDArray[np.bool_], folds: NDArray[np.int64]) -> None:
    in_fold = np.bincount(folds, labeled, minlength=FOLDS)
    least = int(labeled.sum() - in_fold.max())
    if least < _LEAST_WITHOUT_A_FOLD:
        msg = (
            f"without the {int(in_fold.max())} confirmed positives of one fifth of the entities "
            f"{least} are left to train the auxiliary score, and it takes "
            f"{_LEAST_WITHOUT_A_FOLD}: group by an entity that recurs less"
        )
        raise TooFewPositivesError(msg)


def _read(model: Any, known: list[NDArray[np.intp]], codes: int) -> Trees:
    """The arrays behind a fitted classifier."""
    predictors = [trees[0] for trees in model._predictors]
    nodes = np.concatenate([one.nodes for one in predictors])
    starts = np.cumsum([0, *(len(one.nodes) for one in predictors)])
    is_leaf = nodes["is_leaf"].astype(bool)
    missing_left = nodes["missing_go_to_left"].astype(bool)
    by_category = nodes["is_categorical"].astype(bool) & ~is_leaf
    feature = np.where(is_leaf, -1, nodes["feature_idx"].astype(np.int64))
    # Sets of codes are kept tree by tree.
    sets = [one.raw_left_cat_bitsets.reshape(-1, 8) for one in predictors]
    before = np.repeat(
        np.cumsum([0, *(len(one) for one in sets)])[:-1], [len(one.nodes) for one in predictors]
    )
    split_nodes = np.flatnonzero(by_category)
    rows = (before + nodes["bitset_idx"])[split_nodes].astype(np.intp)
    words = np.ascontiguousarray(np.concatenate(sets)[rows], dtype="<u4")
    goes_left = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool)
    left = np.repeat(missing_left[split_nodes][:, np.newaxis], codes, axis=1)
    for place, node in enumerate(split_nodes.tolist()):
        seen = known[int(feature[node])]
        left[place, seen] = goes_left[place, : len(seen)]
    category_split = np.full(len(nodes), -1)
    category_split[split_nodes] = np.arange(len(split_nodes))
    return Trees.of(
        float(np.ravel(model._baseline_prediction)[0]),
        starts=starts,
        feature=feature,
        threshold=np.where(is_leaf | by_category, 0.0, nodes["num_threshold"]),
        left=nodes["left"],
        right=nodes["right"],
        missing_left=missing_left,
        category_split=category_split,
        value=np.where(is_leaf, nodes["value"], 0.0),
        left_categories=left,
    )
