"""What the ticks of an axis of numbers say: the formats of d3 that charts here use."""

from __future__ import annotations

import math
import re
from typing import Final

_FORMAT: Final = re.compile(r"^(?P<comma>,?)(?:\.(?P<digits>\d+))?(?P<trim>~?)(?P<kind>[%f])$")


def tick_text(value: float, how: str, *, step: float) -> str:
    """A number as its axis shows it.

    Parameters
    ----------
    value : float
    how : str
        A format of d3 for fixed digits or percents; "" as many digits as the step has.
    step : float
        Between ticks; it has the digits where the format names none.

    Raises
    ------
    ValueError
        If the format is another.

    Examples
    --------
    >>> tick_text(0.2, ".0%", step=0.2), tick_text(0.025, "~%", step=0.005)
    ('20%', '2.5%')
    """
    found = _FORMAT.match(how or ",f")
    if found is None:
        msg = f"format {how!r} is not one that drawings know"
        raise ValueError(msg)
    percent = found["kind"] == "%"
    digits = (
        int(found["digits"])
        if found["digits"]
        else max(0, -math.floor(math.log10(step) + 1e-9) - 2 * percent)
    )
    text = f"{100 * value if percent else value:{found['comma']}.{digits}f}"
    if found["trim"] and "." in text:
        text = text.rstrip("0").removesuffix(".")
    if text.startswith("-"):
        zero = not any(letter in "123456789" for letter in text)
        text = text[1:] if zero else "−" + text[1:]
    return text + "%" * percent
