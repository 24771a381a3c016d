"""Sources of a monitor's tables, and the roles of their columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, GetJsonSchemaHandler, ValidationInfo, field_validator, model_validator
from pydantic_core import CoreSchema

from pumonitor.errors import did_you_mean
from pumonitor.masks import without_password
from pumonitor.monitor.config.values.addresses import Located, check_address
from pumonitor.monitor.config.values.kinds import Bytes, Column, Columns, Part, Text, Words, Zone
from pumonitor.monitor.config.values.variables import Secret
from pumonitor.sources.column_types.monitored_tables import Channel as RowsOfChannel
from pumonitor.sources.column_types.monitored_tables import LabelWords

_COUNTS: Final = "counts://"


class Source(Located):
    """Source of a table: files, or a table or query of a database.

    Attributes
    ----------
    path : Secret or None
        File, pattern or address of files, or a table of a lake: delta://path-or-address or
        iceberg://catalog/namespace.table, or counts that a job has made: counts:// before any of
        these, or before the address of a database with #TABLE. It can stand alone in place of the
        mapping.
    url : Secret or None
        Address of a database, such as mariadb://USER:${PASSWORD}@HOST/NAME; `pumonitor engines
        list` prints one for each kind.
    table : str or None
        Table of the database.
    query : str or None
        One SELECT statement instead of a table.
    """

    path: Secret | None = None
    url: Secret | None = None
    table: Text | None = None
    query: Text | None = None

    @property
    def location(self) -> str:
        """The absolute path or pattern, or an address, with its secrets."""
        return "" if self.path is None else self.absolute(self.path.get())

    @property
    def name(self) -> str:
        """Name of the source in messages, without password."""
        if self.url is None:
            return self._shown_path
        return f"{self.table or 'the query'} of {without_password(self._as_far_as_known[0])}"

    @property
    def identity(self) -> dict[str, str]:
        """What identifies the data: without user, password, driver and options.

        A variable that is not set stays in it as it is written.
        """
        if self.url is None:
            return {"path": self._shown_path}
        dialect, _, rest = self._as_far_as_known[0].partition("://")
        place = rest.rpartition("@")[2].partition("?")[0]
        if dialect == "sc":
            # Its options stand behind a semicolon, the token among them.
            place = place.partition(";")[0].rstrip("/")
        data = (
            {"query": " ".join(self.query.split())} if self.query else {"table": self.table or ""}
        )
        return {"dialect": dialect.partition("+")[0], "place": place, **data}

    @property
    def server(self) -> str:
        """The host that is asked for the table, without secrets; "" for files of this machine."""
        if self.url is None:
            scheme, has_scheme, rest = self._shown_path.partition("://")
            return f"{scheme}://{rest.partition('/')[0]}" if has_scheme else ""
        given = self.identity
        host = given["place"].partition("/")[0] or given["place"]
        return f"{given['dialect']}://{host}"

    @property
    def address(self) -> str:
        """Address of the database, with its password; a file's path is made absolute."""
        return "" if self.url is None else self.absolute(self.url.get())

    @property
    def is_identified(self) -> bool:
        """Whether all variables are set that tell which data these are; a password does not."""
        missing = self._as_far_as_known[1]
        return not any(name in text for text in self.identity.values() for name in missing)

    @property
    def secret(self) -> Secret:
        """Its path or its url; validation has seen that it has one."""
        secret: Secret = self.path or self.url  # type: ignore[assignment]
        return secret

    @property
    def _as_far_as_known(self) -> tuple[str, tuple[str, ...]]:
        return self.secret.as_far_as_known()

    @property
    def _shown_path(self) -> str:
        """Path or pattern; of an address without parameters, which may be a signature."""
        return self._shown(self._as_far_as_known[0])

    def _shown(self, path: str) -> str:
        if "://" not in path:
            return path
        if path.lower().startswith(_COUNTS):
            place = path[len(_COUNTS) :]
            return _COUNTS + (without_password(place) if "#" in place else self._shown(place))
        from pumonitor.sources.lakes.addresses import is_lake_address, shown_lake_address
        from pumonitor.sources.reach.remote_files import shown_address

        return shown_lake_address(path) if is_lake_address(path) else shown_address(path)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        return {"path": given} if isinstance(given, str | Secret) else given

    @model_validator(mode="after")
    def _files_or_database(self) -> Source:
        if self.path is not None:
            if self.url or self.table or self.query:
                msg = "has both a path and a database: leave one out"
                raise ValueError(msg)
            return self
        if self.url is None:
            msg = "must be a path, {url: ..., table: ...} or {url: ..., query: ...}"
            raise ValueError(msg)
        if not self.url.missing():
            self._check_dialect(self.url.get())
        if (self.table is None) == (self.query is None):
            msg = "must have either a table or a query beside its url"
            raise ValueError(msg)
        return self

    def _check_dialect(self, url: str) -> None:
        check_address(url)
        from pumonitor.sources.engines.registry import engine_kind, engine_kinds

        dialect = self.identity["dialect"]
        if engine_kind(dialect) is None:
            known = engine_kinds()
            hint = did_you_mean(dialect, known)
            msg = f"is a database of the kind {dialect!r}: {', '.join(known)} are read{hint}"
            raise ValueError(msg)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The mapping, or text with a path alone."""
        mapping = super().__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [{"type": "string"}, mapping]}


class TableColumns(Part):
    """Columns of a table, and how to read its times."""

    source: Source
    id: Column
    time_zone: Zone | None = None
    time_unit: Literal["s", "ms", "us", "ns"] | None = None
    ambiguous: Literal["earlier", "later"] | None = None

    _parameters: ClassVar[Collection[str]]

    @field_validator("source")
    @classmethod
    def _with_parameters(cls, source: Source) -> Source:
        if source.query is not None and not source.secret.missing():
            # Loads the SQL parser only if there is a query.
            from pumonitor.sources.engines.registry import engine_kind
            from pumonitor.sources.windows.contained_sql import check_query

            kind = engine_kind(source.identity["dialect"])
            spoken = None if kind is None else kind.spoken
            check_query(source.query, dialect=spoken, parameters=cls._parameters)
        return source

    @field_validator("time_unit")
    @classmethod
    def _zone_or_unit(cls, unit: str | None, info: ValidationInfo) -> str | None:
        if unit is not None and info.data.get("time_zone") is not None:
            msg = "is for integers since 1970, which are in UTC: leave out time_zone"
            raise ValueError(msg)
        return unit

    @field_validator("ambiguous")
    @classmethod
    def _of_a_zone(cls, ambiguous: str | None, info: ValidationInfo) -> str | None:
        if ambiguous is not None and info.data.get("time_zone") is None:
            msg = (
                "needs time_zone, which is missing: it chooses a moment for local times that occur "
                "twice"
            )
            raise ValueError(msg)
        return ambiguous

    def _refuse_shared(self, columns: Mapping[str, str | None]) -> None:
        taken: dict[str, str] = {}
        for role, column in columns.items():
            if column is None:
                continue
            if column in taken:
                msg = f"uses the column {column!r} both as {taken[column]} and as {role}"
                raise ValueError(msg)
            taken[column] = role


class Action(Part):
    """What was done with each row.

    Attributes
    ----------
    column : str
        Name of the column.
    stopped : list
        Its words for rows that were declined outright, so that nobody will know what they were.
    """

    column: Column
    stopped: Words = Field(min_length=1)


class Worth(Part):
    """What each row is worth.

    Attributes
    ----------
    column : str
        Name of the column, of numbers that are at least 0.
    unit : str or None
        A short word for what they are in, such as EUR, for texts.
    """

    column: Column
    unit: Annotated[str, Field(min_length=1, max_length=20)] | None = None


class Predictions(TableColumns):
    """Rows that were scored.

    Attributes
    ----------
    source : Source
        File, table or query of the predictions.
    id : str
        Column with the id by which confirmations refer to predictions.
    time : str
        Column with the time of the prediction.
    score : str
        Column with the score; a higher score means more likely positive.
    model_version : str or None
        Column with the version of the model; each version is a series of its own.
    segments : tuple of str
        Columns whose values are segments. Each segment is evaluated in addition to all rows.
    features : tuple of str
        Columns from which the auxiliary score is trained; the class prior is then followed with it
        instead of the deployed score.
    group : str or None
        Column with the entity of a row (customer, device), if entities recur: with features, whose
        score is trained without it.
    entity : str or None
        Column with the card, customer or device of a row, where one brings several labels: labels
        of one entity tell less than as many of different ones, and every interval allows for that.
        Not beside propensity or counts://.
    action : Action or None
        What was done with each row, {column: action, stopped: [declined]}, where there are reviews.
    value : str, Worth or None
        Column with what a row is worth, such as an amount, or {column: amount, unit: EUR}: adds
        recall, precision, caught and missed by value. Not beside audits, propensity, label_purity,
        entity or reviews with ranked_by.
    max_bytes : int or None
        What one statement about predictions may read, such as 10 GB. A statement that is expected
        to read more is refused before it runs, and so are all where the source cannot tell. It can
        be changed at any time: results stay as they are.
    time_zone : str or None
        Time zone of times without a zone.
    time_unit : "s", "ms", "us", "ns" or None
        Unit of times that are integers since 1970.
    ambiguous : "earlier", "later" or None
        Which moment is used for a local time that occurs twice or never because clocks
        change. By default rows with such a time are refused.
    """

    _parameters = ("start", "end")

    time: Column
    score: Column
    model_version: Column | None = None
    segments: Columns = ()
    features: Annotated[
        Columns,
        Field(
            description="Columns that distinguish positives from negatives: numbers, text, true "
            "and false. An auxiliary score is trained on them once, on the reference, "
            "and the class prior is followed with it: it stays valid when the model's "
            "score breaks."
        ),
    ] = ()
    group: Annotated[
        Column | None,
        Field(description="Column with the entity of a row (customer, device), if entities recur."),
    ] = None
    entity: Annotated[
        Column | None,
        Field(
            description="Column with the card, customer or device of a row, where one brings "
            "several labels: intervals then count labels by entity."
        ),
    ] = None
    action: Action | None = None
    value: Annotated[
        Column | Worth | None,
        Field(
            description="Column with what a row is worth, such as an amount, or {column: amount, "
            "unit: EUR}: estimates are there by value as well."
        ),
    ] = None
    max_bytes: Bytes | None = None

    @model_validator(mode="after")
    def _different_columns(self) -> Predictions:
        segments = {f"segment {number + 1}": name for number, name in enumerate(self.segments)}
        self._refuse_shared(
            {
                "id": self.id,
                "time": self.time,
                "score": self.score,
                "model_version": self.model_version,
                "group": self.group,
                "entity": self.entity,
                "action": None if self.action is None else self.action.column,
                "value": self.value_column,
                **{role: name for role, name in segments.items() if name not in self._acted_on},
            }
        )
        self._refuse_as_feature()
        if self.entity is not None and self.source.name.startswith(_COUNTS):
            msg = "entity needs a row per prediction, and counts:// has none: leave out entity"
            raise ValueError(msg)
        if self.entity is not None and self.group is not None:
            msg = "names the entity of a row twice: leave out group, and entity serves for both"
            raise ValueError(msg)
        if self.max_bytes is not None and self.source.name.startswith(_COUNTS):
            msg = (
                "max_bytes is for tables with a row per prediction: leave it out of counts://, "
                "whose table is small"
            )
            raise ValueError(msg)
        return self

    @property
    def value_column(self) -> str | None:
        """Name of the column of what rows are worth."""
        return self.value.column if isinstance(self.value, Worth) else self.value

    @property
    def value_unit(self) -> str | None:
        """What that is in, if it is said."""
        return self.value.unit if isinstance(self.value, Worth) else None

    @property
    def _acted_on(self) -> tuple[str, ...]:
        return () if self.action is None else (self.action.column,)

    @property
    def counted_by(self) -> tuple[str, ...]:
        """Columns that rows are told apart by: segments, and what was done with a row."""
        return tuple(dict.fromkeys((*self.segments, *self._acted_on)))

    def _refuse_as_feature(self) -> None:
        """Refuse features that are also named in another role, except segments."""
        taken = {
            self.id: "id, which differs in every row and cannot predict anything",
            self.time: "time, which is no property of the case",
            self.score: "the score: what breaks it would break the auxiliary score",
            self.model_version: (
                "the model version: what breaks the model would break the auxiliary score"
            ),
            **dict.fromkeys(
                (self.group, self.entity),
                "the group: a score that recognises entities does not generalise to others",
            ),
        }
        for place, name in enumerate(self.features):
            if name in taken:
                msg = f"uses the column {name!r} as a feature and as {taken[name]}"
                raise ValueError(msg)
            if name in self.features[:place]:
                msg = f"has the feature column {name!r} twice"
                raise ValueError(msg)
        if self.group is not None and not self.features:
            msg = "has a group without features: list the features too, or leave out group"
            raise ValueError(msg)


class Outcomes(Part):
    """A column of outcomes, and what its words mean. A word that is not listed is an error.

    Attributes
    ----------
    column : str
        Name of the column.
    positive : list
        Words or whole numbers of confirmed positives.
    negative : list
        Those of confirmed negatives.
    undecided : list
        Those that say nothing yet, or no longer what an earlier row said; '' is a missing value.
    """

    column: Column
    positive: Words = Field(min_length=1)
    negative: Words = ()
    undecided: Words = ()

    @model_validator(mode="after")
    def _each_word_once(self) -> Outcomes:
        words = [*self.positive, *self.negative, *self.undecided]
        for word in words:
            if words.count(word) > 1:
                msg = f"lists {word!r} twice: each outcome has one meaning"
                raise ValueError(msg)
        return self

    @property
    def words(self) -> LabelWords:
        """What its words mean."""
        return LabelWords(positive=self.positive, negative=self.negative, undecided=self.undecided)


class Channel(Part):
    """Which rows of a table are meant, where it has others too.

    Attributes
    ----------
    column : str
        Name of the column that says which way a row came.
    words : list
        Its words in the rows that are meant.
    """

    column: Column
    words: Words = Field(min_length=1)


def channel_of(channel: Channel | None) -> RowsOfChannel | None:
    """As the source of rows is asked for it."""
    return None if channel is None else RowsOfChannel(column=channel.column, words=channel.words)


class Positives(TableColumns):
    """Confirmations, as they become known.

    Attributes
    ----------
    source : Source
        File, table or query of the confirmations.
    id : str
        Column with the id of the prediction that is confirmed.
    known_at : str or None
        Column with the time at which the confirmation became known. Without it every row counts at
        every moment.
    label : str, Outcomes or None
        Column with 1 for a confirmed positive, -1 for a confirmed negative, and 0 to retract an
        earlier row; or a column of outcomes with what its words mean, {column: status,
        positive: [confirmed], negative: [rejected], undecided: [open]}. Without it every row is a
        confirmed positive.
    propensity : str or None
        Column with the probability that a positive like this one gets confirmed.
    channel : Channel or None
        Which rows are confirmations, where the table holds reviews too, {column: via,
        words: [chargeback]}.
    time_zone : str or None
        Time zone of times without a zone.
    time_unit : "s", "ms", "us", "ns" or None
        Unit of times that are integers since 1970.
    ambiguous : "earlier", "later" or None
        Which moment is used for a local time that occurs twice or never because clocks change.
    """

    _parameters = ("as_of",)

    known_at: Column | None = None
    label: Column | Outcomes | None = None
    propensity: Column | None = None
    channel: Channel | None = None

    @model_validator(mode="after")
    def _different_columns(self) -> Positives:
        self._refuse_shared(
            {
                "id": self.id,
                "known_at": self.known_at,
                "label": self.label_column,
                "propensity": self.propensity,
                "channel": None if self.channel is None else self.channel.column,
            }
        )
        return self

    @property
    def label_column(self) -> str | None:
        """Name of the column of labels or outcomes."""
        return self.label.column if isinstance(self.label, Outcomes) else self.label

    @property
    def label_words(self) -> LabelWords | None:
        """What its words mean; None where they are 1, -1 and 0."""
        return self.label.words if isinstance(self.label, Outcomes) else None
