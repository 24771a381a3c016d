"""Evidence of several windows, by labels that are a fair sample or by reviews and complaints."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from pumonitor.gate.mean_evidence import MeanEvidence
from pumonitor.gate.paired_labels import GateMetric, PairedLabels, mean_evidence_of
from pumonitor.gate.reviewed_pairs import ReviewedEvidence, ReviewedPair


def window_from_bytes(stored: bytes) -> PairedLabels | ReviewedPair:
    """What `to_bytes` of either gave."""
    with np.load(io.BytesIO(stored), allow_pickle=False) as file:
        columns = {name: file[name] for name in file.files}
    return ReviewedPair.from_columns(columns) or PairedLabels.from_columns(columns)


def labels_of(windows: Sequence[PairedLabels | ReviewedPair]) -> list[PairedLabels]:
    """Those whose labels are taken for a fair sample of the positives."""
    return [window for window in windows if isinstance(window, PairedLabels)]


def evidence_of(
    windows: Sequence[PairedLabels | ReviewedPair], metric: GateMetric
) -> MeanEvidence | ReviewedEvidence:
    """What windows together say of one metric; a monitor has reviews of all of them, or of none."""
    reviewed = [window for window in windows if isinstance(window, ReviewedPair)]
    return (
        ReviewedEvidence.of(reviewed, metric)
        if reviewed
        else mean_evidence_of(labels_of(windows), metric)
    )
