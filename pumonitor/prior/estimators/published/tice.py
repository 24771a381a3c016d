"""TIcE: label frequency from the purest subset a decision tree finds (Bekker and Davis 2018)."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.errors import NoBoundWarning
from pumonitor.prior.samples.points import points_of
from pumonitor.prior.samples.two_samples import TwoSamples

IntArray = NDArray[np.intp]

_BINS = 128
_FOLDS = 5
_ROUNDS = 3
_RISK = 0.2
_PIECES = 4
_DEPTH = 3
_LEVELS = 9
_SMALLEST = 10.0
_CAUTION = 5.0
_ENTRIES = 2_000_000
_TINY = 1e-9


def tice(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows from the subset with the largest share of labels.

    Among labeled and unlabeled rows taken together, a share c of the positives is labeled. No
    subset has a larger share of labeled rows than c, and one without negatives has just that. A
    decision tree looks for such a subset on a fifth of the rows, the other rows give a lower
    bound of c, hence an upper bound of the unlabeled prior. Biased upwards, the more so the fewer
    rows there are, and where no subset is pure.

    Reads `TwoSamples.features`, or, without features, the scores' ranks.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Warns
    -----
    NoBoundWarning
        If no subset has more labels than all rows together, so that the bound is 1 and says
        nothing.

    Notes
    -----
    A subset of T rows, L of them labeled, gives c >= L / T - sqrt(c (1 - c) (1 - d) / (d T)), where
    at c ten labeled rows are to be expected among T; c on the right is .5 at first, then twice the
    mean over the five folds. A node is split by the feature one of whose pieces has the greatest
    L / (T + 5) on the fold that grows the tree. a = n_L (1 - c) / (c n_U).

    It differs from the paper in d = .2, where the paper has .025 for a thousand rows or more: that
    allows for six standard errors, and the mean absolute error of a on two normals 2 apart with
    1000 labeled and 10000 unlabeled rows is then .15 in place of .036. The paper cuts a feature
    once, at .25, .5 and .75 of its range; here it is cut at quarters of the pooled ranks, up to
    three times, so that skewness and outliers do not matter and the purest 64th can be found.

    References
    ----------
    Bekker, Davis (2018), Estimating the class prior in positive and unlabeled data through
    decision tree induction, equation 3 and Algorithm 1.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(3 * positive))
    >>> bool(abs(tice(TwoSamples.from_table(table))[0] - 0.3) < 0.05)
    True
    """
    data = points_of(sample, bins=_BINS)
    places = _places(data.points, 0.5 * (data.labeled[0] + data.unlabeled[0]))
    labeled, unlabeled = data.dealt(_FOLDS)
    at_once = max(1, _ENTRIES // (_FOLDS * places.size))
    frequency = np.concatenate(
        [
            _frequency(places, labeled[part], labeled[part] + unlabeled[part])
            for part in (slice(i, i + at_once) for i in range(0, len(labeled), at_once))
        ]
    )
    odds = data.n_labeled / data.n_unlabeled
    found: FloatArray = np.clip(odds * (1 - frequency) / np.maximum(frequency, _TINY), 0.0, 1.0)
    # Resamples are drawn to see what happens, and may end so; the data may not do so unsaid.
    if len(found) == 1 and found[0] > 1 - 1e-6:
        warnings.warn(
            "tice found no subset of the rows with clearly more labels than all rows "
            "together: its upper bound of the unlabeled prior is 1, which carries no "
            "information; give it features or scores that tell positives apart, or more rows",
            NoBoundWarning,
            stacklevel=2,
        )
    return found


def _frequency(places: IntArray, labeled: FloatArray, total: FloatArray) -> FloatArray:
    """Label frequency of each sample: the mean of its folds' bounds, in the last round.

    `labeled` and `total` are rows per sample, fold and point.
    """
    frequency = np.full(len(labeled), 0.5)
    points = labeled.shape[2]

    def trees(rows: FloatArray) -> FloatArray:
        return rows.reshape(-1, points)

    for _ in range(_ROUNDS):
        bound = label_frequency_bounds(
            places,
            tree=(trees(labeled), trees(total)),
            others=(
                trees(labeled.sum(axis=1, keepdims=True) - labeled),
                trees(total.sum(axis=1, keepdims=True) - total),
            ),
            frequency=np.repeat(frequency, labeled.shape[1]),
        )
        frequency = np.asarray(bound.reshape(labeled.shape[:2]).mean(axis=1))
    return frequency


def label_frequency_bounds(
    places: IntArray,
    *,
    tree: tuple[FloatArray, FloatArray],
    others: tuple[FloatArray, FloatArray],
    frequency: FloatArray,
) -> FloatArray:
    """The greatest lower bound of c over the subsets that each tree induces.

    All trees grow together, a level at a time.

    Parameters
    ----------
    places : ndarray of shape (points, features)
        Which 64th of its feature a point is in.
    tree, others : pair of ndarray of shape (trees, points)
        Labeled and all rows per point: those on which each tree grows, those that give bounds.
    frequency : ndarray of shape (trees,)
        The c to put into the error term.
    """
    every = (tree[1] + others[1]).sum(axis=1)
    best = (tree[0] + others[0]).sum(axis=1) / np.maximum(every, _TINY)
    variance = frequency * (1 - frequency) * (1 - _RISK) / _RISK
    smallest = _SMALLEST / np.maximum(frequency, _TINY)
    features = places.shape[1]
    # One entry per tree and point with rows: the node it is in. At first a tree is one node.
    of_tree, point = np.nonzero(tree[1] + others[1])
    node = of_tree
    tree_of_node = np.arange(len(best))
    depth = np.zeros((len(best), features), dtype=np.intp)
    for _ in range(_LEVELS):
        digit = _digits(places[point], depth[node])
        feature = _chosen(node, digit, [rows[of_tree, point] for rows in tree], depth)
        child = _PIECES * node + digit[np.arange(len(node)), feature[node]]
        labeled, total = (
            np.bincount(child, rows[of_tree, point], minlength=_PIECES * len(feature))
            for rows in others
        )
        # Smaller pieces than these, or pieces of these, have too few labeled rows for a bound.
        parent = np.arange(_PIECES * len(feature)) // _PIECES
        large = np.flatnonzero(total >= smallest[tree_of_node[parent]])
        tree_of_node, parent = tree_of_node[parent[large]], parent[large]
        error = np.sqrt(variance[tree_of_node] / total[large])
        np.maximum.at(best, tree_of_node, labeled[large] / total[large] - error)
        depth = depth[parent]
        depth[np.arange(len(large)), feature[parent]] += 1
        number = np.full(len(total), -1)
        number[large] = np.where(depth.min(axis=1) < _DEPTH, np.arange(len(large)), -1)
        node = number[child]
        kept = node >= 0
        of_tree, point, node = of_tree[kept], point[kept], node[kept]
        if not len(node):
            break
    return np.asarray(best)


def _chosen(node: IntArray, digit: IntArray, rows: list[FloatArray], depth: IntArray) -> IntArray:
    """The feature by which to split each node: one of its pieces has the most labels."""
    nodes, features = depth.shape
    slot = (node[:, np.newaxis] * features + np.arange(features)) * _PIECES + digit
    labeled, total = (
        np.bincount(
            slot.ravel(), np.repeat(part, features), minlength=nodes * features * _PIECES
        ).reshape(nodes, features, _PIECES)
        for part in rows
    )
    promise = (labeled / (total + _CAUTION)).max(axis=2)
    return np.asarray(np.argmax(np.where(depth < _DEPTH, promise, -1.0), axis=1))


def _places(points: FloatArray, weight: FloatArray) -> IntArray:
    """Which of 64 parts of equal weight each point is in, by feature; ties stay together."""
    parts = _PIECES**_DEPTH
    place = np.empty(points.shape, dtype=np.intp)
    for feature, values in enumerate(points.T):
        _, tied = np.unique(values, return_inverse=True)
        held = np.bincount(tied, weight)
        middle = (np.cumsum(held) - 0.5 * held)[tied] / held.sum()
        place[:, feature] = np.minimum((parts * middle).astype(np.intp), parts - 1)
    return place


def _digits(places: IntArray, depth: IntArray) -> IntArray:
    """The digit, base 4, of each place that the next split of each feature reads."""
    return np.asarray(places // _PIECES ** np.maximum(_DEPTH - 1 - depth, 0) % _PIECES)
