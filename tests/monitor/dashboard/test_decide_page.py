"""The decide page: the state is in its address, numbers are those of the ledger and of decide."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from pumonitor.decisions import decision_of, threshold_of_capacity
from pumonitor.metrics.curves import threshold_cells
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.rates import at_threshold
from pumonitor.monitor.dashboard.pages import decide_found
from pumonitor.monitor.dashboard.pages.decide_address import DecideAddress
from pumonitor.monitor.dashboard.pages.decide_evidence import mature_evaluations
from pumonitor.monitor.reports.window_problem import window_problem
from pumonitor.names import estimate_text
from pumonitor.text import given_text, interval_shown, number_text
from tests.monitor.dashboard.page_text import text_of
from tests.monitor.monitored_shop import FIRST

NAME = "card-fraud"
ADDRESS = f"/monitors/{NAME}/decide"
DAY = timedelta(days=1)
STAKES = "value=100&cost=7.5&currency=EUR"


def asked(evaluated, **query):
    return DecideAddress.read(query, zone=evaluated.site.zone(NAME))


def newest_evidence(evaluated):
    newest = next(mature_evaluations(evaluated.ledger, NAME, asked(evaluated)))
    return window_problem(newest, evaluated.ledger).evidence


def lines_of(response):
    """The first table: heading to its cells, each a value and an interval."""
    assert response.status_code == 200
    body = response.text.split("<tbody>")[1].split("</tbody>")[0]
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
        heading = re.search(r'<th scope="row">([^<]*)', row).group(1).strip()
        cells = re.findall(r"<td>(.*?)</td>", row, re.DOTALL)
        found[heading] = [
            tuple(re.findall(r"<b>(.*?)</b>|of\">(.*?)</span>", cell)) for cell in cells
        ]
    return {
        heading: [tuple(a or b for a, b in cell) for cell in cells]
        for heading, cells in found.items()
    }


def test_at_the_present_threshold_it_has_the_stored_numbers(evaluated):
    shown = lines_of(evaluated.get(ADDRESS))
    stored = {
        row.metric: row
        for row in evaluated.ledger.results(NAME, since=FIRST + DAY, until=FIRST + 2 * DAY)
    }
    for heading, metric in (("Precision", "precision"), ("Recall", "recall"), ("F1", "f1")):
        row = stored[metric]
        expected = (estimate_text(metric, row.value), interval_shown(row.low, row.high))
        assert shown[heading][0] == expected
    assert "Money" not in shown
    assert list(shown)[-1] == "F1, whichever threshold is chosen"


def test_impossible_numbers_are_marked_the_same_on_the_page_and_in_the_api(evaluated):
    labels = newest_evidence(evaluated)
    tried = (
        decision_of(labels, 0.5, other_threshold=float(one), value=100, cost=7.5)
        for one in labels.problem.table.lower[::-1]
    )
    found = next(one for one in tried if one.chosen.reasons)
    asked_for = f"threshold={found.chosen.threshold!r}&value=100&cost=7.5"
    response = evaluated.get(f"{ADDRESS}?{asked_for}")
    shown = lines_of(response)
    marked = ("Precision", "F1", "Positives caught", "Positives missed", "Money")
    assert [one for one in marked if not shown[one][1][0].endswith("!")] == []
    assert shown["Recall"][1][0] == number_text(found.chosen["recall"].value)
    assert shown["Money, whichever threshold is chosen"][1][0].endswith("!")
    said = text_of(response)
    reasons = found.chosen.reasons
    assert f"chosen, Positives caught: {reasons['positives_caught']}." in said
    assert f"chosen, Positives missed, Money: {reasons['money']}." in said
    chosen = evaluated.get(f"/api/v1/monitors/{NAME}/decide?{asked_for}").json["thresholds"][1]
    in_api = {name: one["infeasible_reason"] for name, one in chosen["estimates"].items()}
    assert {name: why for name, why in in_api.items() if why} == reasons


def test_numbers_of_a_curve_are_marked_where_precision_is_impossible(evaluated):
    labels = newest_evidence(evaluated)
    problem = labels.problem
    thresholds = decision_of(labels, 0.5).curves["precision_by_threshold"].x
    cells = threshold_cells(problem, cells=CURVE_CELLS, thresholds=(0.5,))
    expected = [PRECISION.estimate(at_threshold(problem, one)).infeasible for one in thresholds]
    assert cells.impossible.tolist() == expected
    assert 0 < sum(expected) < len(expected)
    text = evaluated.get(ADDRESS).text
    marked = {}
    for heading in ("Precision", "Recall"):
        [rows] = re.findall(rf'"{heading} by threshold: numbers">.*?</table>', text, re.DOTALL)
        marked[heading] = [cell.endswith("!") for cell in re.findall(r"</th><td>([^<]*)", rows)]
    places = np.unique(np.linspace(0, len(expected) - 1, 21).round()).astype(int)
    assert marked["Precision"] == [expected[one] for one in places]
    assert not any(marked["Recall"])


def test_charts_show_the_numbers_of_the_tables(evaluated):
    """Every point of a curve, and every mark of the table above; none is held at an axis."""
    # Few cases are reviewed at the marked threshold: most of the curve is above the drawing.
    text = evaluated.get(f"{ADDRESS}?threshold=0.99").text
    labels = newest_evidence(evaluated)
    found = decision_of(labels, 0.5, other_threshold=0.99)
    for metric in ("reviews", "f1", "positives_missed"):
        identifier = f"{metric}-by-threshold".replace("_", "-")
        [chart] = re.findall(rf'<svg class="curves"[^>]*"{identifier}-title">.*?<table', text, re.S)
        path = re.search(r'<path d="([^"]*)" class="line estimate"', chart).group(1)
        points = [tuple(map(float, one.split(","))) for one in re.split("[ML]", path) if one]
        # The axis is read back from what is written beside it.
        ticks = re.findall(r'y="([\d.]+)" text-anchor="end" class="tick">([\d.,]+)<', chart)
        (low, low_text), (high, high_text) = ticks[0], ticks[-1]
        low_value, high_value = (float(one.replace(",", "")) for one in (low_text, high_text))
        each = (high_value - low_value) / (float(high) - float(low))
        heights = [low_value + each * (y - float(low) + 4) for _, y in points]
        curve = found.curves[f"{metric}_by_threshold"]
        assert heights[0] == pytest.approx(curve.y[0], abs=0.3 * abs(each))
        np.testing.assert_allclose(heights[1::2], curve.y[1:], atol=0.3 * abs(each))
        assert chart.count('class="point"') == len(re.findall('<path[^>]*class="place', chart)) == 3
    most = number_text(float(found.curves["reviews_by_threshold"].y[0]))
    assert f"Above the drawing the line goes on to {most}." in text


def test_money_is_that_of_decide_with_its_currency_beside_it(evaluated):
    response = evaluated.get(f"{ADDRESS}?threshold=0.5&{STAKES}&cases=100")
    shown = lines_of(response)
    [stored] = [
        one
        for one in evaluated.ledger.evaluations(NAME, start=FIRST + DAY)
        if one.state != "provisional"
    ]
    labels = window_problem(stored, evaluated.ledger).evidence
    found = decision_of(labels, 0.5, other_threshold=0.5, value=100, cost=7.5)
    assert shown["Money"][0][0] == f"{number_text(found.now['money'].value)} EUR"
    assert shown["Money"][2][0] == f"{number_text(found.best['money'].value)} EUR"
    ends = interval_shown(found.choice.low, found.choice.high)
    assert shown["Money, whichever threshold is chosen"][2] == (ends,)
    assert (
        f"has the highest lower bound of money: {number_text(found.choice.low)} EUR."
        in response.text
    )
    widths = found.reviews(100)
    said = f"become {number_text(widths.best('f1').widths['f1'])} wide"
    assert said in response.text
    assert "<figcaption>Money by threshold</figcaption>" in response.text
    identifiers = re.findall(r' id="([^"]*)"', response.text)
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize(
    ("query", "cases"), [("20", 20), ("10&per=day", 10), ("5&per=share", None)]
)
def test_a_capacity_is_of_a_window_a_day_or_a_share(evaluated, query, cases):
    problem = newest_evidence(evaluated).problem
    cases = cases or 0.05 * float(problem.population.sum())
    threshold = threshold_of_capacity(problem, cases)
    response = evaluated.get(f"{ADDRESS}?capacity={query}")
    assert f"chosen: {given_text(threshold)}</th>" in response.text
    reviews = lines_of(response)["Cases to review"][1][0]
    assert float(reviews) <= cases < float(reviews) + 3


def test_all_can_be_reviewed_where_the_capacity_is_larger(evaluated):
    shown = evaluated.get(f"{ADDRESS}?capacity=99999")
    assert "Every case can be reviewed." in shown.text
    assert lines_of(shown)["Positives missed"][1][0] == "0"


def test_a_threshold_between_two_counts_is_moved_and_that_is_said(evaluated):
    problem = newest_evidence(evaluated).problem
    table = problem.table
    wide = next(one for one in range(len(table)) if table.upper[one] > table.lower[one])
    inside = float(table.lower[wide] + 0.1 * (table.upper[wide] - table.lower[wide]))
    shown = evaluated.get(f"{ADDRESS}?threshold={inside!r}").text
    assert f"{given_text(table.lower[wide])} is shown." in shown


def test_it_stands_on_one_window_and_says_which(evaluated):
    shown = evaluated.get(f"{ADDRESS}?windows=2").text
    assert re.search(r"From the window <a [^>]*>2026-01-02</a> \(final\)", shown)
    assert 'name="windows"' not in shown
    assert lines_of(evaluated.get(f"{ADDRESS}?windows=2")) == lines_of(evaluated.get(ADDRESS))


def test_newer_windows_without_estimates_are_passed_over_and_named(evaluated, monkeypatch):
    newest, earlier = mature_evaluations(evaluated.ledger, NAME, asked(evaluated))
    assert newest.window.start - DAY == earlier.window.start == FIRST
    expected = lines_of(evaluated.get(f"{ADDRESS}?until=2026-01-02"))

    def restored(window, ledger):
        return None if window == newest else window_problem(window, ledger)

    monkeypatch.setattr(decide_found, "window_problem", restored)
    monkeypatch.setattr(evaluated.site.kept, "_found", OrderedDict())
    response = evaluated.get(ADDRESS)
    assert re.search(r"From the window <a [^>]*>2026-01-01</a>", response.text)
    said = r"Newer mature windows have no estimates, their pages say why: <a [^>]*>2026-01-02</a>\."
    assert re.search(said, response.text)
    assert lines_of(response) == expected


def test_of_another_target_no_review_is_compared_and_the_page_says_why(evaluated, monkeypatch):
    def restored(window, ledger):
        found = window_problem(window, ledger)
        of_window = replace(found.problem, target="window")
        return replace(found, evidence=replace(found.evidence, problem=of_window))

    monkeypatch.setattr(decide_found, "window_problem", restored)
    monkeypatch.setattr(evaluated.site.kept, "_found", OrderedDict())
    shown = evaluated.get(ADDRESS).text
    assert "Which review would tell more is not said: reviews are compared for the target" in shown
    assert "Random reviews" not in shown


def test_until_chooses_an_earlier_window_and_none_is_said(evaluated):
    earlier = evaluated.get(f"{ADDRESS}?until=2026-01-02").text
    assert "2026-01-01</a> (final)" in earlier
    nothing = evaluated.get(f"{ADDRESS}?until=2026-01-01")
    assert nothing.status_code == 200
    assert "No mature window has predictions before 2026-01-01 yet." in nothing.text


def test_without_any_estimates_it_says_so(shop):
    shown = shop.get(ADDRESS)
    assert shown.status_code == 200
    assert "The newest mature windows have no estimates, their pages say why: <a" in shown.text
    assert "From the window" not in shown.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("threshold=0.5&capacity=3", "give threshold or capacity, not both"),
        ("threshold=much", "threshold must be a number, got &#39;much&#39;"),
        ("threshold=nan", "threshold must be a number"),
        ("capacity=-1", "capacity must be a number from 0 on"),
        ("capacity=101&per=share", "capacity must be at most 100%"),
        ("per=year", "per must be window, day or share"),
        ("value=3", "money needs both the value of a caught positive and the cost of a review"),
        ("cases=0", "cases must be a number from 1 to 2000"),
        ("cases=2001", "cases must be a number from 1 to 2000"),
        ("value=1e99&cost=1", "value must be a number from 0 on"),
        (f"currency={'x' * 500}", "currency must have at most 400 characters"),
    ],
)
def test_what_cannot_be_read_is_refused(evaluated, query, said):
    response = evaluated.get(f"{ADDRESS}?{query}")
    assert response.status_code == 400
    assert said in response.text


def test_the_form_keeps_what_was_asked_and_hostile_words_are_harmless(evaluated):
    query = "capacity=7&per=day&value=2&cost=1&currency=<b>\"'&cases=50"
    shown = evaluated.get(f"{ADDRESS}?{query}").text
    for name, value in (("capacity", "7"), ("value", "2"), ("cost", "1"), ("cases", "50")):
        assert re.search(rf'name="{name}"[^>]* value="{value}"', shown)
    assert '<option value="day" selected>' in shown
    assert "<b>\"'" not in shown
    assert "&lt;b&gt;" in shown


def test_an_answer_is_computed_once(evaluated, monkeypatch):
    first = evaluated.get(f"{ADDRESS}?cases=77").text
    monkeypatch.setattr(decide_found, "decision_of", lambda *_: pytest.fail("computed again"))
    assert evaluated.get(f"{ADDRESS}?cases=77").text == first


def test_unknown_monitors_are_not_there(evaluated):
    assert evaluated.get("/monitors/another/decide").status_code == 404
