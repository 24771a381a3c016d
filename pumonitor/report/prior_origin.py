"""Where the class prior of a report comes from, in words."""

from __future__ import annotations

from typing import Final

__all__ = ["prior_origin", "was_followed"]

_ELSEWHERE: Final = "given by "
_FOLLOWED: Final = "followed from "
_GIVEN: Final = "a given prior"


def was_followed(method: str) -> bool:
    """Whether earlier windows have a say in it.

    Examples
    --------
    >>> was_followed("given by followed from auto"), was_followed("given by auto")
    (True, False)
    """
    return method.removeprefix(_ELSEWHERE).startswith(_FOLLOWED)


def prior_origin(method: str) -> str | None:
    """How it was found, as a sentence begins; None where somebody gave it for ever.

    Parameters
    ----------
    method : str
        Of the class prior. One that was estimated before the evaluation is not given by anybody.

    Examples
    --------
    >>> prior_origin("given by followed from auto")
    'Estimated from the scores of the first windows and followed from there'
    >>> prior_origin("followed from a given prior")
    'Given for a stated period and followed from there'
    >>> prior_origin("distcurve")
    'Estimated from the scores by the method distcurve'
    >>> prior_origin("given interval") is None
    True
    """
    found = method.removeprefix(_ELSEWHERE)
    if found.startswith("given"):
        return None
    if found == f"{_FOLLOWED}{_GIVEN}":
        return "Given for a stated period and followed from there"
    own = found.removeprefix(_FOLLOWED)
    if own == "propensity":
        return "Counted by the chances of being confirmed"
    by = "" if own == "auto" else f" by the method {own}"
    if own != found:
        return f"Estimated from the scores of the first windows{by} and followed from there"
    return f"Estimated from the scores{by}"
