"""Sequential detectors of a lasting change in a series, with a chosen rate of false alarms."""

from pumonitor.monitor.rules.detectors.betting import auc_bounds
from pumonitor.monitor.rules.detectors.detection import Detection, DetectionKind, Observation
from pumonitor.monitor.rules.detectors.detector import DEFAULT_DETECTOR, Detector, detect
from pumonitor.monitor.rules.detectors.scales import Scale, scale_of
from pumonitor.monitor.rules.detectors.shifts import Direction
from pumonitor.monitor.rules.detectors.watch import DETECTORS

__all__ = [
    "DEFAULT_DETECTOR",
    "DETECTORS",
    "Detection",
    "DetectionKind",
    "Detector",
    "Direction",
    "Observation",
    "Scale",
    "auc_bounds",
    "detect",
    "scale_of",
]
