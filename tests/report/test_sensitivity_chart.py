from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pumonitor
from pumonitor.report.charts import chart_names
from pumonitor.report.html import render_html
from pumonitor.report.sensitivity_chart import (
    sensitivities,
    sensitivity_panel,
    sensitivity_reading,
)
from pumonitor.results import Evaluation


@pytest.fixture(scope="module")
def estimated() -> Evaluation:
    rng = np.random.default_rng(4)
    is_positive = rng.random(20_000) < 0.1
    labels = is_positive & (rng.random(20_000) < 0.4)
    return pumonitor.evaluate(labels, rng.normal(3.0 * is_positive), threshold=1.0)


def _reading(evaluation: Evaluation) -> str:
    return sensitivity_reading(sensitivities(evaluation)["auc"])


def test_a_panel_for_each_metric_that_has_a_value(
    usual: Evaluation, nothing_flagged: Evaluation
) -> None:
    assert list(sensitivities(usual)) == ["precision", "recall", "f1", "auc"]
    assert "precision" not in sensitivities(nothing_flagged)


def test_interval_and_what_fits_are_told_apart(estimated: Evaluation) -> None:
    swept = estimated.sensitivity("auc")
    text = _reading(estimated)
    assert "stronger shade is the 95% interval" in text
    assert "upper bound unless some negatives are unlike all positives" in text
    assert "down to what is confirmed" in text
    low, high = swept.identified_set
    assert f"The faint shade, {100 * low:.1f} to {100 * high:.1f}%" in text


def test_an_interval_that_begins_with_what_is_confirmed_is_an_upper_bound() -> None:
    rng = np.random.default_rng(4)
    is_positive = rng.random(5_000) < 0.02
    labels = is_positive & (rng.random(5_000) < 0.4)
    text = _reading(pumonitor.evaluate(labels, rng.normal(is_positive), threshold=1.0))
    assert "how many positives there can be, and not how few" in text
    assert "faint shade" not in text


def test_an_interval_from_elsewhere_begins_where_it_was_measured(estimated: Evaluation) -> None:
    """Such as that of a class prior which an audit gave and a monitor has followed since."""
    swept = estimated.sensitivity("auc")
    prior = replace(swept.class_prior, low=0.08, high=0.12, method="followed over windows")
    text = sensitivity_reading(replace(swept, class_prior=prior, identified_set=(0.08, 0.12)))
    low, high = swept.possible
    assert "as low as it can" not in text
    assert text.endswith(
        "It does not come from these cases alone, which by themselves allow every share of "
        f"{100 * low:.1f} to {100 * high:.1f}%."
    )


def test_a_known_share_has_no_interval_and_a_given_one_is_no_upper_bound(
    impossible: Evaluation, usual: Evaluation, case_control: Evaluation
) -> None:
    assert "stronger shade" not in _reading(impossible)
    assert "stronger shade is the 95% interval of the share, 4.0 to 6.0%" in _reading(usual)
    for evaluation in (impossible, usual, case_control):
        assert "every share that these cases by themselves allow" in _reading(evaluation)
        assert "upper bound" not in _reading(evaluation)
    assert "no fewer than are confirmed" in _reading(usual)
    assert "confirmed" not in _reading(case_control)


def test_the_panel_marks_point_interval_and_what_fits(estimated: Evaluation) -> None:
    swept = estimated.sensitivity("precision")
    drawn = sensitivity_panel(swept, heading="Precision")
    marked = [drawn["layer"][index]["data"]["values"] for index in (0, 1, -1)]
    prior = estimated.class_prior
    low, high = swept.identified_set
    assert marked == [
        [{"low": low, "high": high}],
        [{"low": prior.low, "high": prior.high}],
        [{"x": prior.value}],
    ]


def test_the_page_asks_what_if(estimated: Evaluation) -> None:
    page = render_html(estimated)
    assert "What if the share of positives is different?" in page
    assert 'aria-label="F1 by share of positives"' in page


@pytest.mark.slow
def test_an_evaluation_without_its_table_has_all_but_this(estimated: Evaluation) -> None:
    bare = replace(estimated, at_priors=None)
    assert "sensitivity" not in chart_names(bare)
    assert "What if" not in render_html(bare)
