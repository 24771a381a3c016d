"""From a window's statements to its counts: what is asked in which order, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pumonitor.errors import InputError, PumonitorError
from pumonitor.ports import InputCounts, Progress, WindowCounts
from pumonitor.sources.windows.answers import WindowAnswers, numbers_of, texts_of
from pumonitor.sources.windows.asking import LoadIds, TooMuchError, ask
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_query import LABEL_TOTALS, MOST_GROUPS, CountQuery
from pumonitor.sources.windows.refusing import check_groups, unusable_window
from pumonitor.sources.windows.several import UNREAD

__all__ = ["CountAloneError", "count_window", "count_windows"]


class CountAloneError(Exception):
    """Each of these windows must be counted by itself."""


def count_window(
    engine: Engine,
    query: CountQuery,
    *,
    load_ids: LoadIds | None,
    progress: Progress | None = None,
) -> WindowCounts:
    """Count one window.

    Parameters
    ----------
    engine : Engine
        Within a snapshot.
    query : CountQuery
    load_ids : callable or None
        Gets ids of predictions ready, of a stretch of time or all; None if labels without
        prediction are not counted.
    progress : callable, optional

    Raises
    ------
    InputError
        If rows cannot be used.
    """
    answers = ask(engine, query, load_ids=load_ids, progress=progress)
    return window_counts(engine, query, answers.by_window(1)[0])


def count_windows(
    engine: Engine, query: CountQuery, *, load_ids: LoadIds | None
) -> list[WindowCounts | PumonitorError]:
    """Count several windows at once; in place of those with rows that cannot be used, why.

    Raises
    ------
    TooMuchError
        If fewer must be counted at once.
    CountAloneError
        If there are rows that may be of any window, or labels that cannot be used.
    """
    try:
        answers = ask(engine, query, load_ids=load_ids)
    except InputError as error:
        raise CountAloneError from error
    if len(answers.groups["n"]) > MOST_GROUPS:
        raise TooMuchError
    if np.any(answers.groups["place"] == UNREAD):
        raise CountAloneError
    counted: list[WindowCounts | PumonitorError] = []
    for place, own in enumerate(answers.by_window(len(query.windows))):
        try:
            counted.append(window_counts(engine, query.alone(place), own))
        except PumonitorError as error:
            counted.append(error)
    return counted


def window_counts(engine: Engine, query: CountQuery, answers: WindowAnswers) -> WindowCounts:
    """What the answers about one window say.

    Raises
    ------
    InputError
        If rows cannot be used, or there are too many groups or segments.
    """
    if answers.repeats.problem:
        raise unusable_window(engine, query)
    groups, found = answers.groups, answers.found
    check_groups(engine, query, groups)
    version = texts_of(groups["model_version"])
    segments = [texts_of(groups[name]) for name in query.segments]
    cell = numbers_of(groups["cell"], np.int64)
    # Windows counted beside it may have had more moments; their digits come last.
    history = numbers_of(groups["history"], np.int64)
    history = history % query.labels.states.histories(len(query.as_of))
    propensity = numbers_of(groups["propensity"], np.float64)
    rows = numbers_of(groups["n"], np.int64)
    # Sorted here, since engines order text by languages of their own.
    order = np.lexsort([propensity, history, cell, *segments[::-1], version])
    columns, value = query.predictions.segments, query.predictions.value
    sums = {name: int(found[name].sum()) for name in LABEL_TOTALS}
    return WindowCounts(
        model_version=version[order],
        segments={
            column.name: values[order] for column, values in zip(columns, segments, strict=True)
        },
        cell=cell[order],
        # Adding 0 makes -0.0 plain: engines differ in which of the two is the least.
        lower=numbers_of(groups["lower_score"], np.float64)[order] + 0.0,
        upper=numbers_of(groups["upper_score"], np.float64)[order] + 0.0,
        history=history[order],
        propensity=propensity[order],
        rows=rows[order],
        delays=_delays(query, found),
        value=None if value is None else value.name,
        found=InputCounts(
            predictions=int(rows.sum()),
            duplicate_predictions=answers.repeats.same,
            conflicting_predictions=answers.repeats.other,
            label_rows=sums["label_rows"],
            duplicate_labels=sums["duplicates"],
            conflicting_labels=sums["conflicts"],
            retracted_labels=sums["retractions"],
            early_labels=sums["early"],
            refused_labels=sums["refused"],
            orphan_labels=answers.orphans,
        ),
    )


def _delays(query: CountQuery, found: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    counted = np.zeros((len(query.as_of), len(query.delay_edges) + 1), dtype=np.int64)
    if query.labels.known_at is not None:
        first = found["moment"] >= 0
        places = found["moment"][first], found["bucket"][first]
        np.add.at(counted, places, found["ids"][first])
    return counted
