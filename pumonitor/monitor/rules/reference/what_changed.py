"""What has changed since the reference, as the filter that follows the class prior holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pumonitor.prior.over_time import Explanation, Movement
from pumonitor.results import ClassPriorEstimate

__all__ = ["WhatChanged"]

_PRIOR: Final = "class prior"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatChanged:
    """Of a class prior that was followed from a reference.

    Attributes
    ----------
    reference : float
        The reference's class prior, as it is known now: a change tells of the level too.
    moved : float
        Chance that the class prior differs from that by a quarter or more.
    since_reference : mapping of str to Movement
        Of "class_prior", "label_frequency", "ranking" and "negatives".
    explanations : tuple of Explanation
        Combinations of them that may have changed, the likeliest first. Their chances add up to 1,
        those of a class prior that has changed to `moved`.
    """

    reference: float
    moved: float
    since_reference: Mapping[str, Movement]
    explanations: tuple[Explanation, ...]

    @classmethod
    def of(cls, class_prior: ClassPriorEstimate | None) -> WhatChanged | None:
        """None where the class prior was not followed, or is that of the reference itself.

        Examples
        --------
        >>> WhatChanged.of(ClassPriorEstimate.given(0.05)) is None
        True
        """
        stored = None if class_prior is None else class_prior.diagnostics.get("over_time")
        if class_prior is None or stored is None or not stored["explanations"]:
            return None
        since = {name: Movement(**one) for name, one in stored["since_reference"].items()}
        return cls(
            reference=class_prior.value / since["class_prior"].value,
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
    """With chances that add up to 1, and those with another class prior to that of its move.

    Unlikely explanations are not stored. What they have is that of the others, or of the simplest.
    """
    found: list[Explanation] = []
    for has_moved, whole in ((True, moved), (False, 1 - moved)):
        part = [one for one in stored if (_PRIOR in one.changed) is has_moved]
        part = part or [Explanation(changed=(_PRIOR,) if has_moved else (), chance=1.0)]
        total = sum(one.chance for one in part)
        found += [replace(one, chance=whole * one.chance / total) for one in part]
    return tuple(sorted(found, key=lambda one: -one.chance))
