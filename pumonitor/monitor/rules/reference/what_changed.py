"""Posterior of the changes since the reference, from the filter that follows the class prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from pumonitor.prior.over_time import Explanation, Movement
from pumonitor.results import ClassPriorEstimate

_PRIOR: Final = "class prior"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatChanged:
    """Posterior of the changes since the reference, for one window.

    Attributes
    ----------
    reference : float
        Class prior of the reference, as estimated by now: later windows improve that estimate.
    moved : float
        Probability that the level of the class prior differs from it by a quarter or more.
    factor : mapping of str to float
        "value", "low" and "high" of the window's own class prior over that of the reference.
    since_reference : mapping of str to Movement
        Changes of the level of the "class_prior", of "label_frequency", "ranking" and "negatives".
    explanations : tuple of Explanation
        Combinations of changes, the most probable first. All probabilities add up to 1, and those
        of combinations with a changed class prior to `moved`.
    """

    reference: float
    moved: float
    factor: Mapping[str, float]
    since_reference: Mapping[str, Movement]
    explanations: tuple[Explanation, ...]

    @classmethod
    def of(cls, class_prior: ClassPriorEstimate | None) -> WhatChanged | None:
        """Read it from a stored class prior; None if that was not followed, or is the reference's.

        Examples
        --------
        >>> WhatChanged.of(ClassPriorEstimate.given(0.05)) is None
        True
        """
        stored = None if class_prior is None else class_prior.diagnostics.get("over_time")
        if class_prior is None or stored is None or not stored["explanations"]:
            return None
        since = {name: Movement(**one) for name, one in stored["since_reference"].items()}
        level = since["class_prior"]
        factor = stored.get("factor", asdict(level))  # windows of earlier versions: the level
        return cls(
            reference=class_prior.value / factor["value"],
            factor=factor,
            moved=stored["moved"],
            since_reference=since,
            explanations=_completed(
                [
                    Explanation(changed=tuple(one["changed"]), chance=one["chance"])
                    for one in stored["explanations"]
                ],
                moved=stored["moved"],
            ),
        )


def _completed(stored: Sequence[Explanation], *, moved: float) -> tuple[Explanation, ...]:
    """Rescale the stored probabilities: with a changed class prior they add up to `moved`.

    Improbable explanations are not stored. Their probability is shared among the stored ones, or
    goes to the simplest one if none is stored.
    """
    found: list[Explanation] = []
    for has_moved, whole in ((True, moved), (False, 1 - moved)):
        part = [one for one in stored if (_PRIOR in one.changed) is has_moved]
        part = part or [Explanation(changed=(_PRIOR,) if has_moved else (), chance=1.0)]
        total = sum(one.chance for one in part)
        found += [replace(one, chance=whole * one.chance / total) for one in part]
    return tuple(sorted(found, key=lambda one: -one.chance))
