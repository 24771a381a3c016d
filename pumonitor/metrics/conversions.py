"""Corrected numbers straight from uncorrected ones, where only those were kept.

Each takes a number that counted unlabeled rows as negative, as other tools log it, and the class
shares of the two samples, and needs no score. There is no interval: the counts are not known here.
`pumonitor.evaluate` gives the same values, with intervals, from scores or counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "corrected_auc",
    "corrected_balanced_accuracy",
    "corrected_mcc",
    "corrected_precision",
]


def corrected_auc(
    auc_pu: ArrayLike, *, unlabeled_prior: ArrayLike, label_purity: ArrayLike = 1.0
) -> Any:
    """AUC of positives against negatives, from that of labeled against unlabeled rows.

    Parameters
    ----------
    auc_pu : array-like
    unlabeled_prior : array-like
        P(y = 1) among the unlabeled rows.
    label_purity : array-like
        P(y = 1) among the labeled rows.

    Raises
    ------
    ValueError
        Unless 0 <= unlabeled_prior < label_purity <= 1.

    References
    ----------
    Jain, White, Radivojac (2017), equation 4. It is above `auc_pu` if and only if that is above
    1/2 and label_purity - unlabeled_prior below 1.

    Examples
    --------
    >>> corrected_auc(0.8, unlabeled_prior=0.25, label_purity=0.75)
    1.1
    >>> corrected_auc(0.7, unlabeled_prior=0.25, label_purity=0.75)
    0.9
    """
    gap = _gap(unlabeled_prior, label_purity)
    return _plain((np.asarray(auc_pu) - 0.5 * (1 - gap)) / gap)


def corrected_precision(
    precision_pu: ArrayLike,
    *,
    unlabeled_prior: ArrayLike,
    labeled_fraction: ArrayLike,
    label_purity: ArrayLike = 1.0,
) -> Any:
    """Precision among the unlabeled rows, from the share of flagged rows that are labeled.

    The other route is prior * recall / share flagged, `pumonitor.metrics.precision`; in the
    case-control scenario the two are one number.

    Parameters
    ----------
    precision_pu : array-like
        Labeled flagged rows over all flagged rows, in [0, 1).
    unlabeled_prior, label_purity : array-like
        P(y = 1) among the unlabeled and among the labeled rows.
    labeled_fraction : array-like
        Labeled rows over all rows.

    Raises
    ------
    ValueError
        Unless 0 <= unlabeled_prior < label_purity <= 1, 0 < labeled_fraction < 1 and
        precision_pu < 1: where only labeled rows are flagged it tells nothing of the others.

    References
    ----------
    Jain, White, Radivojac (2017), theorem 1, the formula before equation 3.

    Examples
    --------
    >>> round(corrected_precision(0.2, unlabeled_prior=0.1, labeled_fraction=0.05), 3)
    0.475
    """
    gap = _gap(unlabeled_prior, label_purity)
    prior, purity = np.asarray(unlabeled_prior), np.asarray(label_purity)
    fraction = _fraction(labeled_fraction)
    observed = np.asarray(precision_pu, dtype=np.float64)
    if np.any(observed >= 1) or np.any(observed < 0):
        msg = f"precision_pu must satisfy 0 <= precision_pu < 1, got {precision_pu!r}"
        raise ValueError(msg)
    odds = (1 - fraction) / fraction * observed / (1 - observed)
    return _plain(prior * (1 - prior) / gap * (odds - (1 - purity) / (1 - prior)))


def corrected_balanced_accuracy(
    balanced_accuracy_pu: ArrayLike,
    *,
    unlabeled_prior: ArrayLike,
    label_purity: ArrayLike = 1.0,
) -> Any:
    """Balanced accuracy of positives against negatives, from that of labeled against unlabeled.

    Parameters
    ----------
    balanced_accuracy_pu : array-like
    unlabeled_prior, label_purity : array-like
        P(y = 1) among the unlabeled and among the labeled rows.

    Raises
    ------
    ValueError
        Unless 0 <= unlabeled_prior < label_purity <= 1.

    References
    ----------
    Ramola, Jain, Radivojac (2019), theorem 2.1. It is no less than `balanced_accuracy_pu` where
    that is at least 1/2, and the same threshold maximises both.

    Examples
    --------
    >>> corrected_balanced_accuracy(0.6, unlabeled_prior=0.25, label_purity=0.75)
    0.7
    """
    gap = _gap(unlabeled_prior, label_purity)
    return _plain((2 * np.asarray(balanced_accuracy_pu) - 1) / (2 * gap) + 0.5)


def corrected_mcc(
    mcc_pu: ArrayLike,
    *,
    unlabeled_prior: ArrayLike,
    labeled_fraction: ArrayLike,
    label_purity: ArrayLike = 1.0,
) -> Any:
    """Matthews correlation with the true class, from that with the label.

    For labeled and unlabeled rows together, whose class prior is pi = q b + (1 - q) a.

    Parameters
    ----------
    mcc_pu : array-like
    unlabeled_prior, label_purity : array-like
        a and b, P(y = 1) among the unlabeled and among the labeled rows.
    labeled_fraction : array-like
        q, labeled rows over all rows.

    Raises
    ------
    ValueError
        Unless 0 <= unlabeled_prior < label_purity <= 1 and 0 < labeled_fraction < 1.

    References
    ----------
    Ramola, Jain, Radivojac (2019), theorem 2.1. Its sign is that of `mcc_pu` and its size no
    smaller, and the same threshold maximises both.

    Examples
    --------
    >>> round(corrected_mcc(0.22, unlabeled_prior=0.25, labeled_fraction=0.1, label_purity=0.75), 2)
    0.67
    """
    gap = _gap(unlabeled_prior, label_purity)
    fraction = _fraction(labeled_fraction)
    prior = fraction * np.asarray(label_purity) + (1 - fraction) * np.asarray(unlabeled_prior)
    scale = np.sqrt(prior * (1 - prior) / (fraction * (1 - fraction)))
    return _plain(np.asarray(mcc_pu) * scale / gap)


def _gap(unlabeled_prior: ArrayLike, label_purity: ArrayLike) -> Any:
    prior, purity = np.asarray(unlabeled_prior), np.asarray(label_purity)
    if np.any(prior < 0) or np.any(prior >= purity) or np.any(purity > 1):
        msg = (
            "shares must satisfy 0 <= unlabeled_prior < label_purity <= 1, got unlabeled_prior="
            f"{unlabeled_prior!r}, label_purity={label_purity!r}"
        )
        raise ValueError(msg)
    return purity - prior


def _fraction(labeled_fraction: ArrayLike) -> Any:
    fraction = np.asarray(labeled_fraction, dtype=np.float64)
    if np.any(fraction <= 0) or np.any(fraction >= 1):
        msg = f"labeled_fraction must satisfy 0 < labeled_fraction < 1, got {labeled_fraction!r}"
        raise ValueError(msg)
    return fraction


def _plain(value: Any) -> Any:
    """A float for numbers, an array for arrays."""
    return float(round(float(value), 15)) if np.ndim(value) == 0 else value
