"""Values of a statement's parameters."""

from __future__ import annotations

from dataclasses import dataclass, field

from pumonitor.sources.column_types.column_kinds import Kind
from pumonitor.sources.column_types.dialects import Dialect


@dataclass(slots=True)
class Values:
    """Values of a statement: bound where the engine takes parameters, else written out."""

    dialect: Dialect
    bound: dict[str, object] = field(default_factory=dict)

    def write(self, name: str, value: object) -> str:
        """How the statement refers to a value."""
        if not self.dialect.takes_parameters:
            return self.dialect.constant(value)
        self.bound[name] = self.dialect.parameter(value)
        return f":{name}"

    def write_bound(self, name: str, value: object, kind: Kind, *, upper: bool = False) -> str:
        """The same of an end of a stretch of time, for the bare column of times of this kind."""
        if self.dialect.takes_parameters:
            return self.write(name, value)
        return self.dialect.bound(value, kind, upper=upper)

    def bind(self, **given: object) -> None:
        """Set parameters that the user's own query refers to."""
        self.bound |= {name: self.dialect.parameter(value) for name, value in given.items()}
