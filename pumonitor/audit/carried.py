"""What audits tell of other times: the label frequency by score, carried from one to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.audit.bins import bins_along, score_bins
from pumonitor.audit.by_bin import FrequencyByBin
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import FAIR, UNKNOWN, FrequencyByScore, line_of_bins
from pumonitor.audit.reading import Reviewers
from pumonitor.tables import ScoreTable

MONTH: Final = timedelta(days=365.25 / 12)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PastAudit:
    """An audit as far as it has been reviewed, over all of its windows.

    Attributes
    ----------
    name : str
    model_version : str
        Whose scores its bins are of.
    start, end : datetime
        Of the period that its rows are from.
    fair : {"check", "assume"}
    counts : AuditCounts
        Rows and confirmations when it was drawn, and verdicts.
    reviewers : Reviewers, optional
        What seeds tell of mistaken verdicts.
    """

    name: str
    model_version: str
    start: datetime
    end: datetime
    fair: Literal["check", "assume"]
    counts: AuditCounts
    reviewers: Reviewers | None = None

    def months_to(self, start: datetime, end: datetime) -> float:
        """Months between the middle of its period and that of another, before or after."""
        apart = (start + (end - start) / 2) - (self.start + (self.end - self.start) / 2)
        return abs(apart) / MONTH

    @property
    def nothing_known(self) -> FrequencyByScore:
        """What is believed before the first audit."""
        return FAIR if self.fair == "assume" else UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Believed:
    """What is believed of the label frequency by score in a window, and by which audit.

    Attributes
    ----------
    audit : PastAudit
    line : FrequencyByScore
        At the time of the window, once all labels have arrived.
    by_bin : FrequencyByBin or None
        The same in the bins of the audit; None where it is of another model version.
    shared : ndarray of shape (bins, bins) or None
        Of the covariance in the bins of the audit, what windows of the first audit have as well.
    months : float
        Between the audit and the window.
    """

    audit: PastAudit
    line: FrequencyByScore
    by_bin: FrequencyByBin | None
    shared: FloatArray | None
    months: float

    def in_window(
        self, table: ScoreTable, *, threshold: float
    ) -> tuple[AuditCounts, FrequencyByBin, FloatArray | None]:
        """The rows of a window without verdicts, what is believed in its bins, and what is shared.

        They are those of the audit, as far as they hold a row. Scores of another model have bins
        and ranks of their own.

        Raises
        ------
        InputError
            If rows carry weights or propensities, or the threshold lies inside a cell.
        """
        if self.by_bin is None:
            own = AuditCounts.of(score_bins(table, threshold=threshold), decided=0, positive=0)
            return own, FrequencyByBin.on_line(self.line, own.bins), None
        laid = self.audit.counts.bins
        bins, kept = bins_along(table, edges=laid.edges, rank=laid.rank, threshold=threshold)
        shared = None if self.shared is None else self.shared[np.ix_(kept, kept)]
        counts = AuditCounts.of(bins, decided=0, positive=0)
        return counts, self.by_bin.among(kept), shared


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CarriedAudits:
    """Audits in the order of time, with what is believed before and after each of them.

    It is wrong where the label frequency changes faster than `pumonitor.audit.frequency.DRIFT`:
    then the class prior seems to move. The next audit tells the two apart.

    Attributes
    ----------
    audits : tuple of PastAudit
    before, after : tuple of FrequencyByScore
    by_bin : tuple of FrequencyByBin
        What each audit left in its own bins.
    overall : tuple of (float, float)
        What each left of the label frequency of all positives: mean and variance of -logit of it.
    """

    audits: tuple[PastAudit, ...]
    before: tuple[FrequencyByScore, ...]
    after: tuple[FrequencyByScore, ...]
    by_bin: tuple[FrequencyByBin, ...]
    overall: tuple[tuple[float, float], ...]

    @classmethod
    def through(
        cls, audits: Iterable[PastAudit], *, after: CarriedAudits | None = None
    ) -> CarriedAudits:
        """Read one audit after the other, each with what those before it left.

        An audit of another model version takes over how often positives are confirmed and not how
        that follows the score. One with another `fair` begins anew.

        Parameters
        ----------
        audits : iterable of PastAudit
            In the order of time.
        after : CarriedAudits, optional
            Those before them, so that none is read again.
        """
        found = cls.none() if after is None else after
        for audit in audits:
            believed = audit.nothing_known
            if found.audits:
                last = found._nearest(audit.model_version, audit.start)
                if found.audits[last].fair == audit.fair:
                    believed = found._carried(last, audit.model_version, audit.start, audit.end)
            found = found.with_audit(audit, believed=believed)
        return found

    @classmethod
    def none(cls) -> CarriedAudits:
        """Before the first audit."""
        return cls(audits=(), before=(), after=(), by_bin=(), overall=())

    def with_audit(self, audit: PastAudit, *, believed: FrequencyByScore) -> CarriedAudits:
        """One more, read with what is believed before it."""
        posterior = estimate_audit(audit.counts, believed=believed, reviewers=audit.reviewers)
        return CarriedAudits(
            audits=(*self.audits, audit),
            before=(*self.before, believed),
            after=(*self.after, posterior.frequency()),
            by_bin=(*self.by_bin, FrequencyByBin.of(posterior)),
            overall=(*self.overall, posterior.overall()),
        )

    def at(self, model_version: str, start: datetime, end: datetime) -> Believed:
        """What is believed in a window, after the audit before it; else after the first one.

        An audit of the model version of the window goes before one of another.
        """
        chosen = self._nearest(model_version, start)
        audit = self.audits[chosen]
        months = audit.months_to(start, end)
        same = audit.model_version == model_version
        return Believed(
            audit=audit,
            line=self._carried(chosen, model_version, start, end),
            by_bin=self.by_bin[chosen].later(months) if same else None,
            shared=self.shared(chosen) if same else None,
            months=months,
        )

    def shared(self, place: int) -> FloatArray:
        """Of the covariance of v that an audit left, what windows of the first one have as well.

        Windows that are read with the same audit have all of its error in common. What a later one
        leaves differs from what the first left by the difference of their covariances (Hausman
        1978, lemma 2.1), which counts as an error of the windows read with the later one; from one
        that began anew it differs by both.
        """
        if place == 0:
            return self.by_bin[0].covariance
        steps = range(1, place + 1)
        began_anew = any(self.before[at] == self.audits[at].nothing_known for at in steps)
        own = 0 if began_anew else 2
        common = own * np.array(self.after[place].covariance) - np.array(self.after[0].covariance)
        if self.audits[0].model_version != self.audits[place].model_version:
            common = np.zeros((3, 3))
            common[0, 0] = own * self.overall[place][1] - self.overall[0][1]
        across = line_of_bins(self.by_bin[place].rank, self.by_bin[place].above)
        return np.asarray(across @ common @ across.T)

    def of_window(self, model_version: str, start: datetime, end: datetime) -> int | None:
        """The last audit that is of this window and of no other; None without one."""
        wanted = (model_version, start, end)
        found = [
            at
            for at, one in enumerate(self.audits)
            if (one.model_version, one.start, one.end) == wanted
        ]
        return found[-1] if found else None

    def _nearest(self, model_version: str, start: datetime) -> int:
        """The last audit up to then, or else the first one; of the same version if there is one."""
        own = [at for at, one in enumerate(self.audits) if one.model_version == model_version]
        chosen = own or list(range(len(self.audits)))
        earlier = [at for at in chosen if self.audits[at].start <= start]
        return earlier[-1] if earlier else chosen[0]

    def _carried(
        self, place: int, model_version: str, start: datetime, end: datetime
    ) -> FrequencyByScore:
        """What an audit left, at another time and for a model version."""
        audit, known = self.audits[place], self.after[place]
        months = audit.months_to(start, end)
        if audit.model_version != model_version:
            known = known.for_new_model(self.overall[place])
        return known.later(months)
