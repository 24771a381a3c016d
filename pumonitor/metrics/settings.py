"""Settings that all metric functions share, and what of them is refused."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from pumonitor.errors import if_percent
from pumonitor.results import Scenario, Target


class Setting(TypedDict, total=False):
    """Keywords shared by all metric functions."""

    scenario: Scenario
    label_purity: float
    target: Target
    confidence_level: float
    correct_prior_bias: bool
    rng: int | np.random.Generator | None


def check_settings(
    *, scenario: str, target: str, label_purity: float, confidence_level: float
) -> None:
    """Refuse settings out of range, each by its name."""
    if scenario not in ("single-training-set", "case-control"):
        msg = f"scenario must be 'single-training-set' or 'case-control', got {scenario!r}"
        raise ValueError(msg)
    if target not in ("process", "window"):
        msg = f"target must be 'process' or 'window', got {target!r}"
        raise ValueError(msg)
    for name, value in (("label_purity", label_purity), ("confidence_level", confidence_level)):
        if isinstance(value, str):
            msg = f"{name} must be a number, got the text {value!r}"
            raise TypeError(msg)
    if not 0 < confidence_level < 1:
        msg = (
            "confidence_level must satisfy 0 < confidence_level < 1, "
            f"got {confidence_level:g}{if_percent(confidence_level)}"
        )
        raise ValueError(msg)
    if not 0 < label_purity <= 1:
        msg = (
            "label_purity must satisfy 0 < label_purity <= 1, "
            f"got {label_purity:g}{if_percent(label_purity)}"
        )
        raise ValueError(msg)
