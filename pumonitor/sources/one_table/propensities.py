"""Propensities of rows in files: the SQL of the weights they make."""

from __future__ import annotations

from dataclasses import dataclass

from pumonitor._validate import check_propensity_settings
from pumonitor.sources.reach.session import number


@dataclass(frozen=True, slots=True, kw_only=True)
class PropensityColumn:
    """How propensities are read: from a column, or one for all rows (`of_all`)."""

    of_all: float | None
    detection_rate: float
    min_propensity: float

    @classmethod
    def read(
        cls, propensity: str | float | None, *, detection_rate: float, min_propensity: float
    ) -> PropensityColumn | None:
        """Settings checked; None without propensities.

        Raises
        ------
        ValueError
            If a setting is out of range, or there is one without propensities.
        """
        check_propensity_settings(
            propensity, detection_rate=detection_rate, min_propensity=min_propensity
        )
        if propensity is None:
            return None
        of_all = None if isinstance(propensity, str) else float(propensity)
        if of_all is not None and not 0 < of_all <= 1:
            msg = f"propensity must satisfy 0 < propensity <= 1, got {of_all:g}"
            raise ValueError(msg)
        return cls(of_all=of_all, detection_rate=detection_rate, min_propensity=min_propensity)

    @property
    def logged(self) -> str:
        """SQL of the propensity as it was given."""
        return "propensity" if self.of_all is None else number(self.of_all)

    @property
    def used(self) -> str:
        """SQL of the propensity that weights are made of."""
        return (
            f"greatest({self.logged} * {number(self.detection_rate)}, "
            f"{number(self.min_propensity)})"
        )


EVERY_POSITIVE = PropensityColumn(of_all=1.0, detection_rate=1.0, min_propensity=0.0)
"""What the absence of propensities amounts to."""


def moments_of(chance: PropensityColumn) -> str:
    """The sums a table of weighted rows needs beside its counts."""
    logged, used = chance.logged, chance.used

    def total(expression: str, label: int, name: str, *, only: str = "true") -> str:
        where = f"label = {label} AND {only}"
        return f", coalesce(sum({expression}) FILTER (WHERE {where}), 0.0) AS {name}"

    lifted = f"{logged} * {number(chance.detection_rate)} < {number(chance.min_propensity)}"
    return "".join(
        [
            total(f"weight / {used}", 1, "labeled_sum"),
            total(f"(weight / {used}) ** 2", 1, "labeled_squares"),
            total("weight", 1, "labeled_mass"),
            total("weight ** 2", 1, "labeled_mass_squares"),
            total(f"weight ** 2 / {used}", 1, "labeled_cross"),
            total("weight", 0, "unlabeled_sum"),
            total("weight ** 2", 0, "unlabeled_squares"),
            total("weight", -1, "negative_sum"),
            total("weight ** 2", -1, "negative_squares"),
            total("1.0", 1, "lifted", only=lifted),
            total("weight", 0, "reviewable", only=f"{logged} > 0"),
            total(used, 0, "expected", only=f"{logged} > 0"),
            # NaN compares as greater than everything here, and null as neither.
            total("1.0", 0, "with_chance", only=f"{logged} BETWEEN 0 AND 1"),
            f", coalesce(max(weight / {used}) FILTER (WHERE label = 1), 0.0) AS heaviest",
        ]
    )
