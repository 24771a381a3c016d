"""Which column of the two tables is what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pumonitor.errors import InputError
from pumonitor.monitor.onboarding import proposals
from pumonitor.monitor.onboarding.answers import Answers
from pumonitor.monitor.onboarding.onboarded import Options, Question
from pumonitor.monitor.onboarding.table_reader import (
    ColumnSample,
    TableReader,
    TableSample,
)

__all__ = ["ColumnChoices"]

_ENOUGH_MATCHED: Final = 0.5
_ROLES: Final = {
    "known_at": "known_at, the time at which a confirmation became known",
    "score": "score of the model",
    "time": "time of a prediction",
}


class ColumnChoices:
    """Finds the columns by their names and values, and asks where that is not sure.

    Parameters
    ----------
    reader : TableReader
    predictions, positives : TableSample
    options : Options
        What the user has said already.
    answers : Answers
        Keeps the choices.
    """

    def __init__(
        self,
        reader: TableReader,
        predictions: TableSample,
        positives: TableSample,
        *,
        options: Options,
        answers: Answers,
    ) -> None:
        self._reader = reader
        self._predictions = predictions
        self._positives = positives
        self._options = options
        self._answers = answers

    def ids(self) -> tuple[str, str]:
        """The columns of both tables that say which prediction a row is about."""
        options = self._options
        if options.id is not None:
            other = options.positives_id or options.id
            self._predictions.column(options.id, option="--id")
            option = "--positives-id" if options.positives_id else "--id (or --positives-id)"
            self._positives.column(other, option=option)
            self._answers.found("id", options.id, "as you said")
            return options.id, other
        for column, other in proposals.id_candidates(self._predictions, self._positives):
            share = self._reader.overlap(self._predictions, column, self._positives, other)
            if share >= _ENOUGH_MATCHED:
                self._answers.found(
                    "id",
                    column if column == other else f"{column} = {other}",
                    f"once each, and {share:.0%} of the confirmations refer to one",
                )
                return column, other
        names = [column.name for column in self._predictions.columns]
        found = self._answers.ask(
            Question(
                what="id",
                option="--id",
                proposal=None,
                why=f"no column of {self._predictions.name} with a value once each is what "
                f"{self._positives.name} refers to",
                choices=names,
            )
        )
        self._positives.column(found, option="--positives-id")
        return found, found

    def column(
        self,
        role: str,
        table: TableSample,
        propose: Callable[[TableSample], ColumnSample | None],
        given: str | None,
    ) -> ColumnSample:
        """The column with a role: proposed by its looks, or as the user says."""
        option = f"--{role.replace('_', '-')}"
        found = propose(table) if given is None else None
        why = (
            f"no column of {table.name} is surely the {_ROLES.get(role, role)} (its columns are "
            f"{', '.join(column.name for column in table.columns)})"
            if found is None
            else proposals.described(found)
        )
        name = self._answers.decide(
            Question(
                what=role,
                option=option,
                proposal=None if found is None else found.name,
                why=why,
                choices=[column.name for column in table.columns],
            ),
            given,
        )
        return table.column(name, option=option)

    def known_at(self) -> ColumnSample | None:
        """When a confirmation was known; None: at every moment."""
        if self._options.known_at == "none":
            self._answers.found("known_at", "none", "as you said")
            self._answers.notes.append(
                "Without known_at every confirmation counts at every moment: results for past "
                "windows include labels that were not known then."
            )
            return None
        return self.column(
            "known_at", self._positives, proposals.known_at_column, self._options.known_at
        )

    def label(self) -> str | None:
        """What a confirmation says; None: that a row is positive."""
        given = self._options.label
        if given == "none":
            self._answers.found("label", "none", "as you said: every row is a confirmed positive")
            return None
        column = (
            self._positives.column(given, option="--label")
            if given
            else proposals.label_column(self._positives)
        )
        if column is None:
            self._answers.found(
                "label", "none", "no such column: every row is a confirmed positive"
            )
            return None
        zeros, others = self._reader.zeros(self._positives, column)
        if others:
            msg = (
                f"label column {column.name!r} of {self._positives.name} has {others} rows "
                "that are not 1, -1 or 0: write 1 for a confirmed positive, -1 for a "
                "confirmed negative and 0 to take an earlier row back; or give --label none "
                "if every row is a confirmed positive"
            )
            raise InputError(msg)
        if zeros:
            self._answers.notes.append(
                f"{zeros} rows of {self._positives.name} are 0: they take earlier ones back. Write "
                "-1 for confirmed negatives."
            )
        self._answers.found("label", column.name, "1 confirmed positive, -1 confirmed negative")
        return column.name

    def model_version(self) -> ColumnSample | None:
        """Which model made a prediction, if a column says so."""
        given = self._options.model_version
        if given == "none":
            self._answers.found("model_version", "none", "as you said")
            return None
        if given is not None:
            column = self._predictions.column(given, option="--model-version")
            self._answers.found("model_version", column.name, "as you said")
            return column
        found = proposals.model_version_column(self._predictions)
        if found is not None:
            why = f"by its name, {found.distinct} value{'' if found.distinct == 1 else 's'}"
            self._answers.found("model_version", found.name, why)
        return found
