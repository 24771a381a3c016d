"""The report of an evaluation, written where --report says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pumonitor.results import Evaluation


def write_report(
    ev: Evaluation, path: Path, *, source: str, without_audit: Evaluation | None = None
) -> None:
    """Write the page.

    Raises
    ------
    SourceError
        If it cannot be written there.
    """
    from pumonitor.errors import SourceError
    from pumonitor.report.html import render_html

    title = Path(source).name
    page = render_html(ev, title=title, context={"Source": source}, without_audit=without_audit)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        msg = f"the report cannot be written to {path}: {error.strerror or error}"
        raise SourceError(msg) from None
