"""Windows by their four numbers, for tests of the filter."""

from pumonitor.prior.over_time import Level, WindowSummary


def window(rows=1500, confirmed=22, all_mean=1.0, confirmed_mean=8.0, **more):
    return WindowSummary(
        rows=rows,
        confirmed=confirmed,
        all_mean=all_mean,
        all_variance=5 / rows,
        confirmed_mean=confirmed_mean,
        confirmed_variance=50 / max(confirmed, 1),
        **more,
    )


REFERENCE = window(rows=15_000, confirmed=225)
LEVEL = Level.given(0.05, 0.035, 0.07)
