"""Choose the role of each column of the two tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pumonitor.errors import InputError
from pumonitor.monitor.onboarding import proposals
from pumonitor.monitor.onboarding.answers import Answers
from pumonitor.monitor.onboarding.onboarded import Options, Question
from pumonitor.monitor.onboarding.outcome_words import words_meant
from pumonitor.monitor.onboarding.table_reader import TableReader
from pumonitor.monitor.onboarding.table_samples import ColumnSample, TableSample
from pumonitor.sources.column_types.monitored_tables import LabelWords
from pumonitor.text import percent_text

_ENOUGH_MATCHED: Final = 0.5
_MOST_WORDS: Final = 20
_ROLES: Final = {
    "known_at": "known_at, the time at which a confirmation became known",
    "score": "score of the model",
    "time": "time of a prediction",
}


class ColumnChoices:
    """Finds the columns by their names and values, and asks the user where this is unclear.

    Parameters
    ----------
    reader : TableReader
    predictions, positives : TableSample
    options : Options
        Options that the user gave.
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
        """The id columns of both tables."""
        options = self._options
        if options.id is not None:
            other = options.positives_id or options.id
            self._predictions.column(options.id, option="--id")
            option = "--positives-id" if options.positives_id else "--id (or --positives-id)"
            self._positives.column(other, option=option)
            self._answers.found("id", options.id, "as given")
            return options.id, other
        for column, other in proposals.id_candidates(self._predictions, self._positives):
            share = self._reader.overlap(self._predictions, column, self._positives, other)
            if share >= _ENOUGH_MATCHED:
                self._answers.found(
                    "id",
                    column if column == other else f"{column} = {other}",
                    f"its values are unique, and {percent_text(share)} of the confirmations refer "
                    "to one of them",
                )
                return column, other
        names = [column.name for column in self._predictions.columns]
        found = self._answers.ask(
            Question(
                what="id",
                option="--id",
                proposal=None,
                why=f"no column of {self._predictions.name} has unique values to which "
                f"{self._positives.name} refers",
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
        """The column with a role, as proposed or as the user chooses."""
        option = f"--{role.replace('_', '-')}"
        found = propose(table) if given is None else None
        why = (
            f"it is unclear which column of {table.name} is the {_ROLES.get(role, role)} (its "
            f"columns are {', '.join(column.name for column in table.columns)})"
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
        """Column with the time a confirmation became known; None without one."""
        if self._options.known_at == "none":
            self._answers.found("known_at", "none", "as given")
            self._answers.notes.append(
                "Without known_at every confirmation counts as known from the start: results of "
                "past windows include labels that were not known then."
            )
            return None
        return self.column(
            "known_at", self._positives, proposals.known_at_column, self._options.known_at
        )

    def label(self) -> tuple[str | None, LabelWords | None]:
        """Column of labels, and what its words mean; no column if all rows are positives."""
        given = self._options.label
        if given == "none":
            self._answers.found("label", "none", "as given: every row is a confirmed positive")
            return None, None
        column = (
            self._positives.column(given, option="--label")
            if given
            else proposals.label_column(self._positives)
        )
        if column is None or column.kind == "text":
            words = self._label_words(column)
            if words is not None:
                return words
        if column is None:
            self._answers.found(
                "label", "none", "no such column: every row is a confirmed positive"
            )
            return None, None
        zeros, others = self._reader.zeros(self._positives, column)
        if others:
            msg = (
                f"label column {column.name!r} of {self._positives.name} has {others} rows that "
                "are not 1, -1 or 0: write 1 for a confirmed positive, -1 for a confirmed negative "
                "and 0 to retract an earlier row; or say in the configuration what its words mean, "
                f"label: {{column: {column.name}, positive: [WORD], negative: [WORD], undecided: "
                "[WORD]}}, and give --label none for now; that alone is right if every row is a "
                "confirmed positive"
            )
            raise InputError(msg)
        if zeros:
            self._answers.notes.append(
                f"{zeros} rows of {self._positives.name} are 0: they retract earlier rows. Write "
                "-1 for confirmed negatives."
            )
        self._answers.found("label", column.name, "1 confirmed positive, -1 confirmed negative")
        return column.name, None

    def _label_words(self, named: ColumnSample | None) -> tuple[str, LabelWords] | None:
        """A column of outcomes whose words are known; a note on one whose words are not."""
        candidates = [named] if named else proposals.outcome_columns(self._positives)
        for column in candidates:
            listed = self._reader.words(self._positives, column, most=_MOST_WORDS + 1)
            words = words_meant(listed) if len(listed) <= _MOST_WORDS else None
            if words is not None:
                self._answers.found(
                    "label", column.name, "its words were recognised; check what each means"
                )
                return column.name, words
            if named is None and 1 < len(listed) <= _MOST_WORDS:
                values = ", ".join(map(repr, listed))
                self._answers.notes.append(
                    f"Column {column.name!r} of {self._positives.name} looks like an outcome "
                    f"({values}) and is not read: every row counts as a confirmed positive. If "
                    f"that is wrong, say what its words mean, label: {{column: {column.name}, "
                    "positive: [WORD], negative: [WORD], undecided: [WORD]}."
                )
        return None

    def model_version(self) -> ColumnSample | None:
        """Column of the model version; None without one."""
        given = self._options.model_version
        if given == "none":
            self._answers.found("model_version", "none", "as given")
            return None
        if given is not None:
            column = self._predictions.column(given, option="--model-version")
            self._answers.found("model_version", column.name, "as given")
            return column
        found = proposals.model_version_column(self._predictions)
        if found is not None:
            why = f"chosen by its name; {found.distinct} value{'' if found.distinct == 1 else 's'}"
            self._answers.found("model_version", found.name, why)
        return found
