"""Learners and scorers for scikit-learn (extra `sklearn`), from confirmed positives alone."""

try:
    import sklearn as _installed
except ModuleNotFoundError:
    from pumonitor.errors import ExtraMissingError

    _MESSAGE = (
        "pumonitor.sklearn needs scikit-learn, which is not installed: pip install "
        "'pumonitor[sklearn]'"
    )
    raise ExtraMissingError(_MESSAGE) from None

from pumonitor.sklearn.challenger import ChallengerClassifier
from pumonitor.sklearn.cross_fitting import HeldOutScores, cross_fit
from pumonitor.sklearn.pairwise import PUAUCClassifier, PUAULClassifier
from pumonitor.sklearn.scorers import aul_scorer, recall_at_capacity_scorer

__all__ = [
    "ChallengerClassifier",
    "HeldOutScores",
    "PUAUCClassifier",
    "PUAULClassifier",
    "aul_scorer",
    "cross_fit",
    "recall_at_capacity_scorer",
]

del _installed
