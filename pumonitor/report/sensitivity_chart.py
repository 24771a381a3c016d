"""What if the share of positives is different: one small panel for each metric, and its reading."""

from __future__ import annotations

import numpy as np

from pumonitor.names import SHARES, title
from pumonitor.report import palette
from pumonitor.report.chart_parts import MARKED, Spec, field, layer, layered, second
from pumonitor.report.curve_chart import band_and_lines
from pumonitor.results import Curve, Evaluation
from pumonitor.results.sensitivity import Sensitivity
from pumonitor.text import percent_text

_METRICS = ("precision", "recall", "f1", "auc")

_WIDTH, _HEIGHT, _LABELS, _COLUMNS = 150, 110, 36, 2


def sensitivities(evaluation: Evaluation) -> dict[str, Sensitivity]:
    """Each metric of the picture that has a value at some class prior, by name."""
    if evaluation.at_priors is None:
        return {}
    swept = {
        name: evaluation.sensitivity(name) for name in _METRICS if name in evaluation.estimates
    }
    return {name: found for name, found in swept.items() if found.undefined_reason is None}


def sensitivity_chart(evaluation: Evaluation) -> Spec:
    """One panel for each metric in one picture."""
    panels = [
        sensitivity_panel(swept, heading=title(name, evaluation.settings))
        for name, swept in sensitivities(evaluation).items()
    ]
    shared = {"scale": {"x": "shared"}}
    return {"concat": panels, "columns": _COLUMNS, "spacing": 18, "resolve": shared}


def sensitivity_reading(swept: Sensitivity) -> str:
    """What to read from the panels, with the two kinds of not knowing the share kept apart."""
    prior, (lowest, highest) = swept.class_prior, swept.identified_set
    sentences = [
        "Each line is the measure if the share of positives were the one below it; blue around it "
        "is what chance leaves open at that share."
    ]
    if not prior.is_known:
        sentences.append(
            f"The stronger shade is the {percent_text(prior.confidence_level)} interval of the "
            f"share, {_between(prior.low, prior.high)}: what chance leaves open of it."
        )
    # In case-control the confirmed positives are no cases of the population.
    least, floor = "", "nearly none"
    if swept.possible[0] > 0:
        least, floor = "no fewer than are confirmed, ", "what is confirmed"
    faint = f"The faint shade, {_between(lowest, highest)}, is"
    if swept.identified_set == swept.possible:
        sentences.append(
            f"{faint} every share that these cases by themselves allow: {least}no more than fit "
            "the scores."
        )
    elif (lowest, highest) != (prior.low, prior.high):
        sentences.append(
            f"{faint} what fits as well: a share estimated from fair labels is an upper bound "
            "unless some negatives are unlike all positives, and no number of cases rules out a "
            f"lower one, down to {floor}."
        )
    elif not prior.is_known and prior.low > swept.possible[0] * (1 + 1e-9):
        # Of a share that was given or measured elsewhere, such as by an audit.
        sentences.append(
            "It does not come from these cases alone, which by themselves allow every share of "
            f"{_between(*swept.possible)}."
        )
    elif not prior.is_known:
        sentences.append(
            "It begins as low as it can: the scores tell how many positives there can be, and not "
            "how few."
        )
    return " ".join(sentences)


def _between(low: float, high: float) -> str:
    width = high - low
    return (
        f"{percent_text(low, width=width).removesuffix('%')} to {percent_text(high, width=width)}"
    )


def sensitivity_panel(swept: Sensitivity, *, heading: str) -> Spec:
    """A metric against the share of positives: its line, and what is known of the share."""
    prior = swept.class_prior
    x = field(
        "x",
        scale={"domain": [float(swept.priors[0]), float(swept.priors[-1])], "nice": False},
        axis={
            "title": "Share of positives",
            "format": "~%",
            "tickCount": 3,
            "grid": False,
            "titlePadding": 4,
            "labelFlush": False,
        },
    )
    y = field(
        "y",
        scale={"domain": [0, 1], "nice": False},
        axis={
            "title": None,
            "tickCount": 3,
            "format": ".0%" if swept.name in SHARES else ".1f",
            "minExtent": _LABELS,
            "maxExtent": _LABELS,
        },
    )
    layers = [_shade(swept, swept.identified_set, x, opacity=0.16)]
    if not prior.is_known:
        layers.append(_shade(swept, (prior.low, prior.high), x, opacity=0.38))
    layers += band_and_lines(_curve(swept), x=x, y=y, with_legend=False)
    rule = layer([{"x": prior.value}], "rule", look=MARKED, x=x)
    return layered(*layers, rule, width=_WIDTH, height=_HEIGHT, title=heading)


def _shade(swept: Sensitivity, shares: tuple[float, float], x: Spec, *, opacity: float) -> Spec:
    """A range of shares of positives, as far as the panel goes."""
    ends = {
        "low": max(shares[0], float(swept.priors[0])),
        "high": min(shares[1], float(swept.priors[-1])),
    }
    look = {"color": palette.AXIS, "opacity": opacity}
    return layer([ends], "rect", look=look, x={**x, "field": "low"}, x2=second("high"))


def _curve(swept: Sensitivity) -> Curve:
    value, low, high = swept.displayed
    # Where there is no value there is none to clip either.
    missing = ~np.isfinite(swept.value)
    return Curve(
        name=swept.name,
        x_title="Share of positives",
        y_title=swept.name,
        x=swept.priors,
        y=np.where(missing, np.nan, value),
        low=np.where(missing, np.nan, low),
        high=np.where(missing, np.nan, high),
    )
