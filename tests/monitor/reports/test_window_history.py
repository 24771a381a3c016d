"""The windows up to one, as its report draws them."""

from datetime import timedelta

import pytest

from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.reports.window_history import window_history
from pumonitor.monitor.reports.window_report import window_files
from pumonitor.report.history_chart import HistoryPoint
from pumonitor.tables import ScoreTable
from tests.monitor.made_up_results import record, write_made_up
from tests.monitor.monitored_shop import FIRST

DAY = timedelta(days=1)


def test_a_window_is_drawn_after_those_before_it_and_none_that_came_later(tmp_path):
    path = write_made_up(tmp_path)
    record(path, [0, 1, 2, 3])
    with open_ledger(read_configuration(path, needs="ledger").configuration) as ledger:
        (third,) = ledger.evaluations("card-fraud", start=FIRST + 2 * DAY)
        history = window_history(third, ledger)
    # Precision is undefined in all of them.
    assert set(history) == {"Share of positives", "AUL", "AUC", "Recall", "F1"}
    assert [one.start for one in history["AUL"]] == [FIRST, FIRST + DAY, FIRST + 2 * DAY]
    assert [(one.value, one.low, one.high) for one in history["AUL"]] == [
        pytest.approx((0.41, 0.30, 0.48))
    ] * 3


@pytest.mark.slow
def test_a_report_begins_its_pictures_with_the_windows_before():
    table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    prior = evaluate_table(table, threshold=0.8, class_prior=0.06).class_prior
    points = [
        HistoryPoint(start=FIRST + at * DAY, value=0.5 + 0.1 * at, low=0.4, high=0.9)
        for at in range(3)
    ]
    page = window_files(table, prior, threshold=0.8, title="Fraud", history={"Recall": points})[
        "report.html"
    ]
    assert page.index("The windows up to this one") < page.index("(ROC)")
    without = window_files(table, prior, threshold=0.8, title="Fraud")["report.html"]
    assert "The windows up to this one" not in without
