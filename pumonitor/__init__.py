"""How well a classifier does in production when only positives ever get confirmed.

Examples
--------
>>> import pumonitor
>>> labels = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0]
>>> scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.3, 0.2, 0.1]
>>> ev = pumonitor.evaluate(labels, scores, threshold=0.5, class_prior=0.4)
>>> round(ev["aul"].value, 3)
0.633
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pumonitor._on_demand import on_demand

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from pumonitor import metrics, prior
    from pumonitor.audit.drawn import DrawnAudit
    from pumonitor.audit.reading import Reviewers
    from pumonitor.audit.verdicts import Audit, read_verdicts
    from pumonitor.audit_plan import AuditPlan, draw_audit, plan_audit
    from pumonitor.comparison import compare
    from pumonitor.comparison_result import Comparison
    from pumonitor.decisions import Decision, decide, decide_table
    from pumonitor.evaluation import evaluate, evaluate_table
    from pumonitor.prior import estimate_class_prior
    from pumonitor.results import (
        Bounds,
        ClassPriorEstimate,
        Curve,
        Estimate,
        Evaluation,
    )
    from pumonitor.results.sensitivity import Sensitivity
    from pumonitor.reviews.given import Reviews
    from pumonitor.tables import ScoreTable

__all__ = [
    "Audit",
    "AuditPlan",
    "Bounds",
    "ClassPriorEstimate",
    "Comparison",
    "Curve",
    "Decision",
    "DrawnAudit",
    "Estimate",
    "Evaluation",
    "Reviewers",
    "Reviews",
    "ScoreTable",
    "Sensitivity",
    "compare",
    "decide",
    "decide_table",
    "draw_audit",
    "estimate_class_prior",
    "evaluate",
    "evaluate_table",
    "metrics",
    "plan_audit",
    "prior",
    "read_verdicts",
]

_HOMES = {
    "Audit": "pumonitor.audit.verdicts",
    "AuditPlan": "pumonitor.audit_plan",
    "Bounds": "pumonitor.results",
    "ClassPriorEstimate": "pumonitor.results",
    "Comparison": "pumonitor.comparison_result",
    "Curve": "pumonitor.results",
    "Decision": "pumonitor.decisions",
    "DrawnAudit": "pumonitor.audit.drawn",
    "Estimate": "pumonitor.results",
    "Evaluation": "pumonitor.results",
    "Reviewers": "pumonitor.audit.reading",
    "Reviews": "pumonitor.reviews.given",
    "ScoreTable": "pumonitor.tables",
    "Sensitivity": "pumonitor.results.sensitivity",
    "compare": "pumonitor.comparison",
    "decide": "pumonitor.decisions",
    "decide_table": "pumonitor.decisions",
    "draw_audit": "pumonitor.audit_plan",
    "estimate_class_prior": "pumonitor.prior",
    "evaluate": "pumonitor.evaluation",
    "evaluate_table": "pumonitor.evaluation",
    "metrics": "pumonitor.metrics",
    "plan_audit": "pumonitor.audit_plan",
    "prior": "pumonitor.prior",
    "read_verdicts": "pumonitor.audit.verdicts",
}


# Loaded on first use: `import pumonitor` and `pumonitor --help` stay quick without scipy.
__getattr__ = on_demand(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
