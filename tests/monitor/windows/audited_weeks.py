"""A monitor of weekly windows whose truth is known, and audits of some of its weeks by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import insert

from pumonitor.audit.bins import score_bins
from pumonitor.monitor.ledger.database.schema import review_audits, review_cases, review_verdicts
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.results.planning import evaluate_again
from pumonitor.tables import ScoreTable

FIRST = datetime(2026, 1, 5, tzinfo=UTC)
WEEK = timedelta(days=7)
MATURITY = timedelta(days=14)
THRESHOLD = 0.5

CONFIGURATION = """\
state: sqlite:///{state}
monitors:
  weekly:
    predictions: {{source: predictions.parquet, id: id, time: at, score: score{segments}}}
    positives: {{source: confirmations.parquet, id: id, known_at: known}}
    window: 7d
    maturity: 14d
    panes: {panes}
    threshold: 0.5
{more}    reference: {{start: 2026-01-05, end: {reference_end}}}
{rules}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weeks:
    """Rows with their truth, and the configuration that monitors them.

    Attributes
    ----------
    path : Path
        The configuration.
    week : ndarray
        Of each row.
    scores, positive, confirmed : ndarray
        Confirmations are those within maturity.
    country : ndarray
        The segment of each row.
    """

    path: Path
    week: np.ndarray
    scores: np.ndarray
    positive: np.ndarray
    confirmed: np.ndarray
    country: np.ndarray

    def f1(self, week: int, country: str = "") -> float:
        own = self._own(week, country)
        above, positive = self.scores[own] >= THRESHOLD, self.positive[own]
        return float(2 * (above & positive).sum() / (above.sum() + positive.sum()))

    def class_prior(self, week: int, country: str = "") -> float:
        return float(self.positive[self._own(week, country)].mean())

    def _own(self, week: int, country: str) -> np.ndarray:
        return (self.week == week) & ((self.country == country) | (not country))


def write_weeks(
    folder: Path,
    *,
    weeks: int = 10,
    rows: int = 4000,
    prior: float = 0.06,
    jumps: float = 1.0,
    jumps_in: int = 0,
    favoured: float = 1.0,
    reference: int = 4,
    panes: str = "[]",
    state: str = "state.db",
    more: str = "",
    rules: str = "",
    segments: str = "",
    more_in_germany: float = 1.0,
    seed: int = 0,
) -> Weeks:
    """Weeks in which 30% of the positives get confirmed; from one on positives are more.

    `favoured`: how many times as often positives of high scores are confirmed as those of low ones.
    `more_in_germany`: by what the class prior of that segment is multiplied.
    """
    rng = np.random.default_rng(seed)
    week = np.repeat(np.arange(weeks), rows)
    country = np.random.default_rng([seed, 1]).choice(["DE", "FR"], weeks * rows)
    prior = prior * np.where(country == "DE", more_in_germany, 1.0)
    positive = rng.random(weeks * rows) < prior * np.where(week >= jumps_in, jumps, 1.0)
    scores = np.round(1 / (1 + np.exp(2 - rng.normal(2.2 * positive))), 4)
    chance = favoured**scores
    chance = 0.3 * chance / chance[positive].mean()
    confirmed = positive & (rng.random(weeks * rows) < chance)
    at = pd.Timestamp(FIRST) + pd.to_timedelta(
        7 * 86_400 * (week + np.sort(rng.random((weeks, rows)), axis=1).ravel()), unit="s"
    )
    ids = np.arange(weeks * rows)
    pd.DataFrame({"id": ids, "at": at, "score": scores, "country": country}).to_parquet(
        folder / "predictions.parquet"
    )
    delay = pd.to_timedelta(rng.uniform(0, 6, confirmed.sum()), unit="D")
    pd.DataFrame({"id": ids[confirmed], "known": at[confirmed] + delay}).to_parquet(
        folder / "confirmations.parquet"
    )
    path = folder / f"{Path(state).stem}.yaml"
    path.write_text(
        CONFIGURATION.format(
            state=state,
            panes=panes,
            more=more,
            rules=rules,
            segments=segments,
            reference_end=(FIRST + reference * WEEK).date(),
        ),
        encoding="utf-8",
    )
    return Weeks(
        path=path,
        week=week,
        scores=scores,
        positive=positive,
        confirmed=confirmed,
        country=country,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """An audit that was put into the state database, and the truth about its cases."""

    name: str
    truth: tuple[int, ...]


def draw(
    ledger: Ledger,
    truth: Weeks,
    name: str,
    *,
    weeks: tuple[int, ...],
    cases: int = 240,
    fair: str = "check",
    with_segments: bool = False,
    seed: int = 1,
) -> Drawn:
    """Cases spread evenly over the bins of some weeks."""
    rng = np.random.default_rng(seed)
    own = np.isin(truth.week, weeks)
    table = ScoreTable.from_arrays(truth.confirmed[own], truth.scores[own], thresholds=[THRESHOLD])
    bins = score_bins(table, threshold=THRESHOLD)
    place = bins.bin_of(truth.scores)
    chosen = []
    for at in range(len(bins.rows)):
        there = np.flatnonzero(own & (place == at) & ~truth.confirmed)
        chosen += [
            (at, row)
            for row in rng.choice(there, min(cases // len(bins.rows), len(there)), replace=False)
        ]
    chosen = [chosen[one] for one in rng.permutation(len(chosen))]
    start = {week: FIRST + week * WEEK for week in weeks}

    def by_bin(which: np.ndarray) -> list[int]:
        return np.bincount(place[which], minlength=len(bins.rows)).tolist()

    windows = [
        {
            "start": start[week].isoformat(),
            "end": (start[week] + WEEK).isoformat(),
            "as_of": (start[week] + WEEK + MATURITY).isoformat(),
            "rows": by_bin(truth.week == week),
            "labeled": by_bin((truth.week == week) & truth.confirmed),
        }
        for week in weeks
    ]
    drawn_at = start[weeks[-1]] + WEEK + MATURITY
    with ledger.database.writing() as connection:
        connection.execute(
            insert(review_audits).values(
                audit=name,
                monitor="weekly",
                configuration=ledger.configuration("weekly"),
                model_version="",
                window_start=start[weeks[0]],
                window_end=start[weeks[-1]] + WEEK,
                as_of=drawn_at,
                drawn_at=drawn_at,
                actor="somebody",
                threshold=THRESHOLD,
                fair=fair,
                seed="secret",
                edges=bins.edges.tolist(),
                rows=bins.rows.tolist(),
                labeled=bins.labeled.tolist(),
                planned=np.bincount([at for at, _ in chosen], minlength=len(bins.rows)).tolist(),
                windows=windows,
            )
        )
        connection.execute(
            insert(review_cases),
            [
                {
                    "audit": name,
                    "number": number,
                    "keyed": f"{name} {row}",
                    "id": str(row),
                    "bin": at,
                    "inclusion": 0.1,
                    "kind": "case",
                    "window_start": start[int(truth.week[row])],
                    "segments": [f"country={truth.country[row]}"] if with_segments else None,
                }
                for number, (at, row) in enumerate(chosen, start=1)
            ],
        )
    return Drawn(name=name, truth=tuple(int(truth.positive[row]) for _, row in chosen))


def review(ledger: Ledger, drawn: Drawn, *, since: float = 0.0, until: float = 1.0) -> None:
    """Give verdicts on a stretch of the cases, and make windows due again."""
    first, last = (round(end * len(drawn.truth)) for end in (since, until))
    at = FIRST + 60 * WEEK
    with ledger.database.writing() as connection:
        said = [
            {
                "audit": drawn.name,
                "number": number,
                "verdict": drawn.truth[number - 1],
                "reviewer": "",
                "at": at,
                "read_at": at,
            }
            for number in range(first + 1, last + 1)
        ]
        if said:
            connection.execute(insert(review_verdicts), said)
        configuration = ledger.configuration("weekly")
        assert configuration is not None
        evaluate_again(connection, monitor="weekly", configuration=configuration)
