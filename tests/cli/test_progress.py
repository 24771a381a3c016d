"""Slow commands say in a log where they are; others say nothing."""

import pytest

from pumonitor.cli.backfill import show_delivery
from pumonitor.cli.progress import progress_bar


def steps(step):
    step("Planning card-fraud", None)
    step("Planning card-fraud", None)
    for done in range(21):
        step(f"Evaluating window {done}", done / 20)
    step("Delivering", None)


def test_a_log_has_a_line_for_each_stage_and_quarter(capsys):
    with progress_bar(logged_as="run") as step:
        steps(step)
    assert capsys.readouterr().err.splitlines() == [
        "pumonitor run: Planning card-fraud",
        "pumonitor run: Evaluating window 5, 25% done",
        "pumonitor run: Evaluating window 10, 50% done",
        "pumonitor run: Evaluating window 15, 75% done",
        "pumonitor run: Evaluating window 20, 100% done",
        "pumonitor run: Delivering",
    ]


def test_quick_commands_leave_nothing_in_a_log(capsys):
    with progress_bar() as step:
        steps(step)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_a_bar_and_no_lines(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar(logged_as="run") as step:
        steps(step)
    shown = capsys.readouterr().err
    assert "Delivering" in shown
    assert "pumonitor run:" not in shown


@pytest.mark.parametrize("shares", [[0.0], [0.1, 0.2, 0.24], []])
def test_less_than_a_quarter_is_no_news(capsys, shares):
    with progress_bar(logged_as="backfill") as step:
        for share in shares:
            step("Working", share)
    assert capsys.readouterr().err == ""


def test_a_long_delivery_tells_how_many_messages_it_has_sent(capsys):
    left = [8]
    with progress_bar(logged_as="backfill") as step:
        step("Evaluating window 20", 1.0)
        with show_delivery(lambda: left[0], step):
            left[0] = 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2:] == [
        "pumonitor backfill: Delivering",
        "pumonitor backfill: Delivering, 6 of 8 messages, 75% done",
    ]


def test_a_delivery_of_nothing_tells_no_numbers(capsys):
    with progress_bar(logged_as="backfill") as step, show_delivery(lambda: 0, step):
        pass
    assert capsys.readouterr().err == "pumonitor backfill: Delivering\n"
