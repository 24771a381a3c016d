"""Read a configuration file into a `Configuration`; all problems are reported in one error."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pumonitor.errors import InputError, nearest
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.expansion import expand
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rules import KINDS, keys_of, meant_keys
from pumonitor.monitor.config.sections.sources import Predictions, TableColumns
from pumonitor.monitor.config.text.problems import (
    Place,
    Problem,
    WithinError,
    problems_error,
    shown_place,
)
from pumonitor.monitor.config.text.yaml_document import read_document
from pumonitor.monitor.ledger.database.plain_json import plain_json

__all__ = [
    "ConfigurationFile",
    "Needs",
    "configuration_hash",
    "configuration_meaning",
    "configuration_schema",
    "read_configuration",
    "read_configuration_text",
]

_LARGEST_BYTES = 1_000_000

_MESSAGES: Final = {
    "missing": "is missing",
    "string_type": "must be text: put it in quotes",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "float_type": "must be a number without quotes",
    "int_type": "must be a whole number without quotes",
    "bool_type": "must be true or false",
    "finite_number": "must be finite",
    "tuple_type": "must be a list, such as [a, b]",
    "dict_type": "must be a mapping: keys with values, indented",
    "model_type": "must be a mapping: keys with values, indented",
}
"""Messages for pydantic's error types; other types keep pydantic's own message."""


Needs = Literal["everything", "ledger"]
"""What a command needs: everything that the file names, or the ledger alone."""

_TEXT_FORM: Final = "constrained-str"
"""pydantic's name of text among several forms of a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationFile:
    """A configuration with the warnings about its file.

    Attributes
    ----------
    configuration : Configuration
    path : Path
    warnings : tuple of str
    """

    configuration: Configuration
    path: Path
    warnings: tuple[str, ...]


def read_configuration(
    path: str | os.PathLike[str] = "pumonitor.yaml",
    *,
    environment: Mapping[str, str] | None = None,
    needs: Needs = "everything",
) -> ConfigurationFile:
    """Read a configuration file.

    Parameters
    ----------
    path : path-like
    environment : mapping of str to str, optional
        Where ${NAME} is looked up; by default the environment of the process.
    needs : {"everything", "ledger"}
        "ledger": secrets may be missing; what needs one raises the error when it is used.

    Raises
    ------
    InputError
        If the file does not exist or is invalid. The message has one line per problem, with its
        place and line number, and never a secret.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            msg = f"{file} is no configuration: it has more than {_LARGEST_BYTES:,} bytes"
            raise InputError(msg)
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(_no_file(file)) from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        msg = f"{file} cannot be read: {why}"
        raise InputError(msg) from None
    return read_configuration_text(text, path=file, environment=environment, needs=needs)


def read_configuration_text(
    text: str,
    *,
    path: Path = Path("pumonitor.yaml"),
    environment: Mapping[str, str] | None = None,
    needs: Needs = "everything",
    make_error: Callable[[Sequence[Problem]], InputError] | None = None,
) -> ConfigurationFile:
    r"""Read a configuration from text. Relative paths in it are relative to the folder of `path`.

    Parameters
    ----------
    text : str
    path : Path
    environment, needs
        As in `read_configuration`.
    make_error : callable, optional
        Makes the error, for text whose places and lines its author does not know.

    Raises
    ------
    InputError
        As `read_configuration`.

    Examples
    --------
    >>> try:
    ...     read_configuration_text("tracking: 5\nmonitor: {}\n")
    ... except InputError as error:
    ...     print(error)
    pumonitor.yaml has 2 problems:
      tracking, line 1: must be a mapping: keys with values, indented
      monitor, line 2: is not known here; did you mean 'monitors'?
    """
    document = read_document(text, name=str(path))
    expanded = expand(
        document.value,
        os.environ if environment is None else environment,
        file=str(path),
        lines=document.lines,
    )
    problems = [*document.problems, *expanded.problems]
    if needs == "everything":
        problems += expanded.missing
    configuration = None
    try:
        configuration = Configuration.model_validate(
            {} if expanded.value is None else expanded.value,
            context={"folder": path.absolute().parent, "file": path.absolute()},
        )
    except ValidationError as error:
        # Leave out problems that follow from a variable that could not be read.
        unread = [problem.place for problem in expanded.problems]
        problems += [
            problem
            for problem in problems_of(error)
            if not any(problem.place[: len(place)] == place for place in unread)
        ]
    if problems or configuration is None:
        # A message may quote the value of a variable, which may be a secret.
        error_of_file = (
            problems_error(str(path), problems, document.lines)
            if make_error is None
            else make_error(problems)
        )
        raise InputError(expanded.mask(str(error_of_file))) from None
    warnings = tuple(
        f"{path}: {shown_place(warning.place)}, line {document.lines[warning.place]}: "
        f"{warning.message}"
        for warning in expanded.warnings
    )
    return ConfigurationFile(configuration=configuration, path=path, warnings=warnings)


def _no_file(file: Path) -> str:
    start = f"there is no file {file}"
    if not file.parent.is_dir():
        return f"{start}: the directory {file.parent} does not exist"
    beside = [entry.name for entry in file.parent.iterdir()]
    near = [name for name in nearest(file.name, beside) if name.endswith((".yaml", ".yml"))]
    if near:
        return f"{start}; did you mean {file.parent / near[0]}?"
    return f"{start} in {Path.cwd()}: pumonitor init writes one; give another with --config"


def problems_of(error: ValidationError, *, below: Place = ()) -> list[Problem]:
    """The problems of a configuration, or of a part of it that is below a place of the file."""
    errors = _of_meant_forms(error.errors(include_input=False, include_url=False))
    for one in errors:
        one["loc"] = (*below, *one["loc"])
    unknown = {one["loc"] for one in errors if one["type"] == "extra_forbidden"}
    # A misspelt key is reported as unknown only, and not as missing as well.
    meant = {(*place[:-1], name) for place in unknown for name in _likely(place)}
    return [
        Problem(place=_place(one["loc"]), message=_message(one), within=_within(one))
        for one in errors
        if one["type"] != "missing" or one["loc"] not in meant
    ]


def _of_meant_forms(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Of a key that takes text or a mapping, what is wrong with the form that was given."""
    mappings = {
        details["loc"][:at]
        for details in errors
        for at, part in enumerate(details["loc"])
        if _is_mapping(part)
    }
    kept = [
        details
        for details in errors
        if details["loc"][-1:] != (_TEXT_FORM,) or details["loc"][:-1] not in mappings
    ]
    for details in kept:
        details["loc"] = tuple(
            part for part in details["loc"] if part != _TEXT_FORM and not _is_mapping(part)
        )
    return kept


def _is_mapping(part: int | str) -> bool:
    """Whether a part of a location is pydantic's name of a checked mapping among several forms."""
    return isinstance(part, str) and part.startswith("function-") and part.endswith("]")


def _place(found: Place) -> Place:
    """The place in the file: pydantic's location without the tag of the rule's kind."""
    is_of_rule = len(found) > 4 and found[2] == "rules" and found[4] in KINDS
    return (*found[:4], *found[5:]) if is_of_rule else found


def _within(error: ErrorDetails) -> Place:
    found = error.get("ctx", {}).get("error")
    return found.within if isinstance(found, WithinError) else ()


def _likely(place: Place) -> list[str]:
    name, kind = str(place[-1]), str(place[-2]) if len(place) > 1 else ""
    return meant_keys(name, kind) if kind in KINDS else nearest(name, _known_keys(place[:-1]))


def _message(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "extra_forbidden":
        if error["loc"][-2:] == ("predictions", "value"):
            return (
                "is not read by monitors: what positives are worth is estimated of rows, by "
                "pumonitor evaluate --value"
            )
        near = _likely(error["loc"])
        if near:
            return f"is not known here; did you mean {near[0]!r}?"
        return f"is not known here (there are {', '.join(_known_keys(error['loc'][:-1]))})"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    if kind == "greater_than":
        return f"must be above {context['gt']:g}"
    if kind == "greater_than_equal":
        return f"must be at least {context['ge']:g}"
    return _MESSAGES.get(kind, error["msg"])


def _known_keys(place: Place) -> list[str]:
    """Keys of the mapping at a place of the file."""
    if place and place[-1] in KINDS:
        return keys_of(str(place[-1]))
    found: Any = Configuration
    for part in place:
        if _is_model(found):
            field = next((one for name, one in _fields(found) if name == part), None)
            if field is None:
                return []
            # Some values may be a mapping or something else.
            mappings = [getattr(one, "mapping", None) for one in field.metadata]
            found = next(filter(_is_model, mappings), field.annotation)
            if _is_model(found) or get_origin(found) in {dict, tuple}:
                continue
        found = next((inner for inner in get_args(found) if _is_model(inner)), None)
    return [name for name, _ in _fields(found)] if _is_model(found) else []


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _fields(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    return [(field.alias or name, field) for name, field in model.model_fields.items()]


def configuration_meaning(monitor: Monitor) -> dict[str, Any]:
    """Everything in a monitor's configuration that changes its results, in JSON types.

    Included: sources and columns, windows, time zone, maturity, panes, score scale, threshold,
    assumptions and reference. Left out: name, schedule, rules, link to a model, database users,
    what may be read (`max_bytes`) and the layout of the file. It equals what the ledger returns
    after storing it as JSON.
    """
    reference = monitor.reference
    meaning: dict[str, Any] = {
        "version": 1,
        "predictions": {
            "source": monitor.predictions.source.identity,
            **_columns(
                monitor.predictions,
                exclude={"source", "segments", "features", "max_bytes", "value"},
            ),
            "segments": sorted(monitor.predictions.segments),
            **_features(monitor.predictions),
            **_value(monitor.predictions),
        },
        "positives": {
            "source": monitor.positives.source.identity,
            **_columns(monitor.positives, exclude={"source"}),
        },
        **_reviews(monitor),
        # What is only said of results changes none.
        **({"label_origin": monitor.label_origin} if monitor.labels_are_chosen else {}),
        "window": _window_in_days(monitor.window),
        "zone": monitor.zone,
        "maturity": monitor.maturity.total_seconds(),
        "panes": [age.total_seconds() for age in monitor.pane_schedule.ages],
        "score_scale": monitor.score_scale,
        "threshold": monitor.threshold,
        "class_prior": monitor.class_prior
        if monitor.prior_of_period is None
        else monitor.prior_of_period.meaning(monitor.zone),
        "label_purity": monitor.label_purity,
        "scenario": monitor.scenario,
        "reference": None
        if reference is None
        else [moment.isoformat() for moment in reference.span(monitor.zone)],
    }
    # JSON returns tuples as lists; comparing the two would report a change.
    plain: dict[str, Any] = plain_json(meaning, "a configuration")
    return plain


def configuration_hash(monitor: Monitor) -> str:
    """Hash of `configuration_meaning`.

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    meaning = configuration_meaning(monitor)
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _reviews(monitor: Monitor) -> dict[str, Any]:
    """Nothing without reviews, so that other configurations stay what they were."""
    if not monitor.reviews:
        return {}
    return {
        "reviews": [
            {"source": queue.source.identity, **_columns(queue, exclude={"source"})}
            for queue in monitor.reviews
        ],
        "complaint_rate": monitor.complaint_rate,
    }


def _features(predictions: Predictions) -> dict[str, Any]:
    return {"features": sorted(predictions.features)} if predictions.features else {}


def _value(predictions: Predictions) -> dict[str, Any]:
    """The column: what it is in is only said of results."""
    column = predictions.value_column
    return {} if column is None else {"value": column}


def _columns(table: TableColumns, *, exclude: set[str]) -> dict[str, Any]:
    """The keys given for a table. Absent keys are left out, so that new keys change no hash."""
    return table.model_dump(mode="json", exclude=exclude, exclude_none=True)


def _window_in_days(length: str) -> str:
    """The length of windows with weeks written in days, so that 1w and 7d are the same."""
    count, unit = re.fullmatch(r"(\d+)(\w+)", length).groups()  # type: ignore[union-attr]
    return f"{7 * int(count)}d" if unit == "w" else f"{int(count)}{unit}"


def configuration_schema() -> dict[str, Any]:
    """JSON Schema of the file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pumonitor.yaml",
        **Configuration.model_json_schema(by_alias=True),
    }
