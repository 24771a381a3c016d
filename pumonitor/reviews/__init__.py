"""Reviews: what a queue looked at, beside the complaints that come by themselves."""

from __future__ import annotations

from pumonitor.reviews.believed import UNKNOWN_COMPLAINTS, ComplaintRate
from pumonitor.reviews.counts import KINDS, ReviewCounts, kind_of_rows
from pumonitor.reviews.estimation import ReviewPosterior, estimate_reviews
from pumonitor.reviews.given import Reviews
from pumonitor.reviews.reading import ReviewedEstimates, read_reviews

__all__ = [
    "KINDS",
    "UNKNOWN_COMPLAINTS",
    "ComplaintRate",
    "ReviewCounts",
    "ReviewPosterior",
    "ReviewedEstimates",
    "Reviews",
    "estimate_reviews",
    "kind_of_rows",
    "read_reviews",
]
