"""A share of which a random sample was looked up."""

from __future__ import annotations

from scipy import special


def jeffreys_interval(
    successes: float, trials: float, *, confidence_level: float = 0.95
) -> tuple[float, float, float]:
    """Median and interval of a share from a random sample, never at 0 or 1.

    It is too narrow where cases were not drawn at random, or one entity has several.

    Parameters
    ----------
    successes, trials : float
        0 <= successes <= trials, trials > 0.
    confidence_level : float
        Between 0 and 1.

    Returns
    -------
    value, low, high : float

    Notes
    -----
    Jeffreys' interval: the median and two quantiles of Beta(successes + 1/2, failures + 1/2). Over
    all shares it covers its level on average, not at each of them.

    References
    ----------
    Brown, Cai, DasGupta (2001), Interval estimation for a binomial proportion, Statistical Science
    16(2), section 4.1.1.

    Examples
    --------
    >>> value, low, high = jeffreys_interval(12, 300)
    >>> round(value, 4), round(low, 4), round(high, 4)
    (0.0405, 0.022, 0.0667)
    >>> value, low, high = jeffreys_interval(0, 300)
    >>> 0 < low < value < 0.001 < high < 0.01
    True
    """
    if not 0 <= successes <= trials or trials <= 0 or not 0 < confidence_level < 1:
        msg = (
            "an audited share must satisfy 0 <= successes <= trials > 0 and 0 < confidence_level "
            f"< 1, got {successes} of {trials} at {confidence_level}"
        )
        raise ValueError(msg)
    tail = 0.5 * (1 - confidence_level)
    value, low, high = special.betaincinv(
        successes + 0.5, trials - successes + 0.5, [0.5, tail, 1 - tail]
    ).tolist()
    return value, low, high
