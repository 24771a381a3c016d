"""A score of the features, learned from labeled against sampled rows, that tells the class prior.

It shares nothing with the deployed model but the rows: when that model ranks worse, it does not.
"""

from pumonitor.prior.auxiliary.auxiliary_score import AuxiliaryScore
from pumonitor.prior.auxiliary.cross_fitted import cross_fitted
from pumonitor.prior.auxiliary.feature_columns import RawColumns, raw_columns
from pumonitor.prior.auxiliary.training import LEAST_LABELED, train_auxiliary

__all__ = [
    "LEAST_LABELED",
    "AuxiliaryScore",
    "RawColumns",
    "cross_fitted",
    "raw_columns",
    "train_auxiliary",
]
