"""What is wrong with a class prior that a configuration gives, by the key that is wrong."""

import pytest

from pumonitor.monitor.config.file import read_configuration_text
from tests.monitor.config.one_problem import GOOD, only, problems

OF = "of: {start: 2026-01-01, end: 2026-02-01}"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            f"{{value: 0.03, {OF}}}",
            "class_prior, line 13: has value 0.03 without low and high, but a share is never "
            "known exactly: write both ends of its 95% interval",
        ),
        (f"{{value: 0.03, low: 0.02, {OF}}}", "has value 0.03 without high, but a share is never"),
        (f"{{low: 0.02, high: 0.04, {OF}}}", "has no value: write the likeliest share beside low"),
        (
            "{value: 0.03, low: 0.02, high: 0.04}",
            "has no period: add the one that the share is of, such as of: {start: 2026-01-01, "
            "end: 2026-02-01}, or write assumed: {value: 0.03, low: 0.02, high: 0.04} if it "
            "never",
        ),
        (f"{{value: 3, low: 0.02, high: 0.04, {OF}}}", "below 1, got 3; did you mean 0.03?"),
        (f"{{value: '3%', low: 0.02, high: 0.04, {OF}}}", "without quotes or percent sign"),
        (
            f"{{value: 0.05, low: 0.02, high: 0.04, {OF}}}",
            "value must lie from low to high, got 0.05 and 0.02 to 0.04",
        ),
        (
            f"{{value: 0.03, low: 0.04, high: 0.02, {OF}}}",
            "low must be below high, got low 0.04 and high 0.02",
        ),
        (
            "{value: 0.03, low: 0.02, high: 0.04, of: {start: 2026-02-01, end: 2026-01-01}}",
            "class_prior.of.end, line 13: must be after start, got end 2026-01-01 and start "
            "2026-02-01",
        ),
        (
            "{value: 0.03, low: 0.02, high: 0.04, of: {start: 2026-01-01T01:00, end: 2026-01-02}}",
            "of contains no whole window of 1d: it is from 2026-01-01 01:00:00 to 2026-01-02, and "
            "the window in which it begins is from 2026-01-01 00:00 to 2026-01-02 00:00 UTC",
        ),
        (f"{{positives: 12, {OF}}}", "has positives without cases: write the number of positives"),
        (
            f"{{positives: 300, cases: 12, {OF}}}",
            "positives must not be more than cases, got 300 of 12: write positives: 12, cases: 300",
        ),
        (f"{{positives: 0.04, cases: 300, {OF}}}", "must be a whole number of cases, 0 or more"),
        (f"{{positives: 0, cases: 0, {OF}}}", "cases must be 1 or more"),
        ("{positives: 12, cases: 300}", "add the one that the cases were drawn from"),
        (f"{{positives: 12, cases: 300, value: 0.03, {OF}}}", "or positives and cases of an audit"),
        (f"{{assumed: 0.03, {OF}}}", "has of beside assumed, which is a constant for all windows"),
        ("{assumed: 3}", "0 < class_prior < 1, got 3; did you mean 0.03?"),
        ("{assumed: {value: 0.03}}", "assumed, line 13: must be a number, [low, high]"),
        ("{assumed: null}", "assumed must be a number, [low, high]"),
        (f"{{valu: 0.03, low: 0.02, high: 0.04, {OF}}}", "did you mean 'value'?"),
        ("{prior: 0.1}", "(there are value, low, high, positives, cases, of, assumed)"),
    ],
)
def test_a_class_prior_of_a_period_names_the_key_that_is_wrong(given, problem):
    assert problem in only(GOOD.replace("    window", f"    class_prior: {given}\n    window"))


def test_a_class_prior_of_a_period_stays_below_the_purity_of_labels():
    given = f"{{value: 0.5, low: 0.4, high: 0.9, {OF}}}"
    beside = f"    class_prior: {given}\n    label_purity: 0.9\n    window"
    text = GOOD.replace("    window", beside)
    assert "label_purity, line 14: is 0.9 and class_prior goes up to 0.9" in only(text)
    purer = text.replace("label_purity: 0.9", "label_purity: 0.91")
    assert read_configuration_text(purer, environment={}).configuration.monitors


def test_all_percentages_of_a_class_prior_are_told_at_once():
    given = f"{{value: 3, low: 2, high: 4, {OF}}}"
    found = problems(GOOD.replace("    window", f"    class_prior: {given}\n    window"))
    assert [one.partition("did you mean ")[2] for one in found] == ["0.03?", "0.02?", "0.04?"]
