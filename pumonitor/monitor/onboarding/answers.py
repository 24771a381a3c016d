"""Answers to the questions of `init`, each kept with its reason."""

from __future__ import annotations

from pumonitor.errors import InputError
from pumonitor.monitor.onboarding.onboarded import Ask, Finding, Question


def accept_proposals(question: Question) -> str:
    """Answer every question with its proposal.

    Raises
    ------
    InputError
        If a question has no proposal.
    """
    if question.proposal is None:
        msg = f"{question.why}: give it with {question.option}"
        raise InputError(msg)
    return question.proposal


class Answers:
    """Choices made so far with their reasons, and notes for the user.

    Parameters
    ----------
    ask : callable
        Called with a `Question` that no option answers.

    Attributes
    ----------
    findings : list of Finding
        Choices in the order they were made.
    notes : list of str
    """

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.findings: list[Finding] = []
        self.notes: list[str] = []

    def found(self, what: str, value: str, why: str) -> None:
        """Keep a choice with its reason."""
        self.findings.append(Finding(what=what, value=value, why=why))

    def decide(self, question: Question, given: str | None) -> str:
        """Answer a question and keep the answer with its reason."""
        answer = self.answer(question, given)
        proposed = given is None and answer == question.proposal
        self.found(question.what, answer, question.why if proposed else "as given")
        return answer

    def answer(self, question: Question, given: str | None) -> str:
        """The answer to a question: the option's value, or else the user's.

        Raises
        ------
        InputError
            If the option cannot be read.
        """
        if given is None:
            return self.ask(question)
        if question.read is not None:
            try:
                question.read(given)
            except InputError as error:
                msg = f"{question.option} {error}"
                raise InputError(msg) from None
        return given
