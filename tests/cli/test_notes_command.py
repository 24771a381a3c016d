"""`notes` keeps what people write, with their name."""

import json

import pytest

from tests.cli.test_alert_commands import invoke
from tests.monitor.monitored_shop import write_shop


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return write_shop(tmp_path_factory.mktemp("notes"), days=1)


def test_a_note_is_added_listed_and_withdrawn(shop):
    added = ("notes", "add", "card-fraud", "new reader", "--at", "2026-01-02")
    said = invoke(*added, "--until", "2026-01-03", path=shop).stdout
    assert said == "note 1 about 2026-01-02 00:00 UTC\n"
    listed = invoke("notes", "list", "card-fraud", path=shop).stdout
    assert listed.startswith("1  card-fraud  2026-01-02 00:00 to 2026-01-03 00:00 UTC  new reader")
    [found] = json.loads(invoke("notes", "list", "--json", path=shop).stdout)
    assert (found["text"], found["monitor"], found["alert"]) == ("new reader", "card-fraud", None)
    assert invoke("notes", "withdraw", "1", path=shop).stdout == "note 1 is withdrawn\n"
    assert invoke("notes", "list", path=shop).stdout == "There are no notes.\n"
    assert "withdrawn)" in invoke("notes", "list", "--withdrawn", path=shop).stdout
    again = invoke("notes", "withdraw", "1", path=shop, status=2)
    assert "note 1 does not exist or was withdrawn" in again.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["card-fraud", " "], "the note must have a text"),
        (["card-fraud", "x" * 2001], "at most 2,000 characters, got 2,001"),
        (["card-fraud", "a\x1b[31m"], "must not have control characters"),
        (["card-fraud", "x", "--at", "soon"], "--at takes a date or a time"),
        (
            ["card-fraud", "x", "--at", "2026-01-02", "--until", "2026-01-01"],
            "--until must not be earlier",
        ),
        (["card-frau", "x"], "did you mean 'card-fraud'"),
    ],
)
def test_a_note_that_cannot_be_kept_says_why(shop, options, said):
    assert said in invoke("notes", "add", *options, path=shop, status=2).stderr
    assert "x" not in invoke("notes", "list", path=shop).stdout


def test_lines_of_a_note_are_one_line_of_a_list(shop):
    invoke("notes", "add", "card-fraud", "one\n2  two", path=shop)
    assert r"one\n2  two" in invoke("notes", "list", path=shop).stdout
