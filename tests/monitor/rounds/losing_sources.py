"""Rounds over days whose source loses rows and whose files come and go, with workers killed.

Before each round something happens to the tables, or is mended; then a worker is killed at a random
commit, and another does the round. After each round nothing may be worse than it was known to be.
At the end all is mended, and the results are those of rounds that nothing happened to.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.doctor import examine
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.monitored_shop import FIRST, write_shop
from tests.monitor.rounds.kill_campaign import KILLED, Campaign

DAYS = 4
MATURITY = timedelta(days=2)
MOMENTS = [FIRST + timedelta(days=day) for day in range(1, DAYS + 5)]
END = FIRST + timedelta(days=30)
RULES = """\
    rules:
      - {metric: labeled_positives, below: 1000, provisional: true, name: few}
      - {metric: recall, below: 0.999, name: recall}
"""
Results = dict[tuple[datetime, str], tuple[Any, ...]]
"""State, moment, value and counts by window and metric."""


def write_files(folder: Path, state: str) -> Path:
    """The shop with a file of predictions and one of confirmations for each day."""
    path = write_shop(
        folder, days=DAYS, state=state, maturity=MATURITY, panes="[0d]", class_prior=0.1
    )
    text = path.read_text().replace("reference:", "# reference:")
    for table, time in (("predictions", "scored_at"), ("confirmations", "confirmed_at")):
        rows = pd.read_parquet(folder / f"{table}.parquet")
        (folder / table).mkdir()
        for day, some in rows.groupby(rows[time].dt.date):
            some.to_parquet(folder / table / f"{day}.parquet")
        text = text.replace(f"{table}.parquet", f"{table}/*.parquet")
    path.write_text(text + RULES)
    return path


@dataclass(kw_only=True)
class Losses:
    """What happens to files, and how it is mended."""

    folder: Path
    chance: random.Random
    whole: dict[Path, bytes] = field(default_factory=dict)

    def happen(self, known: Sequence[datetime], now: datetime) -> str:
        """Something happens to what is known of windows that begin then, or all is mended.

        Labels are only deleted once all looks at all windows have seen them: of those that nobody
        has seen nobody can know.
        """
        if not known or self.chance.random() < 0.3:
            self.mend()
            return "mended"
        table = self.chance.choice(["predictions", "confirmations"])
        day = self.chance.choice(list(known))
        file = self.folder / table / f"{day.date()}.parquet"
        if not file.is_file():
            return "nothing"
        is_seen = table == "predictions" or (not self.whole and now >= day + timedelta(days=3))
        self.whole.setdefault(file, file.read_bytes())
        happens = self.chance.choice(
            [self._cut, self._empty, *([self._delete, self._thin] if is_seen else [])]
        )
        happens(file)
        return f"{happens.__name__.strip('_')} {table}/{file.name}"

    def mend(self) -> None:
        while self.whole:
            file, content = self.whole.popitem()
            file.write_bytes(content)

    def _delete(self, file: Path) -> None:
        file.unlink()

    def _thin(self, file: Path) -> None:
        rows = pd.read_parquet(self._as_before(file))
        rows[rows.prediction_id % 3 > 0].to_parquet(file)

    def _cut(self, file: Path) -> None:
        content = self.whole[file]
        file.write_bytes(content[: len(content) // 2])

    def _empty(self, file: Path) -> None:
        file.write_bytes(b"")

    def _as_before(self, file: Path) -> Path:
        file.write_bytes(self.whole[file])
        return file


def results_of(ledger: Ledger) -> Results:
    """The latest results."""
    return {
        (row.window_start, row.metric): (row.state, row.as_of, row.value, row.n_labeled)
        for row in ledger.results("card-fraud")
    }


def resolved(ledger: Ledger) -> list[str]:
    """Rules whose incidents were resolved."""
    history = [one.transition for one in ledger.alerts.history("card-fraud")]
    return [one.rule for one in history if one.kind == "resolved"]


def worse(before: Results, after: Results) -> Iterator[str]:
    """What of the results is worse than it was known to be."""
    for (start, metric), (_, as_of, value, _) in before.items():
        if metric not in {"predictions", "labeled_positives"}:
            continue
        now = after.get((start, metric))
        least = 0.98 if metric == "predictions" else 0.95
        if now is None:
            yield f"{metric} of {start:%m-%d} is gone"
        elif now[1] < as_of or (now[2] or 0) < least * (value or 0):
            yield f"{metric} of {start:%m-%d} is {now[2]} as of {now[1]}, was {value} as of {as_of}"


def lose(
    campaign: Campaign, new_state: Callable[[], str], *, seed: int, told: Callable[[str], None]
) -> tuple[int, int, list[str]]:
    """Kills, looks that were refused, and what is wrong, of one run of rounds."""
    wrong: list[str] = []
    kills = refusals = 0
    chance = random.Random(seed)  # noqa: S311
    with tempfile.TemporaryDirectory() as calm, tempfile.TemporaryDirectory() as rough:
        expected, path = write_files(Path(calm), new_state()), write_files(Path(rough), new_state())
        losses = Losses(folder=Path(rough), chance=chance)
        best: Results = {}
        for moment in [*MOMENTS, END]:
            is_last = moment == END
            what = "mended" if is_last else losses.happen(sorted({key[0] for key in best}), moment)
            if is_last:
                losses.mend()
            assert campaign.codes(expected, 0, now=moment, once=True)[0][0] == 0
            retry(path)
            ((code, _),) = campaign.codes(path, chance.randint(1, 30), now=moment, once=True)
            kills += code == KILLED
            retry(path)
            assert campaign.codes(path, 0, now=moment, once=True)[0][0] == 0
            with ledger_of(path) as ledger, ledger_of(expected) as undisturbed:
                found, should = results_of(ledger), results_of(undisturbed)
                refused = {look.window.start for look in ledger.refused_looks()}
                told_of = " ".join(
                    one.what
                    for one in examine(read_configuration(path).configuration, now=moment)
                    if one.severity == "error"
                )
                wrong += [f"{moment:%m-%d}, {what}: {one}" for one in worse(best, found)]
                if len(resolved(ledger)) > len(resolved(undisturbed)):
                    wrong.append(f"{moment:%m-%d}, {what}: an alert was resolved")
                behind = {key[0] for key, one in should.items() if found.get(key) != one}
                for start in sorted(refused):
                    if f"window of {start:%Y-%m-%d}" not in told_of:
                        wrong.append(f"{moment:%m-%d}, {what}: {start:%m-%d} is not told")
                if behind and not refused:
                    wrong.append(f"{moment:%m-%d}, {what}: {len(behind)} windows differ, untold")
                if is_last and found != should:
                    wrong.append(f"at the end {len(behind)} windows differ")
            best = found
            refusals += len(refused)
            told(f"{moment:%m-%d}: {what}; {len(refused)} windows wait")
    return kills, refusals, wrong


def retry(path: Path) -> None:
    """End the wait after failures."""
    with ledger_of(path) as ledger:
        keys = [one.window_key for one in ledger.windows("card-fraud")]
        ledger.reopen(keys, which="failed", actor="test")


def ledger_of(path: Path) -> Ledger:
    return open_ledger(read_configuration(path).configuration)
