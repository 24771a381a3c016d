"""Tables and views of the state database, as the newest migration leaves them.

Of which rows an index is, the migrations alone say.
"""

from __future__ import annotations

from pumonitor.monitor.ledger.database.schema.access import page_sessions, tokens, write_count
from pumonitor.monitor.ledger.database.schema.alerts import (
    alert_progress,
    alert_states,
    alert_transitions,
    silences,
)
from pumonitor.monitor.ledger.database.schema.audits import (
    review_audits,
    review_cases,
    review_readings,
    review_verdicts,
)
from pumonitor.monitor.ledger.database.schema.challengers import (
    challenger_windows,
    deployed_versions,
    noted_challengers,
)
from pumonitor.monitor.ledger.database.schema.columns import Moment, metadata
from pumonitor.monitor.ledger.database.schema.messages import keys, outbox, sent_keys
from pumonitor.monitor.ledger.database.schema.notes import notes
from pumonitor.monitor.ledger.database.schema.promotions import promotions
from pumonitor.monitor.ledger.database.schema.results import (
    auxiliary_scores,
    auxiliary_series,
    evaluations,
    headline_results,
    prior_states,
    results,
    series,
)
from pumonitor.monitor.ledger.database.schema.windows import (
    audit,
    latest,
    monitors,
    newest_panes,
    panes,
    standings,
    windows,
)

__all__ = [
    "Moment",
    "alert_progress",
    "alert_states",
    "alert_transitions",
    "audit",
    "auxiliary_scores",
    "auxiliary_series",
    "challenger_windows",
    "deployed_versions",
    "evaluations",
    "headline_results",
    "keys",
    "latest",
    "metadata",
    "monitors",
    "newest_panes",
    "noted_challengers",
    "notes",
    "outbox",
    "page_sessions",
    "panes",
    "prior_states",
    "promotions",
    "results",
    "review_audits",
    "review_cases",
    "review_readings",
    "review_verdicts",
    "sent_keys",
    "series",
    "silences",
    "standings",
    "tokens",
    "windows",
    "write_count",
]
