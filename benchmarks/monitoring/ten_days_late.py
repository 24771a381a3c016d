"""Nothing degrades, reports come ten days late: `python -m benchmarks.monitoring.ten_days_late`.

120 days of 1500 predictions, a tenth of them positive, of which 60% get confirmed an exponential
time later, ten days on average. The model never changes. A monitor with daily windows and a
maturity of 45 days looks at each when it ends and 5, 10, 20, 30 and 45 days later, in a real
ledger. On the last day:

- the standard tool, scikit-learn's `f1_score` with whatever is not confirmed yet as negative, falls
  about tenfold towards the newest days;
- the estimated F1 stays level, and its intervals hold the truth at every age;
- what a provisional window is expected to become (`*_expected`) is compared with what it became.

The first seed watches all days and is drawn with `--picture FILE`; the others, for the tables,
every third.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.metrics import f1_score

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.report import palette
from pumonitor.report.theme import themed, to_png

if TYPE_CHECKING:
    from pumonitor.report.theme import Chart

__all__ = ["Design", "Late", "Look", "monitored", "standard_f1", "true_f1", "write"]

FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)
CLASS_PRIOR, CONFIRMED = 0.1, 0.6
SHIFT, CUT = 2.0, 1.5
"""Log-odds of positives are N(SHIFT, 1) about those of negatives; positive from CUT on."""

OLDER_THAN: Final = (0, 1, 5, 10, 20, 30, 45)
"""Ages in days at which the groups of the first table begin."""

SHOWN: Final = ("f1", "recall", "precision", "class_prior", "aul", "auc", "f1_pu", "auc_pu")
MONITOR: Final = "late"
CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  {monitor}:
    predictions: {{source: predictions.parquet, id: id, time: scored_at, score: score}}
    positives: {{source: confirmations.parquet, id: id, known_at: confirmed_at}}
    window: 1d
    maturity: {maturity}d
    panes: [{panes}]
    threshold: 0.5
    class_prior: auto
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How much of everything; times in days.

    Every so many days' predictions are one window of the monitor, the last day among them.
    """

    days: int = 120
    every: int = 1
    rows: int = 1500
    delay: float = 10.0
    maturity: int = 45
    ages: tuple[int, ...] = (0, 5, 10, 20, 30)

    @property
    def now(self) -> datetime:
        """The end of the last day."""
        return FIRST + timedelta(days=self.days)

    @property
    def watched(self) -> range:
        """The days that are windows."""
        return range((self.days - 1) % self.every, self.days, self.every)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at one day.

    Attributes
    ----------
    day, age : int
        Which day, from 0, and how many days after its end it is looked at.
    state : str
    numbers : mapping of str to (value, low, high)
        Results that have a value.
    """

    day: int
    age: int
    state: str
    numbers: Mapping[str, tuple[float, float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """What came of one seed.

    Attributes
    ----------
    rows : DataFrame
        The predictions with the truth: day, score, is_positive, confirmed_at (NaT if never).
    looks : list of Look
        By day and age.
    """

    design: Design
    rows: pd.DataFrame
    looks: list[Look]

    @property
    def newest(self) -> dict[int, Look]:
        """The last look at each day."""
        return {look.day: look for look in self.looks}


def true_f1() -> float:
    """F1 of the process that all days are drawn from."""
    recall, fpr = stats.norm.sf(CUT - SHIFT), stats.norm.sf(CUT)
    flagged = CLASS_PRIOR * recall + (1 - CLASS_PRIOR) * fpr
    return float(2 * CLASS_PRIOR * recall / (CLASS_PRIOR + flagged))


def write(folder: Path, design: Design, *, seed: int) -> tuple[Path, pd.DataFrame]:
    """Predictions, confirmations and a configuration; the rows with their truth."""
    rng = np.random.default_rng(seed)
    total = design.days * design.rows
    is_positive = rng.random(total) < CLASS_PRIOR
    log_odds = rng.normal(SHIFT * is_positive - CUT)
    moments = np.sort(rng.uniform(0, design.days * 86_400, total))
    scored_at = pd.Series(FIRST + pd.to_timedelta(moments, unit="s"))
    late = pd.to_timedelta(rng.exponential(design.delay * 86_400, total), unit="s")
    rows = pd.DataFrame(
        {
            "id": np.arange(total),
            "scored_at": scored_at,
            "day": (moments // 86_400).astype(int),
            "score": 1 / (1 + np.exp(-log_odds)),
            "is_positive": is_positive,
            "confirmed_at": (scored_at + late).where(is_positive & (rng.random(total) < CONFIRMED)),
        }
    )
    rows[["id", "scored_at", "score"]].to_parquet(folder / "predictions.parquet")
    rows[["id", "confirmed_at"]].dropna().to_parquet(folder / "confirmations.parquet")
    path = folder / "pumonitor.yaml"
    path.write_text(
        CONFIGURATION.format(
            monitor=MONITOR,
            maturity=design.maturity,
            panes=", ".join(f"{age}d" for age in design.ages),
        )
    )
    return path, rows


def monitored(folder: Path, design: Design, *, seed: int) -> Late:
    """All looks until the end of the last day, through files and ledger."""
    path, rows = write(folder, design, seed=seed)
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: design.now, deliver=False) as jobs:
        for day in design.watched:
            start = FIRST + timedelta(days=day)
            jobs.plan(MONITOR, start=start, end=start + timedelta(days=1))
        done = jobs.drain()
        if done.failures:
            sys.exit("; ".join(done.failures))
        results = jobs.ledger.results(MONITOR, revisions="all")
    return Late(design=design, rows=rows, looks=_looks(results))


def standard_f1(rows: pd.DataFrame, *, as_of: datetime) -> float:
    """What scikit-learn says when those not confirmed by then are taken for negatives."""
    return float(f1_score(rows["confirmed_at"] <= as_of, rows["score"] >= 0.5))


def _looks(results: Iterable[PublishedResult]) -> list[Look]:
    by_look: dict[tuple[datetime, int], list[PublishedResult]] = defaultdict(list)
    for row in results:
        by_look[row.window_start, row.revision].append(row)
    return [
        Look(
            day=(start - FIRST).days,
            age=(rows[0].as_of - rows[0].window_end).days,
            state=rows[0].state,
            numbers={
                row.metric: (row.value, row.low, row.high)
                for row in rows
                if row.value is not None and row.low is not None and row.high is not None
            },
        )
        for (start, _), rows in sorted(by_look.items())
    ]


# -- tables ---------------------------------------------------------------------------------------


def on_the_last_day(late: Late) -> pd.DataFrame:
    """Each day as it is known at the end of the last one."""
    now, truth = late.design.now, true_f1()
    found = []
    newest = late.newest
    for day in late.design.watched:
        of_day, look = late.rows[late.rows["day"] == day], newest[day]
        value, low, high = look.numbers.get("f1", (np.nan,) * 3)
        found.append(
            {
                "day": day,
                "age": late.design.days - 1 - day,
                "looked_at": look.age,
                "labels": int((of_day["confirmed_at"] <= now).sum()),
                "to_come": int((of_day["confirmed_at"] > now).sum()),
                "of_the_day": float(f1_score(of_day["is_positive"], of_day["score"] >= 0.5)),
                "standard": standard_f1(of_day, as_of=now),
                "f1": value,
                "low": low,
                "high": high,
                "holds": bool(low <= truth <= high),
            }
        )
    return pd.DataFrame(found)


def _print_by_age(days: pd.DataFrame) -> None:
    """By age of the window on the last day; means over its days and all seeds."""
    print("\nAs known on the last day, by age of the window in days (means)")
    print(
        "     age  windows  labels  known   standard F1   estimated F1       interval  holds truth"
    )
    for begin, end in itertools.pairwise((*OLDER_THAN, 10**6)):
        some = days[(days["age"] >= begin) & (days["age"] < end)]
        if some.empty:
            continue
        known = some["labels"].sum() / (some["labels"] + some["to_come"]).sum()
        ages = f"{begin}+" if end == 10**6 else f"{begin}-{end - 1}" if end > begin + 1 else "0"
        print(
            f"{ages:>8s} {len(some):8d} {some['labels'].mean():7.1f} {known:6.0%} "
            f"{some['standard'].mean():13.3f} {some['f1'].mean():14.3f}   "
            f"[{some['low'].mean():.3f}, {some['high'].mean():.3f}] {some['holds'].mean():12.1%}"
        )


def _print_level(days: pd.DataFrame, maturity: int) -> None:
    """Slope and spread of mature windows beside those of the F1 that their rows really have."""
    mature = days[days["age"] >= maturity]
    print(
        f"\nMature windows, true F1 {true_f1():.3f}: mean, spread, slope a month (standard error)"
    )
    for name, column in (
        ("true, of the day's rows", "of_the_day"),
        ("estimated", "f1"),
        ("standard tool", "standard"),
    ):
        lines = [stats.linregress(one["day"], one[column]) for _, one in mature.groupby("seed")]
        slopes = 30 * np.array([line.slope for line in lines])
        error = (
            np.std(slopes, ddof=1) / np.sqrt(len(slopes))
            if len(slopes) > 1
            else 30 * lines[0].stderr
        )
        print(
            f"{name:24s} {mature[column].mean():.3f}  "
            f"{mature.groupby('seed')[column].std().mean():.3f}  "
            f"{slopes.mean():+.4f} ({error:.4f})"
        )


def expectations(late: Late) -> list[tuple[int, str, bool, float]]:
    """Age, metric, whether the interval holds what the window became, and its width."""
    became = {look.day: look.numbers for look in late.looks if look.state == "mature"}
    found = []
    for look in late.looks:
        if look.state != "provisional" or look.day not in became:
            continue
        for name, (_, low, high) in look.numbers.items():
            metric = name.removesuffix("_expected")
            if name.endswith("_expected") and metric in became[look.day]:
                value = became[look.day][metric][0]
                held = low - 1e-9 <= value <= high + 1e-9
                found.append((look.age, metric, held, high - low))
    return found


def _print_expectations(found: Sequence[tuple[int, str, bool, float]]) -> None:
    told = pd.DataFrame(found, columns=["age", "metric", "held", "width"])
    held = told.pivot_table(index="metric", columns="age", values="held", aggfunc="mean")
    width = told.pivot_table(index="metric", columns="age", values="width", aggfunc="median")
    count = told.pivot_table(index="metric", columns="age", values="held", aggfunc="size")
    ages = list(held.columns)
    print("\nWhat windows were expected to become: coverage (median width) by age in days")
    print(f"{'':28s}" + "".join(f"{age:>15d}" for age in ages))
    print(f"{'windows':28s}" + "".join(f"{int(count[age].max()):15d}" for age in ages))
    for metric in held.index:
        cells = (f"{held.loc[metric, age]:.3f} ({width.loc[metric, age]:.3f})" for age in ages)
        print(f"{metric:28s}" + "".join(f"{cell:>15s}" for cell in cells))


# -- picture --------------------------------------------------------------------------------------


def picture(days: pd.DataFrame, design: Design) -> Chart:
    """F1 of each day as known on the last one: estimated, by the standard tool, and in truth."""
    import altair as alt

    truth, last = true_f1(), design.days
    x = alt.X(
        "day:Q",
        title="Day of the predictions",
        scale=alt.Scale(domain=[-1, last + 12], nice=False),
        axis=alt.Axis(values=list(range(0, last + 1, 20)), grid=False),
    )

    def height(field: str) -> alt.Y:
        scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(title="F1", tickCount=5)
        return alt.Y(f"{field}:Q", scale=scale, axis=axis)

    numbers = days[["day", "f1", "low", "high", "standard"]].round(4)
    records = cast("list[dict[str, Any]]", numbers.to_dict(orient="records"))
    base = alt.Chart(alt.InlineData(values=records)).encode(x=x)

    def written(at: float, value: float, said: str, color: str, **where: Any) -> alt.Chart:
        chart = alt.Chart(alt.InlineData(values=[{"day": at, "value": value, "said": said}]))
        text = chart.mark_text(color=color, fontSize=13, align="left", **where)
        return cast("alt.Chart", text.encode(x="day:Q", y=height("value"), text="said:N"))

    arriving = last - design.maturity
    since = (
        alt.Chart(alt.InlineData(values=[{"begin": arriving, "end": last + 1}]))
        .mark_rect(color=palette.GRID, opacity=0.45)
        .encode(x="begin:Q", x2="end:Q")
    )
    line = (
        alt.Chart(alt.InlineData(values=[{"value": truth}]))
        .mark_rule(color=palette.INK, strokeDash=[5, 4], strokeWidth=1.5)
        .encode(y=height("value"))
    )
    ranges = base.mark_rule(color=palette.CORRECTED, opacity=0.35, strokeWidth=3).encode(
        y=height("low"), y2="high:Q"
    )
    points = base.mark_circle(color=palette.CORRECTED, size=22, opacity=1).encode(y=height("f1"))
    naive = base.mark_line(color=palette.UNCORRECTED, strokeWidth=2.5).encode(y=height("standard"))
    mature = days[days["age"] >= design.maturity]
    texts = [
        written(1, 0.97, "Estimated F1 with 95% intervals", palette.CORRECTED),
        written(
            1,
            float(mature["standard"].mean()) - 0.13,
            "Standard tool: not reported yet = negative",
            palette.UNCORRECTED,
        ),
        written(last + 2, truth + 0.02, "True F1", palette.INK, baseline="bottom"),
        written(arriving + 1, 0.03, "Reports are still arriving", palette.MUTED),
    ]
    chart = alt.layer(since, ranges, points, naive, line, *texts).properties(
        width=760,
        height=360,
        title=alt.TitleParams(
            "Nothing has degraded. Reports come ten days late.",
            subtitle=f"F1 of each day's predictions, as known on day {last}",
        ),
    )
    return themed(cast("alt.LayerChart", chart))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--days", type=int, default=Design().days)
    parser.add_argument("--every", type=int, default=3, help="days from window to window")
    parser.add_argument("--rows", type=int, default=Design().rows, help="predictions a day")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="a PNG of the first seed")
    parser.add_argument("--folder", type=Path, help="where files and ledgers stay")
    options = parser.parse_args()
    tables: list[pd.DataFrame] = []
    expected: list[tuple[int, str, bool, float]] = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        design = Design(days=options.days, rows=options.rows, every=options.every if tables else 1)
        with tempfile.TemporaryDirectory() as temporary:
            folder = (options.folder or Path(temporary)) / f"seed-{seed}"
            folder.mkdir(parents=True, exist_ok=True)
            late = monitored(folder, design, seed=seed)
        tables.append(on_the_last_day(late).assign(seed=seed))
        expected += expectations(late)
        if options.picture is not None and len(tables) == 1:
            options.picture.write_bytes(to_png(picture(tables[0], design)))
        print(f"seed {seed}: {len(late.looks)} looks", file=sys.stderr, flush=True)
    days = pd.concat(tables)
    _print_by_age(days)
    _print_level(days, Design().maturity)
    _print_expectations(expected)


if __name__ == "__main__":
    main()
