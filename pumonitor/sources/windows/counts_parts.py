"""The named parts of the count query: window, labels and their states, in SQL all engines share."""

# ruff: noqa: S608 (identifiers reach SQL only through `Dialect.quoted`, values through `Values`)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Self

from pumonitor._score_grid import ScoreGrid
from pumonitor.sources.column_types.column_kinds import Column, Key
from pumonitor.sources.column_types.dialects import Dialect
from pumonitor.sources.column_types.time_columns import CLOCKS_DIFFER, microseconds
from pumonitor.sources.windows.counts_rows import (
    LabelStates,
    LabelTable,
    PredictionTable,
    feature_columns,
    label_rows,
    prediction_problem,
    prediction_rows,
    prediction_times,
)
from pumonitor.sources.windows.id_slices import IdSlice
from pumonitor.sources.windows.several import (
    UNREAD,
    CountedWindow,
    last_moment,
    moment,
    place_of,
    stretches,
)
from pumonitor.sources.windows.statement_values import Values

# Microseconds from the first year of calendars to 1970.
_SINCE_YEAR_1: Final = 62_135_596_800_000_000
_SO_FAR: Final = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
"""What most engines take for granted of a first value, and some want to be told."""

# What each named part reads; no table of a user is called like this.
_READS: Final[dict[str, tuple[str, ...]]] = {
    "pumonitor_rows": (),
    "pumonitor_window": ("pumonitor_rows",),
    "pumonitor_repeated": ("pumonitor_window",),
    "pumonitor_ranked": ("pumonitor_window", "pumonitor_repeated"),
    "pumonitor_first": ("pumonitor_window",),
    "pumonitor_said": (),
    "pumonitor_moments": ("pumonitor_said", "pumonitor_first"),
    "pumonitor_steps": ("pumonitor_moments",),
    "pumonitor_states": ("pumonitor_steps",),
    "pumonitor_unmatched": (),
    "pumonitor_made": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """SQL and the values of its parameters."""

    sql: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryParts:
    """One window of predictions with its labels, as parts that statements read by name.

    Attributes
    ----------
    between : tuple of datetime
        The window.
    as_of : tuple of datetime
        Ascending moments.
    delay_edges : tuple of float
        In seconds.
    repeats : bool
        Whether an id stands more than once in the window: nothing is spent on it otherwise.
    kept : frozenset of str
        Named parts that the engine holds as tables by now.
    ids_between : tuple of int, optional
        The least and the largest id of the window, where that is known: what was said of others is
        not looked for.
    only : IdSlice, optional
        The ids that are counted, where that is not all.
    windows : tuple of CountedWindow
        Where several are counted at once: in order and without overlap, all within `between`, none
        with a moment after `as_of`. Rows then bear the `place` of their window among them.

    Notes
    -----
    The state of an id at a moment T is what its latest row known by T says. The latest of several
    things is the largest of 4 * time + state + 1 (of labels, which are -1, 0 or 1), so one grouping
    gives the states at all moments.
    """

    predictions: PredictionTable
    labels: LabelTable
    dialect: Dialect
    grid: ScoreGrid
    key: Key
    between: tuple[datetime, datetime]
    as_of: tuple[datetime, ...]
    threshold: float
    delay_edges: tuple[float, ...] = ()
    repeats: bool = False
    kept: frozenset[str] = frozenset()
    ids_between: tuple[int, int] | None = None
    only: IdSlice | None = None
    windows: tuple[CountedWindow, ...] = ()

    def alone(self, place: int) -> Self:
        """The same about one of the windows by itself."""
        window = self.windows[place]
        return replace(
            self,
            between=(window.start, window.end),
            as_of=window.as_of,
            windows=(),
            kept=frozenset(),
            ids_between=None,
            repeats=False,
        )

    @property
    def by(self) -> str:
        """What groups begin with: the place of the window, where there are several."""
        return "place, " if self.windows else ""

    def same(self, one: str, other: str) -> str:
        """SQL of whether two rows are of the same id, and of the same window."""
        places = f" AND {one}.place = {other}.place" if self.windows else ""
        return f"{one}.id = {other}.id{places}"

    @property
    def moments(self) -> int:
        """How many digits a history has."""
        return max((len(one.as_of) for one in self.windows), default=len(self.as_of))

    @property
    def segments(self) -> tuple[str, ...]:
        """Names of the segment columns in the answers."""
        return tuple(f"segment_{place}" for place in range(len(self.predictions.segments)))

    @property
    def unlabeled(self) -> int:
        """History of a row that no label was ever known of."""
        states = self.labels.states
        return sum(-states.least * states.histories(place) for place in range(self.moments))

    def stated(self, sql: str, *parts: str, values: Values | None = None) -> Statement:
        """Put the named parts a statement reads, and those they read, before it."""
        values = values or Values(self.dialect)
        wanted: set[str] = set()
        waiting = list(parts)
        while waiting:
            part = waiting.pop()
            if part not in wanted and part not in self.kept:
                wanted.add(part)
                waiting += _READS[part]
                if part == "pumonitor_first" and self.repeats:
                    waiting.append("pumonitor_ranked")
        bodies: dict[str, Callable[[Values], str]] = {
            "pumonitor_rows": self._rows,
            "pumonitor_window": self._window,
            "pumonitor_repeated": self._repeated,
            "pumonitor_ranked": self._ranked,
            "pumonitor_first": self._first,
            "pumonitor_said": self._said,
            "pumonitor_moments": self._moments,
            "pumonitor_steps": self._steps,
            "pumonitor_states": self._states,
            "pumonitor_unmatched": self._unmatched,
            "pumonitor_made": self._made,
        }
        named = ", ".join(
            f"{name} AS ({body(values)})" for name, body in bodies.items() if name in wanted
        )
        return Statement(sql=f"WITH {named} {sql}" if named else sql, values=values.bound)

    def _window(self, _: Values) -> str:
        """The rows with what is the same in all of them or follows from them: held nowhere."""
        constant = ", '' AS model_version" if self.predictions.model_version is None else ""
        problem = prediction_problem(self.predictions, self.dialect)
        return f"SELECT found.*{constant}, {problem} AS problem FROM pumonitor_rows AS found"

    def _rows(self, values: Values) -> str:
        rows = self._window_rows(values, None, self.between)
        if self.only is not None:
            rows = f"SELECT * FROM ({rows}) AS sliced WHERE {self.only.rows.format('id')}"
        if not self.windows:
            return rows
        place = place_of("made", self.windows, self.dialect)
        return (
            f"SELECT * FROM (SELECT seen.*, CASE WHEN made IS NULL THEN {UNREAD} ELSE {place} END "
            f"AS place FROM ({rows}) AS seen) AS placed WHERE place IS NOT NULL"
        )

    def _window_rows(
        self, values: Values, shown: Column | None, between: tuple[datetime, datetime] | None
    ) -> str:
        return prediction_rows(
            self.predictions,
            key=self.key,
            threshold=self.threshold,
            between=between,
            values=values,
            shown=shown,
            stretches=stretches(self.windows),
        )

    def _made(self, values: Values) -> str:
        return prediction_times(self.predictions, key=self.key, values=values)

    def _repeated(self, _: Values) -> str:
        return f"SELECT {self.by}id FROM pumonitor_window GROUP BY {self.by}id HAVING count(*) > 1"

    def _ranked(self, _: Values) -> str:
        order = ", ".join(["made", "score", "model_version", *self.segments])
        place = "seen.place, " if self.windows else ""
        over = f"PARTITION BY {place}seen.id ORDER BY {order}"
        return (
            f"SELECT seen.*, row_number() OVER ({over}) AS standing_at, "
            f"first_value(score) OVER ({over} {_SO_FAR}) AS standing FROM pumonitor_window AS seen "
            f"JOIN pumonitor_repeated AS repeated ON {self.same('seen', 'repeated')}"
        )

    def _first(self, _: Values) -> str:
        if not self.repeats:
            return "SELECT * FROM pumonitor_window"
        features = feature_columns(self.predictions, self.dialect)
        columns = ", ".join(
            ["id", "made", "score", "model_version", *self.segments, *features, "problem"]
        )
        return (
            f"SELECT {self.by}{columns} FROM pumonitor_window AS seen WHERE NOT EXISTS "
            "(SELECT 1 FROM pumonitor_repeated AS repeated "
            f"WHERE {self.same('repeated', 'seen')}) "
            f"UNION ALL SELECT {self.by}{columns} FROM pumonitor_ranked WHERE standing_at = 1"
        )

    def _said(self, values: Values) -> str:
        return label_rows(self.labels, key=self.key, as_of=self.as_of[-1], values=values)

    def _moments(self, _: Values) -> str:
        """One row per id and time: rows of one moment that disagree say nothing.

        What was known long before a prediction is not about it.
        """
        # What became known after the last moment of a window plays no part in it.
        only = [f"known <= {last_moment(self.windows)}"] if self.windows else []
        only += self.said_within
        within = f" WHERE {' AND '.join(only)}" if only else ""
        if self.labels.has_each_once:
            return (
                f"SELECT {self.dialect.broadcast('said')}{self.by}said.id, made, known, "
                "1 AS said_rows, label AS state, 0 AS disagrees, said.propensity, "
                f"{self._refused} AS refused FROM pumonitor_said AS said "
                f"JOIN pumonitor_first AS predicted ON said.id = predicted.id{within}"
            )
        return (
            f"SELECT {self.dialect.broadcast('said')}{self.by}said.id, made, known, "
            f"{self.dialect.counted} AS said_rows, "
            "CASE WHEN min(label) = max(label) THEN min(label) ELSE 0 END AS state, "
            "CASE WHEN min(label) = max(label) THEN 0 ELSE 1 END AS disagrees, "
            f"{self._own_propensity} AS propensity, "
            f"{self._refused} AS refused FROM pumonitor_said AS said "
            f"JOIN pumonitor_first AS predicted ON said.id = predicted.id{within} "
            f"GROUP BY {self.by}said.id, made, known"
        )

    @property
    def _own_propensity(self) -> str:
        if self.labels.states != LabelStates():
            return "min(said.propensity)"
        return "CASE WHEN min(label) = 1 THEN min(said.propensity) END"

    @property
    def said_within(self) -> list[str]:
        """Conditions on labels that may be about ids of the window."""
        only: list[str] = []
        if self.ids_between is not None:
            # Of many labels most are of other windows: a join of all would take longer.
            least, largest = self.ids_between
            only.append(f"said.id >= {least} AND said.id <= {largest}")
        if self.only is not None:
            only.append(self.only.labels.format("said.id"))
        return only

    @property
    def _refused(self) -> str:
        too_early = CLOCKS_DIFFER // timedelta(microseconds=1)
        return f"CASE WHEN {self._has_times} known < made - {too_early} THEN 1 ELSE 0 END"

    def _steps(self, _: Values) -> str:
        """With what was so before. The propensity is that of the first row that confirms.

        A later one could not be used at a moment before it.
        """
        if self.labels.has_each_once:
            # Partitions of one row each take as long as any.
            return "SELECT found.*, NULL AS earlier FROM pumonitor_moments AS found"
        return (
            f"SELECT {self.by}id, made, known, said_rows, state, disagrees, refused, "
            f"lag(state) OVER (PARTITION BY {self.by}id, refused ORDER BY known) AS earlier, "
            f"first_value(propensity) OVER (PARTITION BY {self.by}id, refused "
            "ORDER BY CASE WHEN propensity IS NULL THEN 1 ELSE 0 END, known "
            f"{_SO_FAR}) AS propensity "
            "FROM pumonitor_moments"
        )

    def _states(self, values: Values) -> str:
        """One row per id: what all its rows say together, or the one that it has."""

        def over(rows: str, value: str) -> str:
            return f"({value})" if self.labels.has_each_once else f"{rows}({value})"

        digits: list[str] = []
        states = self.labels.states
        for place in range(self.moments):
            until = (
                moment(place, self.windows)
                if self.windows
                else values.write(f"as_of_{place}", microseconds(self.as_of[place]))
            )
            counts = f"refused = 0 AND known <= {until}"
            if self.labels.has_each_once:
                state = f"CASE WHEN {counts} THEN state ELSE 0 END"
            else:
                # Since the year 1, so that nothing is below 0 and the remainder is the state.
                size = states.number + 1
                coded = f"{size} * (known + {_SINCE_YEAR_1}) + state + {-states.least}"
                latest = f"max(CASE WHEN {counts} THEN {coded} END)"
                least = f" - {-states.least}" if states.least else ""
                state = f"coalesce({self.dialect.remainder(latest, size)}{least}, 0)"
            digits.append(f"{states.histories(place)} * ({-states.least} + {state})")
        totals = {
            "propensity": over("min", "CASE WHEN refused = 0 THEN propensity END"),
            "confirmed": over(
                "min",
                f"CASE WHEN refused = 0 AND {_among('state', states.positive)} THEN known END",
            ),
            "label_rows": over("sum", "said_rows"),
            "duplicates": over(
                "sum",
                "CASE WHEN refused = 1 OR disagrees = 1 THEN 0 WHEN earlier = state THEN said_rows "
                "ELSE said_rows - 1 END",
            ),
            "conflicts": over(
                "sum", "CASE WHEN refused = 0 AND disagrees = 1 THEN said_rows ELSE 0 END"
            ),
            "retractions": over(
                "max", f"CASE WHEN refused = 0 AND {_taken_back(states)} THEN 1 ELSE 0 END"
            ),
            "early": over(
                "sum",
                f"CASE WHEN {self._has_times} refused = 0 AND known < made THEN said_rows "
                "ELSE 0 END",
            ),
            "refused": over("sum", "CASE WHEN refused = 1 THEN said_rows ELSE 0 END"),
        }
        chosen = ", ".join(f"{sql} AS {name}" for name, sql in totals.items())
        grouped = "" if self.labels.has_each_once else f" GROUP BY {self.by}id, made"
        return (
            f"SELECT {self.by}id, made, {chosen}, {' + '.join(digits)} AS history "
            f"FROM pumonitor_steps{grouped}"
        )

    @property
    def _has_times(self) -> str:
        # Without times of their own labels are known from 1970 on, and that is not early.
        return "" if self.labels.known_at is not None else "1 = 0 AND"

    def _unmatched(self, values: Values) -> str:
        only = [] if self.only is None else [self.only.labels.format("id")]
        if self.labels.known_at is not None:
            low = values.write("known_from", microseconds(self.between[0]))
            high = values.write("known_until", microseconds(self.between[1]))
            only += [f"known >= {low}", f"known < {high}"]
        within = f"WHERE {' AND '.join(only)} " if only else ""
        rows = label_rows(
            self.labels,
            key=self.key,
            as_of=max(self.as_of[-1], self.between[1]),
            values=values,
        )
        if not self.by_known:
            return f"SELECT id, count(*) AS n FROM ({rows}) AS said {within}GROUP BY id"
        place = place_of("known", self.windows, self.dialect)
        return (
            f"SELECT id, place, count(*) AS n FROM (SELECT id, {place} AS place "
            f"FROM ({rows}) AS said {within}) AS placed WHERE place IS NOT NULL GROUP BY id, place"
        )

    @property
    def by_known(self) -> bool:
        """Whether labels without prediction are told apart by the window they became known in."""
        return bool(self.windows) and self.labels.known_at is not None


def _among(state: str, those: Sequence[int]) -> str:
    """SQL of whether a state is one of those."""
    if len(those) == 1:
        return f"{state} = {those[0]}"
    return f"{state} IN ({', '.join(map(str, those))})"


def _taken_back(states: LabelStates) -> str:
    """SQL of whether a row says otherwise than an earlier one of its id.

    With two channels each adds to what the other said: only a positive that is none any more does.
    """
    if states == LabelStates():
        return "earlier <> state"
    kept = (*states.positive, *states.disputed)
    return f"{_among('earlier', states.positive)} AND NOT {_among('state', kept)}"
