"""The parts of a `PriorFilter` as bytes, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.prior.over_time.conditionals import Frequency, Places
from pumonitor.prior.over_time.grid import MOVES, class_priors
from pumonitor.prior.over_time.paced_filter import KEPT, PacedFilter
from pumonitor.prior.over_time.stored import packed, rounded, unpacked
from pumonitor.prior.over_time.variation import KEPT_DIGITS, Variation
from pumonitor.prior.over_time.window_update import KINDS, Own, Scales

_MAGIC: Final = b"PUF2"


def parts_to_bytes(parts: Sequence[PacedFilter], variation: Variation) -> bytes:
    """All parts, and how much windows differ by themselves."""
    facts = [
        {
            "pace": part.pace,
            "level": part.level.tolist(),
            "scales": asdict(part.scales),
            "negatives_then": part.negatives_then.tolist(),
            "log_evidence": part.log_evidence,
            "changes": part.changes.tolist(),
        }
        for part in parts
    ]
    grids = {
        f"{place} {name}": (rounded(values, KEPT[name]), KEPT[name])
        for place, part in enumerate(parts)
        for name, values in _grids(part).items()
    }
    grids |= {
        f"variation {name}": (getattr(variation, name), bits) for name, bits in KEPT_DIGITS.items()
    }
    return packed(_MAGIC, {"parts": facts}, grids)


def parts_from_bytes(stored: bytes) -> tuple[list[PacedFilter], Variation]:
    """What `parts_to_bytes` stored; ValueError if that is something else."""
    facts, grids = unpacked(_MAGIC, stored)
    variation = Variation(**{name: grids[f"variation {name}"] for name in KEPT_DIGITS})
    return [_part(place, fact, grids) for place, fact in enumerate(facts["parts"])], variation


def _grids(part: PacedFilter) -> dict[str, FloatArray]:
    variance, slope, left = part.places.regression()
    return {
        "log_weight": part.log_weight,
        "frequency": part.frequency.mean,
        "relative": part.frequency.relative,
        "one": part.places.one,
        "zero": part.places.zero,
        "variance": variance,
        "slope": slope,
        "left": left,
        "own": part.own.mean,
        "own_variance": part.own.variance,
    }


def _part(place: int, fact: dict[str, Any], grids: dict[str, FloatArray]) -> PacedFilter:
    of = {name: grids[f"{place} {name}"] for name in KEPT}
    shape = (KINDS, len(fact["level"]), len(MOVES))
    if any(values.shape != shape for values in of.values()):
        msg = (
            f"a stored state must have grids of shape {shape}, found "
            f"{of['log_weight'].shape}: it was stored by another version"
        )
        raise ValueError(msg)
    return PacedFilter(
        pace=fact["pace"],
        level=np.array(fact["level"]),
        class_prior=class_priors(np.array(fact["level"])),
        log_weight=of["log_weight"],
        frequency=Frequency(mean=of["frequency"], relative=of["relative"]),
        places=Places.of_regression(
            of["one"], of["zero"], variance=of["variance"], slope=of["slope"], left=of["left"]
        ),
        own=Own(mean=of["own"], variance=of["own_variance"]),
        scales=Scales(**fact["scales"]),
        negatives_then=np.array(fact["negatives_then"]),
        log_evidence=fact["log_evidence"],
        changes=np.array(fact["changes"]),
    )
