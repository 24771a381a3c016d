"""One thing to do about an alert, and all that is to be done about one cause."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do.

    Attributes
    ----------
    action : str
        What to do, in a sentence. Messages show it alone.
    explanation : str
        When to do it, and why; may be empty.
    asks_an_audit : bool
        Whether an audit is to tell how the model ranks: left out where audits have told.
    """

    action: str
    explanation: str = ""
    asks_an_audit: bool = False

    def __str__(self) -> str:
        return f"{self.action} {self.explanation}".rstrip()


@dataclass(frozen=True, slots=True)
class Steps:
    """What to do about one cause.

    Attributes
    ----------
    cause : str
        The cause in words, as the heading of its steps.
    steps : tuple of Step
        In the order in which they are taken.
    """

    cause: str
    steps: tuple[Step, ...]
