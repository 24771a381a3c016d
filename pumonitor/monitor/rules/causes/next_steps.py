"""What to do about an alert, by its cause: look, mend, retrain, roll back, recalibrate, audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pumonitor.monitor.rules.causes.steps import Step, Steps

__all__ = ["STEPS", "Step", "Steps", "next_steps"]


_LOOK: Final = Step(
    "Look at what changed when it began.",
    "A new model version, a feature that is missing or has another unit, another source of "
    "predictions. The monitor's page marks new versions; segments, and rules on volume and score "
    "range, tell where it is.",
)
_ASK: Final = Step(
    "Ask those who confirm cases.",
    "Fewer reviewers, a backlog, a lost source of labels, another choice of cases for review.",
)
_LEAVE: Final = Step(
    "Leave the model and the threshold as they are.",
    "Neither retraining nor the version before brings confirmations back.",
)
_NEW_THRESHOLD: Final = Step(
    "Choose the threshold anew if the workload or the money no longer fit.",
    "Precision and the number of reviews follow the share of positives although the model has not "
    "changed. The page Decide says what each threshold brings, from a window after the change.",
)

STEPS: Final[Mapping[str, Steps]] = {
    "ranking": Steps(
        "The model ranks worse",
        (
            _LOOK,
            Step("Mend a broken input.", "If there is one, the model needs no training."),
            Step(
                "Roll back to the version before, if it began with a new version.",
                "pumonitor compare tells, on the same rows, whether the version before ranks "
                "better by more than chance.",
            ),
            Step(
                "Retrain if neither explains it and the next mature window is as bad.",
                "Use confirmations from after the change. Before the new model goes live, compare "
                "it with the present one on the same rows.",
            ),
            Step(
                "Let an audit decide if confirmations may have changed instead.",
                "Other cases being confirmed look like a worse ranking.",
                asks_an_audit=True,
            ),
            Step("Do not move the threshold for it.", "No threshold gives a lost ranking back."),
        ),
    ),
    "better_ranking": Steps(
        "The model ranks better",
        (
            _LOOK,
            Step(
                "Make sure that no feature tells the confirmation itself.",
                "Such a model ranks well in these numbers and not in use.",
            ),
            Step(
                "Move the reference to after the change if it lasts.",
                "Otherwise a later fall, back to the old level, fires nothing.",
            ),
        ),
    ),
    "score_scale": Steps(
        "Scores are on another scale",
        (
            _LOOK,
            Step(
                "Mend it, or roll back to the version before, if nobody meant scores to change.",
                "Then the present threshold is right again.",
            ),
            Step(
                "Recalibrate the threshold if they were meant to change.",
                "Choose it on the page Decide, from a window after the change. Set it where the "
                "model is used and as the monitor's threshold.",
            ),
            Step(
                "Do not retrain for it.",
                "The order of the cases shows no change, so an audit is not needed either.",
            ),
        ),
    ),
    "class_prior": Steps(
        "There are fewer or more positives",
        (
            Step(
                "Look for a reason in the world.",
                "A season, a campaign, other customers, a wave of fraud. Keep it as a note of the "
                "monitor.",
            ),
            Step(
                "Let an audit decide if there is no reason.",
                "A smaller or larger share of positives being confirmed can look the same.",
                asks_an_audit=True,
            ),
            _NEW_THRESHOLD,
            Step(
                "Neither retrain nor roll back for it alone.",
                "While the model ranks as before, the same model is right for the new share.",
            ),
        ),
    ),
    "confirmed_share": Steps(
        "Another share of the positives gets confirmed",
        (
            _ASK,
            Step(
                "Look for labels that are lost on the way.",
                "A rule on unmatched_labels counts those that belong to no prediction.",
            ),
            Step(
                "Let an audit decide if nobody knows a reason.",
                "It tells the share of positives without any confirmation.",
                asks_an_audit=True,
            ),
            _LEAVE,
        ),
    ),
    "label_delay": Steps(
        "Confirmations arrive later or sooner",
        (
            _ASK,
            Step(
                "Wait for the labels before you judge the model.",
                "Until they are here, windows have too few of them.",
            ),
            Step(
                "Set a longer maturity if it lasts.",
                "pumonitor check shows how long labels take now.",
            ),
            _LEAVE,
        ),
    ),
    "ranking or labeling": Steps(
        "The model ranks otherwise, or other positives get confirmed",
        (
            _LOOK,
            _ASK,
            Step(
                "Let an audit decide which of the two it is.",
                "Cases drawn at random do not depend on who gets confirmed.",
            ),
            Step(
                "Retrain only if the audit says that the model ranks worse.",
                "Trained on changed confirmations, a model learns the reviewers' change.",
            ),
            Step(
                "Roll back if it began with a new version and the audit says so.",
                "A version that also chooses the cases for review changes confirmations by itself.",
            ),
        ),
    ),
    "labeling": Steps(
        "Other positives get confirmed",
        (_ASK, _LEAVE),
    ),
    "traffic": Steps(
        "The mix of the traffic has changed",
        (
            Step(
                "Look at the segments, and whether the new mix is meant.",
                "A caller that is lost or sends rows twice has to be mended at its source.",
            ),
            _NEW_THRESHOLD,
            Step(
                "Retrain only if a segment that grew ranks badly by itself.",
                "A rule per segment judges each of them.",
            ),
        ),
    ),
    "none": Steps(
        "No change is needed to explain it",
        (
            Step("Wait for the next window.", "Windows differ as much as this by themselves."),
            Step(
                "Try a milder rule on the history if it fires again.",
                "pumonitor alerts simulate tells what another limit, two bad windows in a row or "
                "a shift would have fired.",
            ),
        ),
    ),
    "unclear": Steps(
        "The cause is not known",
        (
            _LOOK,
            Step(
                "Mend or roll back what changed at that time, if something did.",
                "It is the quickest test of the cause: the next windows show it.",
            ),
            Step(
                "Otherwise let an audit decide between the causes.",
                "Where it can, the message says how many cases that takes.",
                asks_an_audit=True,
            ),
            Step(
                "Wait with retraining and with a new threshold until the cause is known.",
                "Later windows add to the evidence.",
            ),
        ),
    ),
    "health:no_data": Steps(
        "No predictions",
        (
            Step(
                "Look whether the model was asked, and whether its predictions were written.",
                "pumonitor check connects to the table and shows the newest prediction.",
            ),
            Step(
                "Mend the job, the table or the permission.", "The model has nothing to do with it."
            ),
        ),
    ),
    "health:volume": Steps(
        "Another number of predictions",
        (
            Step(
                "Compare it with what the callers of the model sent.",
                "A holiday, a campaign, a caller that is lost, rows written twice. Segments tell "
                "which part of the traffic it is.",
            ),
            Step(
                "Neither retrain nor roll back for it.",
                "The alerts on metrics tell about the model.",
            ),
        ),
    ),
    "health:score_range": Steps(
        "Scores are all equal, or out of their range",
        (
            _LOOK,
            Step(
                "Mend it, or roll back to the version before, at once.",
                "Until then the threshold selects other cases than it should.",
            ),
            Step(
                "Recalibrate the threshold if the new scale is meant.",
                "The page Decide says what each threshold brings.",
            ),
        ),
    ),
    "health:few_positives": Steps(
        "Few confirmations",
        (
            _ASK,
            Step(
                "Make windows longer if there will not be more.",
                "pumonitor plan says how many confirmations it takes to see a change.",
            ),
            _LEAVE,
        ),
    ),
    "health:unmatched_labels": Steps(
        "Labels belong to no prediction",
        (
            Step(
                "Compare the ids of both tables.",
                "Another type, leading zeros, upper case; or predictions that are deleted before "
                "their labels come.",
            ),
            _LEAVE,
        ),
    ),
    "health:stale": Steps(
        "Results are overdue",
        (
            Step(
                "Run pumonitor doctor.",
                "It says what is late, stuck or unreachable, and the remedy.",
            ),
        ),
    ),
    "health:lost_rows": Steps(
        "Rows are gone that were counted",
        (
            Step(
                "Run pumonitor doctor.",
                "It names the tables, the windows, and how much is gone. Earlier results stay.",
            ),
            Step(
                "Bring the rows back.",
                "A file that is away or damaged, a table that is being written: the next run goes "
                "on by itself.",
            ),
            Step(
                "Accept what is left only if they were deleted on purpose.",
                "pumonitor accept takes it, with your reason. source_keeps says how long a source "
                "has rows.",
            ),
        ),
    ),
    "health:audit_overdue": Steps(
        "An audit is overdue",
        (
            Step(
                "Draw the next audit.",
                "pumonitor audit draw --monitor NAME --windows 2026-03 takes the windows of a "
                "month whose labels are mature. pumonitor audit status lists those that have an "
                "audit.",
            ),
        ),
    ),
    "health:audit_unread": Steps(
        "Cases of an audit wait for a verdict",
        (
            Step(
                "Review them in the order of the file.",
                "What has been read counts already; the rest makes intervals narrower.",
            ),
        ),
    ),
    "health:audit_conflicts": Steps(
        "Verdicts contradict each other",
        (
            Step(
                "Let the reviewers settle these cases.",
                "Until then they count as undecided. pumonitor audit status has their number.",
            ),
        ),
    ),
    "health:unfair_labels": Steps(
        "Confirmations follow the score",
        (
            Step(
                "Find out who decides what is confirmed.",
                "A queue that is sorted by score confirms high scores first. Estimates of the "
                "audit allow for it; those of segments with fewer than ten of its cases do not.",
            ),
        ),
    ),
}
"""Kind of cause, or metric of a rule on the health of the data, to what to do about it."""


def next_steps(metric: str, cause: Mapping[str, Any]) -> tuple[Step, ...]:
    """What to do about an alert, in the order in which it is done.

    Parameters
    ----------
    metric : str
        What the rule tests; ``health:`` and its kind for the health of the data.
    cause : mapping
        The `Cause` in JSON types, as stored with the alert. Where it is empty, the cause counts as
        unclear.

    Returns
    -------
    tuple of Step
        Of all causes that are named, the first first, each step once.

    Examples
    --------
    >>> for step in next_steps("auc", {"kinds": ["score_scale"]})[1:]:
    ...     print(step.action)
    Mend it, or roll back to the version before, if nobody meant scores to change.
    Recalibrate the threshold if they were meant to change.
    Do not retrain for it.
    """
    found = dict.fromkeys(step for name in _names(metric, cause) for step in STEPS[name].steps)
    told = _by_audits(cause) is not None or cause.get("by_reviews", False)
    return tuple(step for step in found if not (told and step.asks_an_audit))


def _names(metric: str, cause: Mapping[str, Any]) -> list[str]:
    """Keys of `STEPS`."""
    if metric.startswith("health:"):
        return ["label_delay" if metric == "health:label_delay" else metric]
    if set(cause.get("possible", ())) == {"ranking", "labeling"}:
        return ["ranking or labeling"]
    kinds = cause.get("kinds") or ["unclear"]
    better = "better_ranking" if _ranks_better(cause) else "ranking"
    return [better if kind == "ranking" else kind for kind in kinds if kind in STEPS]


def _by_audits(cause: Mapping[str, Any]) -> str | None:
    """How the model ranks by audits before and after the change; None where they cannot tell."""
    found: str | None = (cause.get("by_audits") or {}).get("ranking")
    return found


def _ranks_better(cause: Mapping[str, Any]) -> bool:
    """Whether the change of AUC that goes with the cause is a rise; audits go before the rest."""
    by_audits = _by_audits(cause)
    if by_audits in ("worse", "better"):
        return by_audits == "better"
    sizes = cause.get("sizes") or {}
    # As in the sentence of the cause: where the class prior changed, AUC at the new one counts.
    size = sizes.get("auc_at_new_prior") or sizes.get("auc")
    return size is not None and size["change"] > 0
