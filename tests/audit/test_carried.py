"""The label frequency by score, carried from audits to other times."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from pumonitor.audit.bins import bins_along, score_bins
from pumonitor.audit.by_bin import FrequencyByBin, read_unaudited
from pumonitor.audit.carried import MONTH, CarriedAudits, PastAudit
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import FAIR, UNKNOWN, FrequencyByScore, line_of_bins
from pumonitor.audit.reading import Reviewers
from pumonitor.audit.window_reading import WindowReading, without_shared
from pumonitor.errors import InputError
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable
from tests.audit.made_up_audit import CONFIRMED, FOUND, ROWS, bins, counts

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def past(month, **changed):
    """The audit of a month."""
    given = {"model_version": "1", "fair": "check", "counts": counts()} | changed
    return PastAudit(
        name=str(month), start=FIRST + month * MONTH, end=FIRST + (month + 1) * MONTH, **given
    )


def period(month):
    return FIRST + month * MONTH, FIRST + (month + 1) * MONTH


def test_first_audit_is_read_with_nothing_known_and_the_next_with_what_it_left():
    carried = CarriedAudits.through([past(0), past(2)])
    alone = estimate_audit(counts()).frequency()
    assert carried.before == (UNKNOWN, alone.later(2))
    assert carried.after[0] == alone
    assert carried.after[1] == estimate_audit(counts(), believed=alone.later(2)).frequency()


def test_audits_that_are_added_one_by_one_are_those_read_together():
    one = CarriedAudits.through([past(0)])
    two = CarriedAudits.through([past(1)], after=one)
    together = CarriedAudits.through([past(0), past(1)])
    assert (two.before, two.after) == (together.before, together.after)


def test_two_audits_agree_with_one_of_both_together():
    """What is carried is nearly all: the joint posterior is that of the bins of both."""
    apart = [counts(), counts(found=np.minimum(FOUND + 1, 25))]
    both = bins(rows=np.tile(ROWS, 2), labeled=np.tile(CONFIRMED, 2), above=4, concordance=0.6)
    joint = AuditCounts.of(
        replace(both, rank=np.tile(apart[0].bins.rank, 2), above=np.tile(apart[0].bins.above, 2)),
        decided=25,
        positive=np.concatenate([one.positive for one in apart]),
    )
    wanted = estimate_audit(joint, draws=8000)
    same_time = [past(0, counts=one) for one in apart]
    found = CarriedAudits.through(same_time).after[-1]
    spread = np.sqrt(np.diag(found.covariance))
    middle, apart = wanted.line.mean(axis=1), wanted.line.std(axis=1)
    assert (found.mean - middle) / apart == pytest.approx(np.zeros(3), abs=0.5)
    assert spread == pytest.approx(apart, rel=0.25)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-2, 6), min_size=1, max_size=4),
    st.floats(0.05, 1),
    st.floats(0, 0.3),
)
def test_share_that_has_arrived_multiplies_the_label_frequency(v, share, spread):
    known = by_bin(v, spread**2 * np.eye(len(v)))
    found = known.so_far(share)
    assert special.expit(-found.mean) == pytest.approx(share * special.expit(-known.mean), rel=1e-9)
    assert np.linalg.eigvalsh(found.covariance).min() >= -1e-12
    assert known.so_far(1.0).mean == pytest.approx(known.mean, abs=1e-9)
    assert known.so_far(1.0).covariance == pytest.approx(known.covariance)


def by_bin(mean, covariance, **changed):
    rank = np.linspace(-1, 1, len(mean))
    return FrequencyByBin(
        mean=np.array(mean), covariance=covariance, rank=rank, above=rank > 0, **changed
    )


def two_bins():
    return AuditCounts.of(bins(rows=[400, 60], labeled=[3, 16], above=1), decided=0, positive=0)


def test_spread_of_the_share_arrived_is_that_of_draws():
    known = by_bin([1.4, 2.0], np.array([[0.02, 0.005], [0.005, 0.03]]))
    found = known.so_far(0.6, log_variance=0.02)
    rng = np.random.default_rng(0)
    share = 0.6 * np.exp(np.sqrt(0.02) * rng.standard_normal(100_000))
    drawn = -special.logit(share * special.expit(-known.draw(two_bins(), 100_000, rng)))
    assert found.mean == pytest.approx(drawn.mean(axis=1), abs=0.01)
    assert found.covariance == pytest.approx(np.cov(drawn), abs=0.002)


def test_draws_are_those_of_the_normal_also_where_it_is_flat():
    flat = by_bin([1.0, 2.0], np.full((2, 2), 0.04))
    drawn = flat.draw(two_bins(), 50_000, np.random.default_rng(0))
    assert np.ptp(drawn[1] - drawn[0]) < 1e-6
    assert drawn[0].std() == pytest.approx(0.2, rel=0.02)
    assert flat.later(4).covariance == pytest.approx(np.array([[0.13, 0.03], [0.03, 0.13]]))
    assert replace(flat, fair=True).later(4).covariance == pytest.approx(np.full((2, 2), 0.08))


def test_line_of_another_model_has_the_spread_of_its_departures():
    known = ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.4))
    line = FrequencyByScore(mean=(1.0, 0.5, 0.2), covariance=known, spread=0.4)
    own = replace(bins(rows=[9, 9, 9], labeled=[1, 1, 1], above=1), rank=np.array([-1.0, 0.0, 1.0]))
    found = FrequencyByBin.on_line(line, own)
    assert found.mean.tolist() == pytest.approx([0.4, 0.9, 1.6])
    assert np.diag(found.covariance) == pytest.approx([0.56, 0.36, 0.56])
    assert found.covariance[0, 2] == pytest.approx(0.1 - 0.2 - 0.1)


def test_another_model_version_has_the_class_prior_of_the_label_frequency_over_all():
    """Whatever the slope and the step are: so many confirmed, at so large a share."""
    nothing = counts(rows=400 * ROWS, labeled=50 * CONFIRMED, found=0, decided=0)
    known = UNKNOWN.for_new_model((np.log(4), 0.0004)).later(0)
    for share, wanted in ((1.0, 0.2), (0.5, 0.1)):
        believed = FrequencyByBin.on_line(known, nothing.bins).so_far(share, log_variance=0.01)
        drawn = read_unaudited(nothing, believed).metrics()
        found = np.median(drawn["label_frequency"])
        assert found == pytest.approx(wanted, rel=0.05)
        spread = np.log(drawn["label_frequency"]).std()
        assert spread == pytest.approx(0.1, rel=0.2)
        assert drawn["recall"].std() > 0.05


def test_positives_of_an_unaudited_window_are_those_of_a_grid():
    """Bin by bin: the prior of v times that of p given v, on a fine grid of both."""
    audit = two_bins()
    mean, sd = np.array([1.4, 1.0]), np.array([0.3, 0.25])
    drawn = read_unaudited(audit, by_bin(mean, np.diag(sd**2)), draws=20_000)
    v, p_logit = np.meshgrid(np.linspace(-1, 4, 400), np.linspace(-9, 25, 3000), indexing="ij")
    for at in range(2):
        p, e = special.expit(p_logit), special.expit(-v)
        labeled, rest = int(audit.labeled[at]), int(audit.undrawn[at])
        log = (labeled + 0.05) * np.log(p * e) + np.log(special.expit(-p_logit))
        density = np.exp(log + rest * np.log1p(-p * e))
        density /= density.sum(axis=1, keepdims=True)  # given v: it says nothing of v
        density *= np.exp(-0.5 * ((v - mean[at]) / sd[at]) ** 2)
        density /= density.sum()
        assert drawn.p[:, at].mean() == pytest.approx((density * p).sum(), rel=0.02)
        assert drawn.e[:, at].mean() == pytest.approx((density * e).sum(), rel=0.02)
        hidden = rest * p * (1 - e) / (1 - p * e)
        assert drawn.positives[:, at].mean() == pytest.approx(
            labeled + (density * hidden).sum(), rel=0.03
        )


def test_window_without_confirmations_is_refused():
    nothing = counts(labeled=0 * CONFIRMED, found=0, decided=0)
    with pytest.raises(InputError, match="an audit needs confirmed positives"):
        read_unaudited(nothing, by_bin(np.ones(12), np.eye(12)))


def test_reading_is_restored_from_what_is_stored_to_the_last_digit():
    carried = CarriedAudits.through([past(0)])
    found = carried.at("1", *period(1))
    rows, believed, shared = replace(found, audit=past(0)).in_window(window(), threshold=2.0)
    for reading in (
        WindowReading(
            name="0", method="audit carried", counts=rows, believed=believed, shared=shared
        ),
        WindowReading(
            name="0",
            method="audit",
            counts=counts(),
            believed=UNKNOWN,
            shared=carried.shared(0),
            reviewers=Reviewers.of_positives(9, 10),
        ),
    ):
        again = WindowReading.from_dict(json.loads(json.dumps(reading.to_dict())))
        one, other = reading.read(seed=3), again.read(seed=3)
        assert one.estimates == other.estimates
        assert one.class_prior.method == reading.method
        assert without_shared(one.posterior, reading.shared) == without_shared(
            other.posterior, again.shared
        )


def test_error_that_windows_share_cancels():
    """Two windows with the same e: their ratio is known but for the noise of the labels."""
    shared = np.full((12, 12), 0.09)
    drawn = read_unaudited(
        counts(found=0, decided=0, labeled=10 * CONFIRMED, rows=20 * ROWS),
        by_bin(np.full(12, 2.0), shared + 0.0001 * np.eye(12)),
    )
    whole = without_shared(drawn, None)
    assert whole == pytest.approx(0.3, rel=0.15)
    assert without_shared(drawn, shared) < 0.35 * whole


def test_error_of_the_first_audit_counts_where_a_later_one_knows_much_more():
    """Lemma of Hausman: the two differ by the first's variance less the later one's."""
    first, later = np.full((12, 12), 0.09), np.full((12, 12), 0.01)
    drawn = read_unaudited(
        counts(found=0, decided=0, labeled=100 * CONFIRMED, rows=200 * ROWS),
        by_bin(np.full(12, 2.0), later + 0.0001 * np.eye(12)),
    )
    apart = without_shared(drawn, 2 * later - first)
    by_v = special.expit(2.0)  # of the log of the class prior, whose positives are L (1 + exp v)
    assert apart == pytest.approx(by_v * np.sqrt(0.09 - 0.01), rel=0.1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["1", "2"]), min_size=1, max_size=5), st.integers(-3, 9))
def test_window_is_read_by_the_last_audit_of_its_model_before_it_or_else_the_first(versions, month):
    audits = [past(at, model_version=one) for at, one in enumerate(versions)]
    covariance = ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.3))
    known = replace(UNKNOWN, covariance=covariance, audited=True)
    carried = CarriedAudits(
        audits=tuple(audits),
        before=(UNKNOWN,) * len(audits),
        after=(known,) * len(audits),
        by_bin=(by_bin(np.ones(12), 0.1 * np.eye(12)),) * len(audits),
        overall=((1.2, 0.05),) * len(audits),
    )
    found = carried.at("1", *period(month))
    own = [at for at, one in enumerate(versions) if one == "1"] or list(range(len(versions)))
    before = [at for at in own if at <= month]
    assert found.audit is audits[before[-1] if before else own[0]]
    same_model = versions[int(found.audit.name)] == "1"
    assert (found.by_bin is not None) is same_model
    assert found.months == pytest.approx(abs(month - int(found.audit.name)))
    drift = 0.01 * found.months
    first = known if same_model else UNKNOWN
    assert np.diag(found.line.covariance) == pytest.approx(np.diag(first.covariance) + drift)
    if same_model:
        assert found.line.overall is None
    else:
        assert found.line.overall == pytest.approx((1.2, 0.05 + drift))


def test_audit_that_takes_confirmations_for_fair_begins_anew():
    carried = CarriedAudits.through([past(0), past(1, fair="assume"), past(2, fair="assume")])
    assert carried.before[1] == FAIR
    assert carried.before[2] == carried.after[1].later(1)
    assert carried.after[2].fair


def test_windows_of_an_audit_that_begins_anew_have_no_error_in_common_with_those_of_the_first():
    """What is added to their own error is that of the first audit."""
    for audits in ([past(0, fair="assume"), past(1)], [past(0), past(1, fair="assume"), past(2)]):
        carried = CarriedAudits.through(audits)
        first = carried.after[0]
        across = line_of_bins(carried.by_bin[-1].rank, carried.by_bin[-1].above)
        assert carried.shared(len(audits) - 1) == pytest.approx(
            -across @ np.array(first.covariance) @ across.T
        )


def test_label_frequency_over_all_drifts_in_bins_as_on_the_line():
    known = replace(UNKNOWN, audited=True, overall=(1.2, 0.05))
    base = counts().bins
    now, later = (FrequencyByBin.on_line(one, base) for one in (known, known.later(4)))
    assert now.later(4).overall == pytest.approx(later.overall)
    assert now.later(4).covariance == pytest.approx(later.covariance)


def test_only_an_audit_of_one_window_is_of_that_window():
    carried = CarriedAudits.through([past(0), past(1)])
    assert carried.of_window("1", *period(1)) == 1
    assert carried.of_window("2", *period(1)) is None
    assert carried.of_window("1", period(0)[0], period(1)[1]) is None


def window(scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(20_000) < 0.05 * scale
    scores = np.round(rng.normal(2.0 * positive), 3)
    return ScoreTable.from_arrays(positive & (rng.random(20_000) < 0.2), scores, thresholds=[2.0])


def test_bins_of_an_audit_keep_their_ranks_in_another_window():
    laid = score_bins(window(), threshold=2.0)
    same, kept = bins_along(window(), edges=laid.edges, rank=laid.rank, threshold=2.0)
    assert same.rows.tolist() == laid.rows.tolist()
    assert same.rank == pytest.approx(laid.rank)
    assert kept.all()
    other, _ = bins_along(window(seed=1), edges=laid.edges, rank=laid.rank, threshold=2.0)
    assert other.rows.sum() == 20_000
    assert other.rank == pytest.approx(laid.rank)


def test_bins_without_rows_are_left_out():
    laid = score_bins(window(), threshold=2.0)
    low = ScoreTable.from_counts([5, 3], [300, 40], edges=[-4.0, 2.0, 2.5])
    found, kept = bins_along(low, edges=laid.edges, rank=laid.rank, threshold=2.0)
    assert found.rows.tolist() == [305, 43]
    assert found.above.tolist() == [False, True]
    assert found.edges.tolist() == [2.0]
    assert found.rank.tolist() == laid.rank[kept].tolist()


def test_more_confirmations_are_more_positives_and_not_another_label_frequency():
    laid = score_bins(window(), threshold=2.0)
    audit = AuditCounts.of(laid, decided=20, positive=np.minimum(np.arange(len(laid.rows)), 20))
    carried = CarriedAudits.through([past(0, counts=audit)])
    priors = []
    for scale in (1.0, 1.7):
        believed = carried.at("1", *period(1))
        rows, frequency, _ = believed.in_window(window(scale, seed=3), threshold=2.0)
        drawn = read_unaudited(rows, frequency)
        priors.append(np.median(drawn.metrics()["class_prior"]))
    assert priors[1] / priors[0] == pytest.approx(1.7, rel=0.15)


def _of_scores(value, low, high):
    return ClassPriorEstimate.given((value, low, high))


def test_scores_tell_the_level_of_an_audit_that_tells_little_and_hardly_that_of_another():
    rows = counts(found=0, decided=0, labeled=10 * CONFIRMED, rows=20 * ROWS)
    confirmed = rows.labeled.sum() / rows.rows.sum()
    prior = _of_scores(4 * confirmed, 3.6 * confirmed, 4.4 * confirmed)
    weak = by_bin(np.full(12, 2.5), np.full((12, 12), 4.0) + 0.01 * np.eye(12))
    sure = by_bin(np.full(12, 2.5), np.full((12, 12), 0.01) + 0.01 * np.eye(12))
    for known, within in ((weak, 0.3), (sure, 0.02)):
        alone = read_unaudited(rows, known).metrics()["label_frequency"]
        told = read_unaudited(rows, known.with_class_prior(prior, rows))
        frequency = special.logit(told.metrics()["label_frequency"])
        # The level is known with a standard deviation of .7, and a little of the interval.
        error = (0.2 / 1.96 / 4 / (1 - 0.25)) ** 2 + 0.7**2
        variance = 1 / (1 / known.covariance[0, 1] + 1 / error)
        mean = variance * (-2.5 / known.covariance[0, 1] + special.logit(0.25) / error)
        assert frequency.mean() == pytest.approx(mean, abs=within)
        assert frequency.std() == pytest.approx(np.sqrt(variance), rel=0.15)
        assert frequency.std() <= special.logit(alone).std() * 1.05


def test_class_prior_at_the_confirmed_share_tells_nothing_of_the_level():
    rows = counts(found=0, decided=0)
    known = by_bin(np.full(12, 2.0), np.eye(12))
    share = rows.labeled.sum() / rows.rows.sum()
    assert known.with_class_prior(_of_scores(share, share, 1.1 * share), rows) is known


def test_what_windows_share_shrinks_with_what_scores_tell_of_each():
    rows = counts(found=0, decided=0)
    shared = np.full((12, 12), 0.25)
    known = by_bin(np.full(12, 2.0), shared + 1e-9 * np.eye(12))
    assert known.still_shared(shared, rows) is shared
    told = replace(known, told=(2.0, 0.25))
    assert told.still_shared(shared, rows) == pytest.approx(np.full((12, 12), 0.0625), rel=1e-3)
    assert told.still_shared(None, rows) is None
