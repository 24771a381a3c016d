"""`docs/messages.md` has every text a user can meet, as the code has them now."""

from __future__ import annotations

from docs.from_code.messages import PAGE, page, texts_of


def test_the_page_is_up_to_date() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "write it anew: python -m docs.from_code.messages"


def test_texts_are_found_wherever_people_meet_them() -> None:
    source = '''
"""A docstring is for colleagues."""
_log.warning("%s: a rule failed", name)
raise InputError(f"{path!r} has {len(rows)} rows: " + _remedy(path) + "; check the filter")
raise InputError("assumed")
def run(config: Annotated[Path, typer.Option(help="The file to read.")]) -> None:
    """Evaluate the windows. Example: pumonitor run"""
note = f"known {f'until {end}' if end else 'for ever now'}"
'''
    assert texts_of(source) == [
        "%s: a rule failed",
        "{path} has {len} rows: {remedy}; check the filter",
        "assumed",
        "Evaluate the windows. Example: pumonitor run",
        "The file to read.",
        "known {end}",
        "until {end}",
        "for ever now",
    ]


def test_statements_names_and_types_are_no_texts() -> None:
    source = """
kind: Literal["one of these", "or this"] = "daily"
statement = "SELECT count(*) FROM results"
reader = f"read_csv({files}, header = true)"
pattern = re.compile(r"more than (\\\\d+) rows")
"""
    assert texts_of(source) == []


def test_keys_of_the_configuration_are_described_where_the_schema_shows_them() -> None:
    source = '''
class Reference:
    """Windows to compare with.

    Attributes
    ----------
    start : date
        Start of the period.
    """
'''
    assert texts_of(source) == []
    assert texts_of(source, described=True) == ["Windows to compare with.", "Start of the period."]
