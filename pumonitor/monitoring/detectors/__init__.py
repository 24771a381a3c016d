"""Sequential detectors of a lasting change in a series of estimates, at a rate of false alarms."""

from pumonitor.monitoring.detectors.betting import auc_bounds
from pumonitor.monitoring.detectors.detection import Detection, Judgement, Observation
from pumonitor.monitoring.detectors.detector import DEFAULT_DETECTOR, Detector, detect
from pumonitor.monitoring.detectors.scales import Scale, scale_of
from pumonitor.monitoring.detectors.shifts import Direction
from pumonitor.monitoring.detectors.watch import DETECTORS

__all__ = [
    "DEFAULT_DETECTOR",
    "DETECTORS",
    "Detection",
    "Detector",
    "Direction",
    "Judgement",
    "Observation",
    "Scale",
    "auc_bounds",
    "detect",
    "scale_of",
]
