"""How long the auxiliary score takes: to train it anew, and to ask it of windows.

    python -m benchmarks.auxiliary_speed [--rows 100000]

Rows lie in a Parquet file of 20 days; a refresh reads a sample of them, trains five models, and has
every window seen by them. Seconds of the processor, one thread but for the engine's.
"""

from __future__ import annotations

import argparse
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from pumonitor.monitor.ledger.results.auxiliary import TrainingPane
from pumonitor.monitor.windows.auxiliary.training import Training, trained
from pumonitor.ports import SampleRequest, Window
from pumonitor.prior.auxiliary import AuxiliaryScore, raw_columns, train_auxiliary
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

_DAYS = 20
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_PRIOR = 0.05
_FREQUENCY = 0.2
_NUMBERS = 16
_COLUMNS = [*(f"x{place}" for place in range(_NUMBERS)), "shop", "country", "member"]


def _rows(rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    is_positive = rng.random(rows) < _PRIOR
    frame = pd.DataFrame(
        {f"x{place}": rng.normal(0.4 * is_positive * (place < 8)) for place in range(_NUMBERS)}
    )
    shops = np.array([f"shop {place}" for place in range(200)])
    frame["shop"] = shops[np.clip(rng.poisson(60 + 20 * is_positive), 0, 199)]
    frame["country"] = rng.choice(["DE", "FR", "ES", "IT"], rows)
    frame["member"] = rng.random(rows) < 0.3 + 0.2 * is_positive
    seconds = np.sort(rng.uniform(0, _DAYS * 86_400, rows))
    frame["time"] = _FIRST + pd.to_timedelta(seconds, unit="s")
    frame["id"] = np.arange(rows)
    frame["customer"] = rng.integers(0, rows // 3, rows)
    frame["score"] = rng.random(rows)
    confirmed = frame.loc[is_positive & (rng.random(rows) < _FREQUENCY), ["id", "time"]]
    return frame, confirmed.rename(columns={"time": "known"})


def main() -> None:
    """Print a line for each step."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    made, known = _rows(rows)
    is_labeled = made["id"].isin(known["id"]).to_numpy()
    print(f"{rows} rows, {len(known)} confirmed, {len(_COLUMNS)} columns")

    raw = raw_columns(made[_COLUMNS], rows=rows)
    keys = made["customer"].to_numpy()
    begin = process_time()
    score = train_auxiliary(raw, is_labeled, keys)
    print(f"trained in memory          {process_time() - begin:6.2f} s")
    begin = process_time()
    score.of(raw, keys)
    print(f"scored all rows            {process_time() - begin:6.2f} s")
    begin = process_time()
    stored = score.to_bytes()
    AuxiliaryScore.from_bytes(stored)
    print(f"stored and read            {process_time() - begin:6.2f} s, {len(stored) / 1e3:.0f} kB")

    with tempfile.TemporaryDirectory() as folder:
        made.to_parquet(Path(folder) / "made.parquet")
        source = open_source(
            Path(folder) / "made.parquet",
            PredictionColumns(
                id="id", time="time", score="score", features=tuple(_COLUMNS), group="customer"
            ),
            known,
            LabelColumns(id="id", known_at="known"),
        )
        day = timedelta(days=1)
        windows = [
            Window(start=_FIRST + place * day, end=_FIRST + (place + 1) * day, index=place)
            for place in range(_DAYS)
        ]
        of_day = ((made["time"] - _FIRST) // day).to_numpy()
        panes = [
            TrainingPane(
                window=one,
                as_of=one.end,
                rows=int(np.sum(of_day == one.index)),
                confirmed=int(np.sum(is_labeled & (of_day == one.index))),
            )
            for one in windows
        ]
        begin = process_time()
        found = trained(Training(panes), source)
        read = AuxiliaryScore.from_bytes(found.score)
        middle = process_time()
        for one in windows:
            request = SampleRequest(window=one, as_of=(one.end,), rows=20_000, labels=20_000)
            sampled = source.sample(request)
            read.of(sampled.features, sampled.key)
        end = process_time()
        source.close()
    print(f"refresh: sampled, trained  {middle - begin:6.2f} s, AUC {found.facts['auc']}")
    print(f"refresh: {_DAYS} windows seen   {end - middle:6.2f} s")
    print(f"refresh in all             {end - begin:6.2f} s")


if __name__ == "__main__":
    main()
