"""What is handed back: estimates with intervals, curves with bands, the class prior."""

from typing import TYPE_CHECKING

from pumonitor._on_demand import on_demand
from pumonitor.results.bounds_and_curves import Bounds, Curve
from pumonitor.results.class_prior import ClassPriorEstimate
from pumonitor.results.estimate import Estimate, Scenario, Target, undefined
from pumonitor.results.evaluation import Evaluation, Finding
from pumonitor.results.label_assumption import LABEL_ORIGINS, LabelAssumption, LabelOrigin
from pumonitor.results.plain import by_name, frame_of

if TYPE_CHECKING:
    from pumonitor.results.sensitivity import Sensitivity

__all__ = [
    "LABEL_ORIGINS",
    "Bounds",
    "ClassPriorEstimate",
    "Curve",
    "Estimate",
    "Evaluation",
    "Finding",
    "LabelAssumption",
    "LabelOrigin",
    "Scenario",
    "Sensitivity",
    "Target",
    "by_name",
    "frame_of",
    "undefined",
]

__getattr__ = on_demand(__name__, {"Sensitivity": "pumonitor.results.sensitivity"})
