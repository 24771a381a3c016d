"""Reading YAML: plain values, places, and no word of what may be a secret."""

import re
from datetime import date, datetime

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.config.text.yaml_document import read_document


def value(text):
    found = read_document(text, name="x.yaml")
    assert found.problems == ()
    return found.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1e-3", 0.001),
        ("a: -.5", -0.5),
        ("a: +7", 7),
        ("a: 1:30", "1:30"),
        ("a: yes", "yes"),
        ("a: NO", "NO"),
        ("a: true", True),
        ("a: ~", None),
        ("a:", None),
        ('a: "1"', "1"),
        ("a: 'true'", "true"),
        ("a: 2026-01-31", date(2026, 1, 31)),
        ("a: 2026-01-31T06:30", datetime(2026, 1, 31, 6, 30)),  # noqa: DTZ001
        ("a: 0x10", "0x10"),
        ("a: 1_000", "1_000"),
        ("a: .nan", ".nan"),
        ("a: |\n  one\n  two\n", "one\ntwo\n"),
    ],
)
def test_plain_values_are_what_people_mean(text, expected):
    found = value(text)["a"]
    assert found == expected
    assert type(found) is type(expected)


def test_a_reference_may_stand_inside_braces_and_keeps_its_name():
    assert value("a: {apprise: ${PAGER_URL}, b: [${X}, 1]}  # ${COMMENT}") == {
        "a": {"apprise": "${PAGER_URL}", "b": ["${X}", 1]}
    }


def test_an_empty_file_is_nothing():
    assert value("# only a comment\n") is None


def test_aliases_are_read_and_keys_that_stand_twice_are_told_with_both_lines():
    found = read_document("a: &x {b: 1}\nc: *x\na: 2\nd:\n  e: 1\n  e: 2\n", name="x.yaml")
    assert found.value == {"a": {"b": 1}, "c": {"b": 1}, "d": {"e": 1}}
    assert [(one.place, one.line, one.message) for one in found.problems] == [
        (("a",), 3, "appears twice: first in line 1"),
        (("d", "e"), 6, "appears twice: first in line 5"),
    ]


def test_lines_are_those_of_keys_and_items():
    found = read_document("a:\n  b: 1\n  c:\n    - x\n    - y\n", name="x.yaml")
    assert found.lines["a", "b"] == 2
    assert found.lines["a", "c", 1] == 5


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1, 2\nb: 3\n", "line"),
        ("a: 1\n  b: 2\n", "line 2"),
        ("a: @canary\n", "line 1"),
        ("a: *canary\n", "line 1"),
        ("a: 1\n---\nb: 2\n", "line 2"),
        ("\ta: 1\n", "line 1"),
        ("a: \x00\n", "character (code 0)"),
        ("a: 'canary\n", "line"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line_and_without_its_words(text, place):
    with pytest.raises(InputError) as caught:
        read_document(text, name="x.yaml")
    message = str(caught.value)
    assert message.startswith("x.yaml")
    assert place in message
    assert "canary" not in message


@pytest.mark.parametrize("text", ["\ta: 1\n", "a:\n\tb: 1\n", "a:\n  b: 1\n\tc: 2\n", "a:\t[1\n"])
def test_a_tab_is_called_one(text):
    with pytest.raises(InputError) as caught:
        read_document(text, name="x.yaml")
    assert str(caught.value).endswith(
        "this is not YAML (there is a tab); write spaces in its place"
    )


@pytest.mark.parametrize("text", ["a: !!python/name:os.system x", "a: !canary x", "a: !!int '3'"])
def test_tags_build_nothing(text):
    found = read_document(text, name="x.yaml")
    assert found.value == {"a": None}
    assert "has a tag" in found.problems[0].message
    assert "canary" not in found.problems[0].message


def test_a_date_that_is_none_is_reported():
    found = read_document("a: 2026-02-30", name="x.yaml")
    assert found.problems[0].message.startswith("2026-02-30 is not a date")


def test_aliases_that_multiply_are_stopped():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(
        InputError, match=r"x.yaml contains more than 500,000 values: check its aliases"
    ):
        read_document("\n".join(lines), name="x.yaml")


def test_an_alias_to_itself_is_stopped():
    with pytest.raises(InputError, match=r"more than 30 lists .* and aliases \(\*name\)"):
        read_document("a: &a [*a]", name="x.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 3000,
        "[" * 3000 + "]" * 3000,
        "{a: " * 3000 + "}" * 3000,
        "\n".join(f"{' ' * depth}a:" for depth in range(1200)),
        "- " * 3000,
    ],
)
def test_brackets_without_end_are_one_error_with_their_line(text):
    with pytest.raises(InputError) as caught:
        read_document(text, name="x.yaml")
    assert re.fullmatch(
        r"x\.yaml, line \d+: more than 30 lists or mappings are nested, which "
        r"no setting needs: check brackets, braces, indentation and aliases \(\*name\)",
        str(caught.value),
    )


def test_a_number_of_ten_thousand_digits_is_told_with_its_place():
    found = read_document(f"a: 1\nb: {'9' * 10_000}", name="x.yaml")
    (problem,) = found.problems
    assert (problem.place, problem.message) == (("b",), "is a number with 10,000 digits: check it")
