"""What carries statements to ClickHouse, and what it says of those that it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

_CODE: Final = re.compile(r"^Code: (\d+)\. DB::Exception: (.*)", re.DOTALL)
_AFTERWARDS: Final = re.compile(r": (?:In scope|While executing|while ).*|\. \([A-Z_]+\).*")


class ClickHouseError(Exception):
    """What ClickHouse says, without a secret, with the number of its kind."""

    def __init__(self, said: str, *, code: int) -> None:
        super().__init__(said)
        self.code = code


class Transport(Protocol):
    """Carries statements to ClickHouse and brings answers."""

    def ask(self, sql: str, settings: Mapping[str, str | int]) -> pa.Table:
        """The answer to one statement that only reads.

        Raises
        ------
        ClickHouseError
            If it was refused.
        SourceError
            If nothing answers.
        """

    def receive(self, labels: pa.Table) -> str:
        """Have a table of labels at hand for all further statements; what stands after FROM."""

    def close(self) -> None:
        """Let go of everything."""


def told(said: str) -> ClickHouseError:
    """What ClickHouse says of itself, without the query that it was about.

    Examples
    --------
    >>> error = told("Code: 60. DB::Exception: Unknown table p. (UNKNOWN_TABLE) (version 26.9)")
    >>> str(error), error.code
    ('Unknown table p', 60)
    """
    found = _CODE.search(said.strip())
    if found is None:
        return ClickHouseError(said.strip().splitlines()[0] if said.strip() else "", code=0)
    line = _AFTERWARDS.sub("", found[2].splitlines()[0])
    return ClickHouseError(line, code=int(found[1]))
