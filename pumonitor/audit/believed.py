"""What an audit takes to be true of p and e by score before anything is counted.

See ``docs/decisions/audits.md`` for what each number was chosen by.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.components import Components, Normal, smooth_covariance
from pumonitor.audit.frequency import FrequencyByScore

__all__ = ["believed_components"]

P_LEVEL: Final = (-2.0, 4.0)
"""Mean and standard deviation of logit p at the threshold."""
P_SLOPE: Final = (2.5, 2.5)
"""The same of its slope along the normal score of the rank: of two normal classes it is the
distance of their means in standard deviations."""
P_BEND: Final = 1.5
"""By how much the slope may change over one unit."""
P_NOISE: Final = 3.0
"""Standard deviation by which bins next to each other differ without reason: nearly all."""

_WIDE_LEVEL: Final = 1.0
"""Standard deviation of alpha from which on its posterior may be far from a normal."""
_STRETCHES: Final = 6
"""Components for one unit of it."""
_FEWEST_STRETCHES: Final = 9


def believed_components(bins: ScoreBins, believed: FrequencyByScore) -> Components:
    """Normals of logit p and v = -logit e in some bins.

    Parameters
    ----------
    bins : ScoreBins
    believed : FrequencyByScore
        Of e.
    """
    normal_score = bins.normal_score
    first = int(np.argmax(bins.above)) if bins.above.any() else len(bins.rows) - 1
    away = normal_score - normal_score[first]
    of_p = smooth_covariance(away, level=P_LEVEL[1], slope=P_SLOPE[1], bend=P_BEND, noise=P_NOISE)
    mean, covariance = believed.in_bins(bins.rank, bins.above)
    level = _own_level(believed)
    levels = 1 if level < _WIDE_LEVEL else max(_FEWEST_STRETCHES, round(_STRETCHES * level))
    return Components.of(
        of_p=[Normal(P_LEVEL[0] + P_SLOPE[0] * away, of_p)],
        of_v=Normal(mean, covariance - level**2),
        level=level,
        levels=levels,
    )


def _own_level(believed: FrequencyByScore) -> float:
    """Standard deviation of alpha given beta and gamma: what bins have in common in any case."""
    covariance = np.array(believed.covariance)
    others = covariance[0, 1:] @ np.linalg.pinv(covariance[1:, 1:], hermitian=True)
    return float(np.sqrt(max(covariance[0, 0] - others @ covariance[1:, 0], 0.0)))
