"""Labels that became known before 1970 say what those of other years do."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

DAY = timedelta(days=1)


def counted(start: datetime, *, repeated: bool) -> tuple[list[object], ...]:
    """Rows of one day by cell and history: confirmed, retracted, and confirmed again."""
    minutes = np.arange(60)
    made = [start + timedelta(minutes=int(one)) for one in minutes]
    said = [(one, 1, 1) for one in range(0, 60, 3)]
    if repeated:
        said += [(one, -1, 2) for one in range(0, 60, 6)] + [
            (one, 1, 3) for one in range(0, 60, 12)
        ]
    source = open_source(
        pd.DataFrame({"id": minutes, "t": made, "score": minutes / 60}),
        PredictionColumns(id="id", time="t", score="score"),
        pd.DataFrame(
            {
                "id": [one for one, _, _ in said],
                "known": [start + day * DAY + timedelta(microseconds=one) for one, _, day in said],
                "label": [label for _, label, _ in said],
            }
        ),
        LabelColumns(id="id", known_at="known", label="label"),
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    )
    request = CountRequest(
        window=Window(start=start, end=start + DAY, index=0),
        as_of=tuple(start + day * DAY + timedelta(hours=1) for day in (1, 2, 3)),
        threshold=0.5,
        delay_edges=(),
    )
    with closing(source):
        counts = source.counts(request)
    return counts.cell.tolist(), counts.history.tolist(), counts.rows.tolist()


@pytest.mark.parametrize("repeated", [False, True])
def test_they_are_read_alike(repeated):
    later = counted(datetime(1999, 6, 1, tzinfo=UTC), repeated=repeated)
    assert len(set(later[1])) == (4 if repeated else 2)
    assert counted(datetime(1959, 6, 1, tzinfo=UTC), repeated=repeated) == later
