"""Where the class prior of a report comes from, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pumonitor.results import ClassPriorEstimate

_ELSEWHERE: Final = "given by "


def over_time(class_prior: ClassPriorEstimate) -> Mapping[str, Any] | None:
    """What is known of one that was followed over windows; None of others.

    Examples
    --------
    >>> over_time(ClassPriorEstimate.given(0.05)) is None
    True
    """
    found: Mapping[str, Any] | None = class_prior.diagnostics.get("over_time")
    return found


def prior_origin(method: str) -> str | None:
    """How one that was not followed was found, as a sentence begins; None where somebody gave it.

    Parameters
    ----------
    method : str
        Of the class prior. One that was estimated before the evaluation is not given by anybody.

    Examples
    --------
    >>> prior_origin("distcurve"), prior_origin("given by auto")
    ('Estimated from the scores by the method distcurve', 'Estimated from the scores')
    >>> prior_origin("given interval") is None
    True
    """
    own = method.removeprefix(_ELSEWHERE)
    if own.startswith("given"):
        return None
    if own == "audit":
        return "Estimated from an audit and the confirmations"
    if own == "audit carried":
        return "Estimated from the confirmations and an audit that is carried into the window"
    if own == "reviews":
        return "Estimated from reviews and complaints"
    if own == "propensity":
        return "Counted by the chances of being confirmed"
    return f"Estimated from the scores{'' if own == 'auto' else f' by the method {own}'}"
