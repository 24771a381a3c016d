"""What is told of a change: how far one thing has moved, and which combinations explain it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """Of one thing since the reference.

    Attributes
    ----------
    value, low, high : float
        Now over then: median and 95% interval.
    chance : float
        That it has moved, see `movements`.
    """

    value: float
    low: float
    high: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One combination of what has moved since the reference.

    Attributes
    ----------
    changed : tuple of str
        Of "class prior", "label frequency", and "ranking" or "negatives"; empty when nothing has.
    chance : float
        The combinations are exclusive, their chances add up to 1.
    factors : mapping of str to float
        Of "class prior", "label frequency" and "ranking" as far as they are in it: now over then if
        it is right.
    """

    changed: tuple[str, ...]
    chance: float
    factors: Mapping[str, float] = field(default_factory=dict)
