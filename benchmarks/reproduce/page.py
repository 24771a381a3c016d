"""One self-contained page of all papers: tables of numbers, and pictures drawn from the cache."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any, Final

from benchmarks.reproduce import words
from benchmarks.reproduce.rows import PAPERS
from benchmarks.reproduce.run import Outcome, tally

__all__ = ["render_page", "write_page"]

_TEMPLATES: Final = Path(__file__).parent / "templates"


def write_page(outcomes: list[Outcome], path: Path) -> Path:
    """Write the page and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(outcomes), encoding="utf-8")
    return path


def render_page(outcomes: list[Outcome]) -> str:
    """The page as HTML that needs no network, script or font."""
    from jinja2 import (
        ChoiceLoader,
        Environment,
        FileSystemLoader,
        PackageLoader,
        StrictUndefined,
    )

    import pumonitor
    from pumonitor.report import palette

    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(_TEMPLATES), PackageLoader("pumonitor.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("reproduction.html").render(
        tally=tally(outcomes),
        papers=_papers(outcomes),
        dark_rules=palette.dark_rules(".drawing"),
        colors={"corrected": palette.CORRECTED, "uncorrected": palette.UNCORRECTED},
        version=pumonitor.__version__,
    )


def _papers(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    papers = []
    for key, group in groupby(outcomes, key=lambda outcome: outcome.row.paper):
        of_paper = list(group)
        papers.append(
            {
                "key": key,
                "authors": PAPERS[key].authors,
                "title": PAPERS[key].title,
                "tally": tally(of_paper),
                "rows": [_row(outcome) for outcome in of_paper],
            }
        )
    return papers


def _row(outcome: Outcome) -> dict[str, Any]:
    result = outcome.result
    return {
        "id": outcome.row.id,
        "title": outcome.row.title,
        "repetitions": outcome.repetitions,
        "missing": outcome.missing,
        "note": "" if result is None else result.note,
        "caption": outcome.row.caption,
        "svg": _picture(outcome),
        "figures": []
        if result is None
        else [
            {
                "name": figure.name,
                "printed": words.printed(figure),
                "ours": words.ours(figure),
                "verdict": words.verdict(figure),
                "why": figure.why,
            }
            for figure in result.figures
        ],
    }


def _picture(outcome: Outcome) -> str:
    from pumonitor.report.figures import inline_svg
    from pumonitor.report.theme import CONFIG, to_svg

    if outcome.result is None or outcome.row.draw is None:
        return ""
    chart = outcome.row.draw(outcome.result.series)
    return inline_svg(to_svg(chart.configure(**CONFIG)), description=outcome.row.title)
