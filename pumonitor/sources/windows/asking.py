"""Which statements an engine is asked about windows, in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial, reduce
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import DamagedFileError
from pumonitor.ports import Progress
from pumonitor.sources.windows.answers import Answers, Repeats, numbers_of
from pumonitor.sources.windows.answers_here import STEP, answers_here, with_repeats
from pumonitor.sources.windows.asking_apart import IdsRepeatError, ask_apart
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import LABEL_TOTALS, CountQuery
from pumonitor.sources.windows.different_ids import SeenIds, all_different, seen_ids
from pumonitor.sources.windows.id_slices import IdSlice
from pumonitor.sources.windows.label_parts import of_each_part, progress_of_part
from pumonitor.sources.windows.refusing import check_labels, refuse_labels
from pumonitor.sources.windows.slices import added, outside, slices_of

LoadIds = Callable[[tuple[datetime, datetime] | None], None]
"""Gets ids of predictions ready, of a stretch of time or all."""

_ROWS_HELD: Final = 2_000_000
"""What an engine in this process may hold of predictions: some 150 MB."""
_ROWS_TOGETHER: Final = 500_000
"""Of windows counted together: with more, statements cost less than telling windows apart, and the
answer about all of them would take the memory of each of them."""
_MOST_LENGTHS: Final = 64
"""Of windows that are searched at a time before all the rest is."""

_Query = TypeVar("_Query", bound=CountQuery)


class TooMuchError(Exception):
    """More than can be counted at once; of fewer windows it can."""


def ask(
    engine: Engine, query: CountQuery, *, load_ids: LoadIds | None, progress: Progress | None = None
) -> Answers:
    """Ask all that there is to know of one window or of several.

    An engine in this process that can hold rows reads predictions once and holds them, if they are
    few enough. One elsewhere that takes tables counts the rows that no label is about. All others
    are asked by one statement, twice where ids stand more than once.

    Raises
    ------
    InputError
        If labels cannot be used.
    TooMuchError
        If the rows of several windows are too many.
    """
    if not query.dialect.holds_rows:
        return _ask_at_once(engine, query, load_ids=load_ids, progress=progress)
    labels = 0 if query.labels.is_checked else check_labels(engine, query)
    query, seen = _held(engine, query)
    slices: list[IdSlice] = []
    if "pumonitor_rows" not in query.kept:
        slices = slices_of(seen, labels=labels, dialect=query.dialect)
    answers = answers_here(engine, query, seen, slices, progress=progress)
    if load_ids is None:
        return answers
    orphans: Counter[int] = Counter()
    everywhere = [*slices, *outside(seen)] if slices else [None]
    try:
        for some in everywhere:
            orphans.update(count_orphans(engine, replace(query, only=some), load_ids))
    except DamagedFileError:
        # Of other windows, which wait for it. What has no prediction elsewhere may have it there.
        return replace(answers, orphans=None)
    return replace(answers, orphans=dict(orphans))


def _held(engine: Engine, query: CountQuery) -> tuple[CountQuery, SeenIds]:
    """The query on rows that are held now, if they are few enough, and what ids there are."""
    about = query.predictions.relation.name
    most = _ROWS_TOGETHER if query.windows else _ROWS_HELD
    if query.windows and (query.predictions.relation.rows or 0) > most:
        _check_few_rows(engine, query)
    if engine.keep("pumonitor_rows", query.held(most + 1), about=about):
        held = replace(query, kept=query.kept | {"pumonitor_rows"})
        seen = seen_ids(engine, held)
        if seen.rows <= most:
            return replace(held, ids_between=seen.between), seen
        engine.keep("pumonitor_rows", query.held(0), about=about)
        if query.windows:
            raise TooMuchError
    seen = seen_ids(engine, query)
    return replace(query, ids_between=seen.between), seen


def _check_few_rows(engine: Engine, query: CountQuery) -> None:
    """Refuse to count windows together that have too many rows.

    To count so many takes a fraction of what it takes to hold them, or an answer about them.
    """
    about = query.predictions.relation.name
    ((some,),) = engine.rows(query.some_rows(_ROWS_TOGETHER + 1), about=about)
    if some > _ROWS_TOGETHER:
        raise TooMuchError


def distinct(engine: Engine, query: _Query) -> _Query:
    """The query about the first row of each id.

    Ids are only compared one by one if there are fewer of them than rows.
    """
    if all_different(engine, query, seen_ids(engine, query)):
        return query
    return with_repeats(engine, query)


def count_orphans(engine: Engine, query: CountQuery, load_ids: LoadIds) -> dict[int, int]:
    """Rows of labels known in each window whose id is nowhere, by the window's place.

    Where looking means reading, files without any of these numbers in their range are passed over.
    Text is mostly random and in every range; but most predictions of such labels were made not long
    before, so it is looked for in ever longer stretches back in time, and everywhere only at last.
    """
    about = query.predictions.relation.name
    is_held = not query.dialect.has_indexes and engine.keep(
        "pumonitor_unmatched", query.unmatched(), about=query.labels.relation.name
    )
    if is_held:
        query = replace(query, kept=query.kept | {"pumonitor_unmatched"})
        start, end = query.between
        length, reach = end - start, 1
        in_steps = query.key == "text" and query.predictions.time.bounds(start, end) is not None
        while engine.rows(query.unmatched_ids(), about=about)[0][0]:
            if not in_steps or reach > _MOST_LENGTHS:
                break
            stretch = (start - reach * length, end)
            load_ids(stretch)
            engine.keep("pumonitor_unmatched", query.still_unmatched(stretch), about=about)
            start, end, reach = stretch[0], start, 2 * reach
        else:
            return {}
    load_ids(None)
    told = engine.rows(query.orphans(), about=about)
    return {(int(row[0]) if query.by_known else -1): int(row[-1]) for row in told}


def _ask_at_once(
    engine: Engine, query: CountQuery, *, load_ids: LoadIds | None, progress: Progress | None
) -> Answers:
    """By one statement, or one for each part of labels that do not fit one."""
    parts = of_each_part(query)
    answers = (
        _ask_part(
            engine,
            one,
            load_ids=load_ids,
            progress=progress_of_part(progress, place, len(parts)),
        )
        for place, one in enumerate(parts)
    )
    return reduce(partial(added, segments=query.segments), answers)


def _ask_part(
    engine: Engine, query: CountQuery, *, load_ids: LoadIds | None, progress: Progress | None
) -> Answers:
    try:
        answers = ask_apart(engine, query, with_orphans=load_ids is not None, progress=progress)
    except IdsRepeatError:
        query = replace(query, repeats=True)
    else:
        if answers is not None:
            return answers
    if query.windows and query.dialect.answers_by_rows:
        _check_few_rows(engine, query)
    is_alone = load_ids is not None and (
        # Both parts would bind the parameters of the same query, each to another stretch of time.
        bool(query.predictions.relation.parameters) or query.as_of[-1] < query.between[1]
    )
    with_orphans = load_ids is not None and not is_alone
    parts = _parts(engine, query, with_orphans=with_orphans, progress=progress)
    if not query.repeats and sum(parts[3]["n"].tolist()) != sum(parts[0]["n"].tolist()):
        # Labels are about the first row of an id, which all its rows tell.
        query = replace(query, repeats=True)
        parts = _parts(engine, query, with_orphans=with_orphans, progress=progress)
    labels = parts[2]
    refuse_labels(
        engine, query, dict(zip(labels["cell"].tolist(), labels["n"].tolist(), strict=True))
    )
    found = parts[1]
    repeated = zip(
        *(parts[4][name].tolist() for name in ("place", "n", "cell", "history")), strict=True
    )
    if is_alone and load_ids is not None:
        orphans = count_orphans(engine, query, load_ids)
    else:
        told = zip(parts[5]["place"].tolist(), parts[5]["n"].tolist(), strict=True)
        orphans = {(place if query.by_known else -1): number for place, number in told}
    return Answers(
        groups=parts[0],
        found=found | {"moment": found["history"], "bucket": found["cell"], "ids": found["n"]},
        repeats={place: Repeats(*numbers) for place, *numbers in repeated},
        orphans=orphans,
    )


def _parts(
    engine: Engine, query: CountQuery, *, with_orphans: bool, progress: Progress | None
) -> list[dict[str, NDArray[Any]]]:
    """The answer to `CountQuery.everything`, by its parts."""
    columns = engine.columns(
        query.everything(with_orphans=with_orphans),
        about=query.predictions.relation.name,
        progress=progress,
        step=STEP,
    )
    whole = ("part", "place", "cell", "history", "n", *LABEL_TOTALS)
    doubles = ("propensity", "lower_score", "upper_score")
    arrays: dict[str, NDArray[Any]] = {name: numbers_of(columns[name], np.int64) for name in whole}
    arrays |= {name: numbers_of(columns[name], np.float64) for name in doubles}
    arrays |= {
        name: np.asarray(columns[name], dtype=object) for name in ("model_version", *query.segments)
    }
    part = arrays["part"]
    return [{name: values[part == one] for name, values in arrays.items()} for one in range(6)]
