"""The key `class_prior`: estimated, given for one period, or an assumed constant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, core_schema

from pumonitor.errors import if_percent
from pumonitor.monitor.config.sections.prior_of_period import PriorOfPeriod, audited_prior
from pumonitor.monitor.config.text.problems import WithinError
from pumonitor.monitor.config.values.kinds import Part, is_number
from pumonitor.monitor.config.values.periods import Period

_PERIOD: Final = "of: {start: 2026-01-01, end: 2026-02-01}"
_FORMS: Final = (
    "must be auto, the name of a method, a number, [low, high] or [value, low, high], or a mapping "
    "with value, low, high and of, with positives, cases and of, or with assumed"
)
_CONSTANT_FORMS: Final = (
    "must be a number, [low, high], [value, low, high] or {value: ..., low: ..., high: ...}"
)


def _read_plain(given: Any) -> str | float | tuple[float, ...]:
    if isinstance(given, str):
        if given == "auto":
            return "auto"
        # Loads the estimators only if one is named.
        from pumonitor.prior.methods import METHODS, check_method

        check_method(given)
        if given in METHODS and METHODS[given].reads == "features":
            msg = f"{given!r} needs features, and a monitor has scores only: use auto"
            raise ValueError(msg)
        return given
    return _read_constant(given, forms=_FORMS)


def _read_constant(given: Any, *, forms: str) -> float | tuple[float, ...]:
    from pumonitor.results import ClassPriorEstimate

    numbers = given if isinstance(given, list) else [given]
    if not all(map(is_number, numbers)) or len(numbers) > 3 or not numbers:
        raise ValueError(forms)
    found = tuple(map(float, numbers))
    low, high = found[-2:] if len(found) > 1 else (0.0, 1.0)
    if low > high:
        msg = f"has its low end above its high one: {low:g} > {high:g}"
        raise ValueError(msg)
    ClassPriorEstimate.given(found if len(found) > 1 else found[0])  # type: ignore[arg-type]
    return found if isinstance(given, list) and len(found) > 1 else found[0]


def _read_assumed(given: Any) -> float | tuple[float, ...]:
    if isinstance(given, Mapping):
        if set(given) != {"value", "low", "high"}:
            raise ValueError(_CONSTANT_FORMS)
        given = [given["value"], given["low"], given["high"]]
    return _read_constant(given, forms=_CONSTANT_FORMS)


def _read_share(given: Any) -> float:
    if not is_number(given) or not 0 < given < 1:
        got = ", a number without quotes or percent sign"
        if is_number(given):
            got = f", got {given:g}{if_percent(float(given))}"
        msg = f"must be a share above 0 and below 1{got}"
        raise ValueError(msg)
    return float(given)


def _read_count(given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        msg = "must be a whole number of cases, 0 or more" + (
            f", got {given:g}" if is_number(given) else ""
        )
        raise ValueError(msg)
    return given


_Share = Annotated[float, BeforeValidator(_read_share)]
_Count = Annotated[int, BeforeValidator(_read_count)]


class _Written(Part):
    """The mapping form of `class_prior`."""

    value: _Share | None = None
    low: _Share | None = None
    high: _Share | None = None
    positives: _Count | None = None
    cases: _Count | None = None
    of: Period | None = None
    assumed: Annotated[float | tuple[float, ...], BeforeValidator(_read_assumed)] | None = None

    @model_validator(mode="after")
    def _one_of_three(self) -> _Written:
        given = self.model_fields_set
        beside = [name for name in type(self).model_fields if name in given - {"assumed"}]
        if "assumed" in given:
            if beside:
                msg = (
                    f"has {_listed(beside)} beside assumed, which is a constant for all windows: "
                    "leave assumed out and write value, low, high and of, or write assumed alone"
                )
                raise WithinError(msg, "assumed")
            if self.assumed is None:
                raise WithinError(f"assumed {_CONSTANT_FORMS}", "assumed")
            return self
        audit, share = given & {"positives", "cases"}, given & {"value", "low", "high"}
        if audit and share:
            msg = (
                f"has {_listed(beside)}: give either value, low and high, or positives and cases "
                "of an audit"
            )
            raise ValueError(msg)
        if audit:
            self._check_audit()
        else:
            self._check_share()
        return self

    def _check_share(self) -> None:
        value, low, high = self.value, self.low, self.high
        if value is None:
            msg = (
                f"has no value: write the likeliest share beside low and high, such as {{value: "
                f"0.03, low: 0.02, high: 0.04, {_PERIOD}}}"
            )
            raise ValueError(msg)
        if self.of is None:
            constant = f"{value:g}"
            if low is not None and high is not None:
                constant = f"{{value: {value:g}, low: {low:g}, high: {high:g}}}"
            msg = (
                f"has no period: add the one that the share is of, such as {_PERIOD}, or write "
                f"assumed: {constant} if it never changes"
            )
            raise ValueError(msg)
        if low is None or high is None:
            ends = "low and high" if low is high else "low" if low is None else "high"
            msg = (
                f"has value {value:g} without {ends}, but a share is never known exactly: write "
                "both ends of its 95% interval, such as low: 0.02, high: 0.04, or positives and "
                "cases of the audit it comes from"
            )
            raise ValueError(msg)
        if low >= high:
            msg = f"low must be below high, got low {low:g} and high {high:g}"
            raise WithinError(msg, "low")
        if not low <= value <= high:
            msg = (
                f"value must lie from low to high, got {value:g} and {low:g} to {high:g}: low and "
                "high are the ends of its 95% interval"
            )
            raise WithinError(msg, "value")

    def _check_audit(self) -> None:
        if self.positives is None or self.cases is None:
            absent, there = (
                ("positives", "cases") if self.positives is None else ("cases", "positives")
            )
            msg = (
                f"has {there} without {absent}: write the number of positives and the number of "
                "cases of the audit, such as {positives: 12, cases: 300, {_PERIOD}}"
            )
            raise ValueError(msg)
        if self.cases == 0:
            msg = "cases must be 1 or more: it is the number of cases that were looked up"
            raise WithinError(msg, "cases")
        if self.positives > self.cases:
            msg = (
                f"positives must not be more than cases, got {self.positives:,} of {self.cases:,}: "
                f"write positives: {self.cases}, cases: {self.positives} if they were exchanged"
            )
            raise WithinError(msg, "positives")
        if self.of is None:
            msg = f"has no period: add the one that the cases were drawn from, such as {_PERIOD}"
            raise ValueError(msg)

    def read(self) -> float | tuple[float, ...] | PriorOfPeriod:
        """The value that the validated mapping stands for."""
        if self.of is None:
            return self.assumed  # type: ignore[return-value]
        start, end = self.of.start, self.of.end
        if self.positives is not None and self.cases is not None:
            return audited_prior(self.positives, self.cases, start=start, end=end)
        value, low, high = self.value, self.low, self.high
        return PriorOfPeriod(value=value, low=low, high=high, start=start, end=end)  # type: ignore[arg-type]


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


class _ByShape:
    """Validates a mapping key by key, with errors at each key, and other forms as a whole."""

    mapping = _Written

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def read(given: Any, mapping: Any) -> Any:
            return mapping(given).read() if isinstance(given, Mapping) else _read_plain(given)

        return core_schema.no_info_wrap_validator_function(
            read,
            handler.generate_schema(self.mapping),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return _SCHEMA


def _mapping_schema(description: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_SHARE: Final = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_CONSTANT: Final = [
    _SHARE,
    {"type": "array", "items": _SHARE, "minItems": 2, "maxItems": 3},
]
_VALUE: Final = _SHARE | {"description": "The likeliest share"}
_LOW: Final = _SHARE | {"description": "Low end of its 95% interval"}
_HIGH: Final = _SHARE | {"description": "High end of its 95% interval"}
_DATE: Final = {"type": "string", "format": "date"}
_OF: Final = _mapping_schema(
    "Period of the share",
    start=_DATE | {"description": "Start of the period"},
    end=_DATE | {"description": "End of the period (not included)"},
)
_SCHEMA: Final[dict[str, Any]] = {
    "description": (
        "Share of positives: auto estimates it from the first windows and follows it from there"
    ),
    "anyOf": [
        {"type": "string", "examples": ["auto"]},
        _mapping_schema(
            "Share of one period with its 95% interval; the class prior is followed from that "
            "period on",
            value=_VALUE,
            low=_LOW,
            high=_HIGH,
            of=_OF,
        ),
        _mapping_schema(
            "An audit: number of positives among random cases of one period that were looked up; "
            "the class prior is followed from that period on",
            positives={"type": "integer", "minimum": 0, "description": "Number of positives"},
            cases={
                "type": "integer",
                "minimum": 1,
                "description": ("Number of cases that were looked up"),
            },
            of=_OF,
        ),
        _mapping_schema(
            "A constant that is assumed for all windows and never estimated",
            assumed={
                "description": "The share, with or without its interval",
                "anyOf": [
                    *_CONSTANT,
                    _mapping_schema(
                        "The share with its 95% interval", value=_VALUE, low=_LOW, high=_HIGH
                    ),
                ],
            },
        ),
        *(
            {**one, "description": ("A constant for all windows, as with assumed")}
            for one in _CONSTANT
        ),
    ],
}

GivenPrior = Annotated[str | float | tuple[float, ...] | PriorOfPeriod, _ByShape()]
