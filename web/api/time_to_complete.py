"""Time to complete (8): a distribution per device type, from counts in log-spaced buckets."""

from fractions import Fraction
from typing import Any, Final, cast

import numpy as np

from warehouse.daily.group_sum import Column, add_up
from warehouse.daily.log_histogram import bounds, representative
from warehouse.domain.time import MICROS_PER_MS
from warehouse.domain.vocabulary import DEVICES
from web.api.query import Query
from web.api.rounding import ratio
from web.api.schemas.sessions import Bucket, Distribution, DurationRow

PERCENTILES: Final = (25, 50, 75, 90, 95, 99)
MAX_BARS: Final = 30


def time_to_complete(query: Query) -> list[DurationRow]:
    """How long it takes to complete the form.

    A row `all`, then a row per device type with completions, by completions descending, then name. Times
    are in milliseconds. The average is exact; the other times are within 1 %.
    """
    sums = query.form_sums("time_to_complete", by=("device", "bucket"))
    counted = sums["completions"] > 0
    device, bucket, count, duration = (
        sums[name][counted] for name in ("device", "bucket", "completions", "duration")
    )
    if not len(count):
        return []
    rows: list[DurationRow] = [
        {"deviceType": DEVICES[code], **_distribution(bucket[of], count[of], duration[of])}
        for code in np.unique(device).tolist()
        for of in [device == code]
    ]
    rows.sort(key=lambda row: (-row["completions"], row["deviceType"]))
    (buckets,), (counts,) = add_up([bucket], [count])
    return [{"deviceType": "all", **_distribution(buckets, counts, duration)}, *rows]


def _distribution(bucket: Column, count: Column, duration: Column) -> Distribution:
    """The figures of some durations: distinct buckets ascending with their counts, and sums of durations
    in microseconds."""
    completions = int(count.sum())
    total = int(duration.sum())
    average = total / completions
    reached = np.cumsum(count)
    ranks = [-(-percentile * completions // 100) for percentile in PERCENTILES]
    index = np.searchsorted(reached, ranks)
    figures: dict[str, Any] = {
        "completions": completions,
        "averageMs": ratio(total, completions * MICROS_PER_MS, 3),
    }
    # A bucket is known by its middle, which may lie beyond the average of its durations.
    figures["minMs"] = _ms(min(representative(int(bucket[0])), average))
    for percentile, reached_at in zip(PERCENTILES, bucket[index].tolist(), strict=True):
        figures[f"p{percentile}Ms"] = _ms(representative(reached_at))
    figures["maxMs"] = _ms(max(representative(int(bucket[-1])), average))
    return cast(Distribution, {**figures, "buckets": _chart(bucket, count)})


def _chart(bucket: Column, count: Column) -> list[Bucket]:
    """At most 30 adjoining groups of whole buckets, equally wide on a logarithmic scale."""
    first, last = int(bucket[0]), int(bucket[-1])
    width = -(-(last - first + 1) // MAX_BARS)
    starts = range(first, last + 1, width)
    counts = np.zeros(len(starts), dtype=np.int64)
    np.add.at(counts, (bucket - first) // width, count)
    return [
        {
            "fromMs": _ms(bounds(start)[0]),
            "toMs": _ms(bounds(min(start + width - 1, last))[1]),
            "count": bar_count,
        }
        for start, bar_count in zip(starts, counts.tolist(), strict=True)
    ]


def _ms(micros: float) -> float:
    """Milliseconds, rounded half-up to whole microseconds."""
    return ratio(Fraction(micros), MICROS_PER_MS, 3)
