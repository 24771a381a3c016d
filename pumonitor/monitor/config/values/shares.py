"""Shares in a configuration: 5% or 0.05."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from pumonitor.errors import if_percent
from pumonitor.monitor.config.values.kinds import is_number

_PERCENT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def _share_that(fits: Callable[[float], bool], meaning: str) -> Callable[[Any], Any]:
    """A reader of shares; None is passed on, as a key may be left empty."""

    def read(given: Any) -> Any:
        if given is None:
            return None
        percent = _PERCENT.fullmatch(given.strip()) if isinstance(given, str) else None
        share = float(percent[1]) / 100 if percent else given
        if not is_number(share) or not fits(share):
            hint = if_percent(float(share)) if is_number(share) else ""
            msg = f"must be a share {meaning}{hint}"
            raise ValueError(msg)
        return float(share)

    return read


ShareToHalf = Annotated[
    float,
    BeforeValidator(
        _share_that(lambda share: 0 <= share <= 0.5, "from 0 to 0.5, such as 5% or 0.05"),
        json_schema_input_type=float | str,
    ),
    Field(examples=["5%", 0.05]),
]
InnerShare = Annotated[
    float,
    BeforeValidator(
        _share_that(lambda share: 0 < share < 1, "between 0 and 1, such as 85% or 0.85"),
        json_schema_input_type=float | str,
    ),
    Field(examples=["85%", 0.85]),
]
