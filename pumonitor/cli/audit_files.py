"""Files of an audit: cases and verdicts as CSV, the design as JSON, for their owner only."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pumonitor.audit.drawn import OWN_COLUMNS, DrawnAudit
from pumonitor.errors import InputError, SourceError
from pumonitor.plain_text import spreadsheet_text, write_csv

if TYPE_CHECKING:
    from pumonitor.audit_plan import AuditPlan

_DELIMITERS: Final = ",;\t|"
_OF_VERDICTS: Final = ("id", "verdict", "audit", "case", "at", "reviewer")


def write_width_chart(plan: AuditPlan, path: Path) -> None:
    """Draw the widths of audits of several sizes into a PNG or SVG file.

    Raises
    ------
    SourceError
        If it cannot be written there.
    """
    from pumonitor.report.audit_charts import audit_width_chart
    from pumonitor.report.theme import to_png, to_svg

    drawn = audit_width_chart(plan.widths_by_cases(), cases=plan.cases)
    content = to_svg(drawn).encode() if path.suffix == ".svg" else to_png(drawn)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        msg = f"the chart cannot be written to {path}: {error.strerror or error}"
        raise SourceError(msg) from None


def design_beside(cases: Path) -> Path:
    """Where the design of a file of cases is kept.

    Examples
    --------
    >>> design_beside(Path("march/cases.csv")).name
    'cases.audit.json'
    """
    return cases.with_suffix(".audit.json")


def write_audit(
    drawn: DrawnAudit, cases: Path, design: Path, *, columns: Mapping[str, Mapping[str, str]]
) -> None:
    """Write the cases for the reviewers, and apart from them the design.

    Parameters
    ----------
    drawn : DrawnAudit
    cases, design : Path
        Neither may exist: a file of cases may hold verdicts.
    columns : mapping of str to mapping of str to str
        What else to show of each case, by the column's name and the case's id.

    Raises
    ------
    InputError
        If one of the files exists, or a column has the name of one that is always there.
    SourceError
        If a file cannot be written.
    """
    taken = sorted(set(columns) & set(OWN_COLUMNS))
    if taken:
        msg = f"the file of cases has a column {taken[0]!r} of its own: rename that of the data"
        raise InputError(msg)
    refuse_existing(cases, design)
    _write(design, json.dumps(drawn.to_dict(), indent=1) + "\n")
    lines = [
        (number, case.id, [of_case[case.id] for of_case in columns.values()])
        for number, case in enumerate(drawn.cases, start=1)
    ]
    write_cases(cases, lines, audit=drawn.name, columns=list(columns))


def write_cases(
    path: Path,
    lines: Sequence[tuple[int, str, Sequence[str]]],
    *,
    audit: str,
    columns: Sequence[str],
) -> None:
    """Write the file for the reviewers: number, id and columns of each case, and nothing else.

    Raises
    ------
    SourceError
        If it cannot be written, or exists.
    """
    written = io.StringIO()
    write_csv(
        written,
        ["case", "id", *columns, "audit", "verdict"],
        ([number, row_id, *shown, audit, ""] for number, row_id, shown in lines),
    )
    _write(path, written.getvalue())


def refuse_existing(*paths: Path) -> None:
    """Refuse to write over a file."""
    for path in paths:
        if path.exists():
            msg = f"{path} exists already and may hold verdicts: give another name, or remove it"
            raise InputError(msg)


def _write(path: Path, content: str) -> None:
    """Readable by nobody else: ids of cases are personal data."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(content)
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror or error}"
        raise SourceError(msg) from None


def read_design(path: Path) -> DrawnAudit:
    """Read the design of an audit.

    Raises
    ------
    InputError
        If there is no such file, or it is something else.
    """
    try:
        return DrawnAudit.from_dict(json.loads(_text(path)))
    except json.JSONDecodeError as error:
        msg = f"{path} is no design of an audit: it is not JSON ({error})"
        raise InputError(msg) from None


def read_verdict_rows(path: Path) -> Sequence[tuple[Any, Any, Any]]:
    """Id, verdict and audit of each line of a file that `read_verdict_columns` reads."""
    found = read_verdict_columns(path)
    audits = found.get("audit", [None] * len(found["id"]))
    return list(zip(found["id"], found["verdict"], audits, strict=True))


def read_verdict_columns(path: Path) -> Mapping[str, Sequence[str | None]]:
    """Columns of a CSV file of verdicts: ``id``, ``verdict``, and those of the others it has.

    The others are ``audit``, ``case``, ``at`` and ``reviewer``. Commas, semicolons, tabs and bars
    are recognised, as spreadsheets write them.

    Raises
    ------
    InputError
        If there is no such file, or a column is missing.
    """
    content = _text(path)
    head = content.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    lines = csv.DictReader(io.StringIO(content), delimiter=delimiter)
    there = [name.strip() for name in lines.fieldnames or ()]
    lines.fieldnames = there
    for name in ("id", "verdict"):
        if name not in there:
            msg = (
                f"{path} has no column {name!r} (there are {', '.join(there) or 'none'}): give "
                "the file of cases with its column verdict filled in"
            )
            raise InputError(msg)
    rows = list(lines)
    found: dict[str, list[str | None]] = {
        name: [row[name] for row in rows] for name in _OF_VERDICTS if name in there
    }
    found["id"] = [None if text is None else spreadsheet_text(text) for text in found["id"]]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        msg = f"there is no file {path}"
        raise InputError(msg) from None
    except UnicodeDecodeError:
        msg = f"{path} is not text in UTF-8: save it as CSV UTF-8"
        raise InputError(msg) from None
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}"
        raise SourceError(msg) from None
