"""Metrics as functions of how many positives lie in each score bin."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.audit.bins import ScoreBins


def metric_draws(
    bins: ScoreBins, positives: FloatArray, concordance: FloatArray | None = None
) -> Mapping[str, FloatArray]:
    """Every metric of the window's own rows, a value a draw.

    Parameters
    ----------
    bins : ScoreBins
    positives : ndarray of shape (draws, bins)
    concordance : ndarray of shape (draws, bins), optional
        Draws of that of the bins; their value unless given.

    Returns
    -------
    mapping of str to ndarray of shape (draws,)
        NaN where a metric is undefined, as precision is where nothing is predicted positive.

    Notes
    -----
    AUC = (sum over bins of P_b (Q below + a_b Q_b)) / (P Q), P and Q being positives and negatives
    and a_b the AUC inside the bin. Confirmed positives of a bin are a fair sample of its positives,
    so that a_b = 1/2 + (k_b - 1/2) / (1 - u_b), k_b being the share of pairs of a labeled and an
    unlabeled row in which the labeled one is above and u_b the share of positives among unlabeled.
    """
    rows = bins.rows.astype(float)
    total, labeled = rows.sum(), float(bins.labeled.sum())
    found = positives.sum(axis=1)
    flagged = rows[bins.above].sum()
    hits = positives[:, bins.above].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        prior, share_flagged = found / total, flagged / total
        recall = hits / found
        fpr = (flagged - hits) / (total - found)
        auc = _auc(bins, positives, bins.concordance if concordance is None else concordance)
        spread = prior * (1 - prior) * share_flagged * (1 - share_flagged)
        return {
            "class_prior": prior,
            "unlabeled_prior": (found - labeled) / (total - labeled),
            "label_frequency": labeled / found,
            "precision": hits / flagged if flagged > 0 else np.full(len(found), np.nan),
            "recall": recall,
            "f1": 2 * hits / (found + flagged),
            "specificity": 1 - fpr,
            "accuracy": (hits + total - flagged - found + hits) / total,
            "balanced_accuracy": 0.5 * (1 + recall - fpr),
            "mcc": (hits / total - prior * share_flagged) / np.sqrt(spread),
            "predicted_positive_rate": np.full(len(found), share_flagged),
            "auc": auc,
            "aul": 0.5 * prior + (1 - prior) * auc,
        }


def following_draws(draws: Mapping[str, FloatArray], *, beta: float) -> Mapping[str, FloatArray]:
    """F-beta and the LL score, which follow from class prior, recall and the share flagged."""
    prior, recall = draws["class_prior"], draws["recall"]
    flagged = draws["predicted_positive_rate"]
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            # Not by precision: where no positive is flagged both are 0, and F-beta is 0 as F1 is.
            "f_beta": (1 + beta**2) * prior * recall / (beta**2 * prior + flagged),
            "ll_score": recall**2 / flagged,
        }


def _auc(bins: ScoreBins, positives: FloatArray, concordance: FloatArray) -> FloatArray:
    negatives = bins.rows - positives
    below = np.cumsum(negatives, axis=1) - negatives
    unlabeled = np.maximum(bins.unlabeled, 1)
    hidden = (positives - bins.labeled) / unlabeled
    inside = 0.5 + (concordance - 0.5) / np.maximum(1 - hidden, 1e-9)
    inside = np.clip(inside, 0, 1)
    pairs = (positives * (below + inside * negatives)).sum(axis=1)
    return np.asarray(pairs / (positives.sum(axis=1) * negatives.sum(axis=1)))
