"""Four predictions and three labels, any column of which a test replaces by something bad."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from pumonitor.errors import InputError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
NOW = START + 20 * DAY
PREDICTIONS = PredictionColumns(id="id", time="made", score="score")
LABELS = LabelColumns(id="id", known_at="known", label="label", propensity="rate")


def request(start=START, end=START + DAY):
    return CountRequest(
        window=Window(start=start, end=end, index=0), as_of=(end, end + 9 * DAY), threshold=0.5
    )


def made(**columns):
    given = {
        "id": [1, 2, 3, 4],
        "made": [START + timedelta(hours=hour) for hour in (1, 2, 3, 4)],
        "score": [0.9, 0.8, 0.2, 0.1],
    }
    return pd.DataFrame(given | columns)


def known(**columns):
    given = {
        "id": [1, 2, 3],
        "known": [START + 2 * DAY] * 3,
        "label": [1, 1, -1],
        "rate": [0.5, 0.5, None],
    }
    return pd.DataFrame(given | columns)


def csv(folder, frame, name):
    frame.to_csv(folder / name, index=False)
    return folder / name


def opened(predictions, positives, prediction_columns=PREDICTIONS, label_columns=LABELS, **options):
    return closing(
        open_source(
            predictions, prediction_columns, positives, label_columns, clock=lambda: NOW, **options
        )
    )


def counts(predictions, positives, *columns, **options):
    with opened(predictions, positives, *columns, **options) as source:
        return source.counts(request())


def described(predictions, positives, *columns, **options):
    with opened(predictions, positives, *columns, **options) as source:
        return source.describe()


def message_of(work, *arguments, **options):
    """The one line that is said."""
    with pytest.raises(InputError) as caught:
        work(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
