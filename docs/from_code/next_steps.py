"""What to do about each cause, in `docs/alerts.md`, as alerts have it.

`python -m docs.from_code.next_steps` writes that part of the page anew.
"""

from __future__ import annotations

from pathlib import Path

from pumonitor.monitor.rules.causes.next_steps import STEPS

__all__ = ["PAGE", "part", "with_part"]

PAGE = Path(__file__).parents[1] / "alerts.md"
_BEGIN = "<!-- next steps: made from the code -->\n"
_END = "<!-- end of next steps -->\n"


def part() -> str:
    """Markdown: the steps of each cause below its name."""
    of_causes = [
        f"**{of_one.cause}**\n\n"
        + "".join(f"{number}. {step}\n" for number, step in enumerate(of_one.steps, start=1))
        for of_one in STEPS.values()
    ]
    return "\n".join(of_causes)


def with_part(page: str) -> str:
    """The page with the steps as the code has them now."""
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        msg = f"docs/alerts.md must have the lines {_BEGIN!r} and {_END!r}"
        raise ValueError(msg)
    return f"{before}{begin}\n{part()}\n{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_part(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
