"""Where the class prior of a report comes from, in words."""

from __future__ import annotations

__all__ = ["prior_origin", "was_pooled"]

_ELSEWHERE = "given by "
_POOLED = "pooled"


def was_pooled(method: str) -> bool:
    """Whether earlier windows have a say in it.

    Examples
    --------
    >>> was_pooled("given by pooled auto"), was_pooled("given by auto")
    (True, False)
    """
    return method.removeprefix(_ELSEWHERE).startswith(_POOLED)


def prior_origin(method: str) -> str | None:
    """How it was found, as a sentence begins; None where somebody gave it.

    Parameters
    ----------
    method : str
        Of the class prior. One that was estimated before the evaluation is not given by anybody.

    Examples
    --------
    >>> prior_origin("given by pooled auto")
    'Estimated from the scores and pooled with earlier windows'
    >>> prior_origin("given by pooled")
    'Estimated from the scores of earlier windows, since those of this one cannot tell'
    >>> prior_origin("distcurve")
    'Estimated from the scores by the method distcurve'
    >>> prior_origin("given interval") is None
    True
    """
    found = method.removeprefix(_ELSEWHERE)
    if found.startswith("given"):
        return None
    if found == _POOLED:
        return "Estimated from the scores of earlier windows, since those of this one cannot tell"
    own = found.removeprefix(f"{_POOLED} ")
    if own == "propensity":
        how = "Counted by the chances of being confirmed"
    else:
        how = f"Estimated from the scores{'' if own == 'auto' else f' by the method {own}'}"
    return f"{how} and pooled with earlier windows" if own != found else how
