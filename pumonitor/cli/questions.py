"""Ask questions on the terminal, each with a proposal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pumonitor.errors import InputError

if TYPE_CHECKING:
    from pumonitor.monitor.onboarding.onboarded import Question


def ask_on_terminal(question: Question) -> str:
    """Ask until there is an answer; Enter accepts the proposal."""
    from rich.markup import escape
    from rich.prompt import Prompt

    from pumonitor.cli.terminal import Console

    console = Console(highlight=False)
    console.print(f"[bold]{question.what}[/]: [dim]{escape(question.why)}[/]")
    while True:
        # `Prompt.ask` without a default takes an empty line for an answer.
        if question.proposal is None:
            answer = Prompt.ask("  is", console=console)
        else:
            answer = Prompt.ask("  is", console=console, default=question.proposal)
        if not answer.strip():
            continue
        if question.choices and answer not in question.choices and answer != "none":
            console.print(f"  Please answer with one of {escape(', '.join(question.choices))}.")
            continue
        try:
            if question.read is not None:
                question.read(answer.strip())
        except InputError as error:
            console.print(f"  The answer {error}.", markup=False)
            continue
        return answer.strip()
