"""What is handed back: estimates with intervals, curves with bands, the class prior."""

from pumonitor.results.bounds_and_curves import Bounds, Curve
from pumonitor.results.class_prior import ClassPriorEstimate
from pumonitor.results.estimate import Estimate, Scenario, Target, undefined
from pumonitor.results.evaluation import Evaluation, Finding
from pumonitor.results.plain import by_name, finite_or_none, frame_of
from pumonitor.results.sensitivity import Sensitivity

__all__ = [
    "Bounds",
    "ClassPriorEstimate",
    "Curve",
    "Estimate",
    "Evaluation",
    "Finding",
    "Scenario",
    "Sensitivity",
    "Target",
    "by_name",
    "finite_or_none",
    "frame_of",
    "undefined",
]
