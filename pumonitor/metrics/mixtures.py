"""TPR and FPR from what is observed: the two mixtures of `pumonitor.metrics.problem`, solved."""

from __future__ import annotations

import numpy as np

from pumonitor._arrays import FloatArray


def solved_mixtures(
    labeled_above: FloatArray | float,
    population_above: FloatArray | float,
    class_prior: FloatArray | float,
    *,
    label_purity: float,
) -> tuple[FloatArray, FloatArray]:
    """TPR and FPR from g, theta and pi, with b the label purity (Jain et al. 2017, eq. 1-2).

        TPR = ((1 - pi) g - (1 - b) theta) / (b - pi),    FPR = (b theta - pi g) / (b - pi)

    Both can leave [0, 1], by chance or because pi or b is wrong.

    Examples
    --------
    >>> recall, false_positive_rate = solved_mixtures(0.74, 0.14, 0.1, label_purity=0.9)
    >>> round(float(recall), 6), round(float(false_positive_rate), 6)
    (0.815, 0.065)
    """
    g, theta = np.asarray(labeled_above), np.asarray(population_above)
    prior = np.asarray(class_prior)
    recall, others = g, label_purity - prior
    if label_purity < 1.0:  # with right labels alone TPR is g itself, not only but for rounding
        recall = ((1 - prior) * g - (1 - label_purity) * theta) / others
        theta = label_purity * theta
    false_positive_rate = (theta - prior * g) / others
    return np.asarray(recall), np.asarray(false_positive_rate)
