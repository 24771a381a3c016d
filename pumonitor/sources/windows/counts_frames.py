"""Data frames of any library, handed to DuckDB as Arrow tables."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pumonitor.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyTable:
    """A frame whose rows are computed when they are asked for.

    Only the columns named and, where the frame can compare its times, only a window's rows are ever
    loaded; the filter is part of the frame's own plan.
    """

    frame: Any
    name: str

    @classmethod
    def of(cls, frame: object, *, name: str) -> LazyTable | None:
        """A lazy frame, or None for one that holds its rows."""
        import narwhals as nw

        read = _read(frame, name)
        return cls(frame=read, name=name) if isinstance(read, nw.LazyFrame) else None

    def load(
        self,
        names: Sequence[str],
        *,
        time: str | None = None,
        bounds: Sequence[object] | None = None,
        limit: int | None = None,
    ) -> pa.Table:
        """Rows whose time is within bounds or missing, or the first few, or all of them."""
        import narwhals as nw

        chosen = self.frame.select(_named(self.frame, names, self.name))
        if time is not None and bounds is not None:
            column = nw.col(time)
            within = (column >= bounds[0]) & (column < bounds[1])
            chosen = chosen.filter(within | column.is_null())
        return _arrow(chosen if limit is None else chosen.head(limit), self.name)


def eager_table(frame: object, names: Sequence[str], *, name: str) -> pa.Table:
    """The named columns of a frame that holds its rows.

    Raises
    ------
    InputError
        If it is no data frame, lacks a column, has one twice, or one that mixes types.
    """
    read = _read(frame, name)
    chosen = read.select(_named(read, names, name))
    _refuse_mixed_zones(chosen, name)
    return _arrow(chosen, name)


def _read(frame: object, name: str) -> Any:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(frame)
    except DuplicateError:
        header: Any = getattr(frame, "column_names", None) or getattr(frame, "columns", ())
        doubled = [one for one, count in Counter(header).items() if count > 1]
        msg = (
            f"{name} has several columns named {', '.join(map(repr, doubled))}: rename all but one"
        )
        raise InputError(msg) from None
    except TypeError:
        msg = (
            f"{name} is {type(frame).__name__}, but it must be a path, a pattern, an address, a "
            "table or query of a database, or a data frame"
        )
        raise InputError(msg) from None


def _named(frame: Any, names: Sequence[str], name: str) -> list[str]:
    # pandas takes anything for a name.
    header = list(map(str, frame.collect_schema().names()))
    for one in names:
        if header.count(one) > 1:
            msg = f"{name} has {header.count(one)} columns named '{one}': rename all but one"
            raise InputError(msg)
        if one not in header:
            hint = (
                did_you_mean(one, header, most=3) or f"; its columns are {', '.join(header[:12])}"
            )
            msg = f"{name} has no column '{one}'{hint}"
            raise InputError(msg)
    return list(dict.fromkeys(names))


def _arrow(frame: Any, name: str) -> pa.Table:
    import narwhals as nw
    import pyarrow as pa

    try:
        held = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        with warnings.catch_warnings():
            # Arrow reads pandas in a way that pandas announces to change.
            warnings.simplefilter("ignore", DeprecationWarning)
            return held.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        what = "; ".join(str(part).splitlines()[0] for part in error.args) or type(error).__name__
        msg = f"{name} mixes types in a column: {what}; cast it to one type"
        raise InputError(msg) from None


def _refuse_mixed_zones(frame: Any, name: str) -> None:
    """Times with and without a zone in one column of objects: Arrow would take all for either."""
    import narwhals as nw

    for column, kind in frame.schema.items():
        if kind != nw.Object:
            continue
        values = [value for value in frame[column].to_list() if isinstance(value, datetime)]
        # A missing time is not equal to itself.
        times = [value for value in values if value == value]  # noqa: PLR0124
        naive = sum(value.tzinfo is None for value in times)
        if 0 < naive < len(times):
            msg = (
                f"{name} has {naive} times without a zone among {len(times)} in column '{column}': "
                "give all of them their zone"
            )
            raise InputError(msg)
