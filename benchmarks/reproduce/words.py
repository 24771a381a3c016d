"""Numbers and verdicts in words, the same for terminal and page."""

from __future__ import annotations

from benchmarks.reproduce.rows import Figure

__all__ = ["number", "ours", "printed", "verdict"]


def number(value: float, *, digits: int = 3) -> str:
    """A number to a few digits after the point, as many as tell it from zero.

    Examples
    --------
    >>> number(0.0744), number(0.00042), number(-1.25), number(4177.0), number(0.0)
    ('0.074', '0.00042', '-1.250', '4177', '0')
    """
    if value == int(value) and abs(value) < 1e9:
        return str(int(value))
    if abs(value) >= 10**-digits:
        return f"{value:.{digits}f}"
    return f"{value:.2g}"


def ours(figure: Figure) -> str:
    """Our number with its Monte-Carlo error, whose leading digits say how many digits to show."""
    if figure.error == 0:
        return number(figure.ours, digits=_digits(figure.ours))
    digits = 3
    while digits < 6 and figure.error < 2 * 10**-digits:
        digits += 1
    return f"{figure.ours:.{digits}f} ± {figure.error:.{digits}f}"


def printed(figure: Figure) -> str:
    """The printed number with the sign of its rule; a dash where there is none."""
    if figure.printed is None:
        return "–"
    sign = {"near": "", "shown": "", "at most": "≤ ", "at least": "≥ "}[figure.rule]
    return f"{sign}{number(figure.printed, digits=_digits(figure.printed))}"


def verdict(figure: Figure) -> str:
    """Inside, outside, or not judged."""
    return {True: "inside", False: "outside", None: "shown"}[figure.inside]


def _digits(value: float) -> int:
    """Papers print three digits; a small number that needs a fourth gets it."""
    return 4 if abs(value) < 0.02 and abs(round(value, 3) - value) > 1e-9 else 3
