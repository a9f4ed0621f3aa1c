"""Time to complete (8): a distribution per device type, from counts in log-spaced buckets."""

from fractions import Fraction
from typing import Any, Final

import numpy as np

from warehouse.daily.group_sum import Column, add_up
from warehouse.daily.log_histogram import bounds, representative
from warehouse.domain.figures import Figure, count, milliseconds
from warehouse.domain.rounding import ratio
from warehouse.domain.time import MICROS_PER_MS
from warehouse.domain.vocabulary import DEVICES
from web.api.endpoint import get
from web.api.filters import FILTERS
from web.api.query import Query
from web.api.rows import Row, rows, text

PERCENTILES: Final = (25, 50, 75, 90, 95, 99)
MAX_BARS: Final = 30


def _percentile(percent: int) -> Figure:
    return milliseconds(
        f"p{percent}Ms",
        f"{percent} %",
        f"{percent} % took no longer, in milliseconds.",
        f"The quickest {percent} of 100 took no longer than this.",
    )


# fmt: off
BUCKET: Final = Row(
    "Bucket",
    "One bar of the histogram. Bars adjoin, and are equally wide on a logarithmic scale.",
    milliseconds("fromMs", "From", "Lower bound in milliseconds.", "The shortest time of the bar."),
    milliseconds("toMs", "To", "Upper bound in milliseconds, excluded.", "The longest time of the bar."),
    count("count", "Completions", "Completions between the bounds.", "How many took so long."),
)
ROW: Final = Row(
    "DurationRow",
    """How long the window's completions took: from the first `start` to the first `complete`. A session
    without `start` is timed from its first `view`, or else from its first event. Percentiles are
    nearest-rank. Percentiles, minimum and maximum are within 1 % of the exact value. Order: `all` first,
    then completions descending, then deviceType. There is no row without completions.""",
    text("deviceType", "Device", "The device type, or `all`.", enum=["all", *filter(None, DEVICES)]),
    "completions",
    milliseconds("averageMs", "Average", "The exact mean, in milliseconds.", "How long it took on average."),
    milliseconds("minMs", "Shortest", "The shortest time, in milliseconds.", "The shortest time."),
    _percentile(25),
    milliseconds("p50Ms", "Half", "The median, in milliseconds.", "Half of them took no longer than this."),
    *map(_percentile, (75, 90, 95, 99)),
    milliseconds("maxMs", "Longest", "The longest time, in milliseconds.", "The longest time."),
    rows("buckets", "Histogram",
        "A histogram from the shortest to the longest time. The counts add up to `completions`.",
        BUCKET, maxItems=MAX_BARS),
    owner="The time from the first entry to the end of the form, for forms that were completed in "
    "these days. Without a first entry it is taken from the moment the form was seen.",
)
# fmt: on


@get("/forms/{id}/time-to-complete", "analytics:read", ROW, filters=FILTERS)
def time_to_complete(query: Query) -> list[dict[str, Any]]:
    """How long it takes to complete the form.

    A row `all`, then a row per device type with completions, by completions descending, then name. Times
    are in milliseconds. The average is exact; the other times are within 1 %.
    """
    sums = query.form_sums("time_to_complete", by=("device", "bucket"))
    counted = sums["completions"] > 0
    device, bucket, completed, duration = (
        sums[name][counted] for name in ("device", "bucket", "completions", "duration")
    )
    if not len(completed):
        return []
    by_device = [
        {"deviceType": DEVICES[code], **_distribution(bucket[of], completed[of], duration[of])}
        for code in np.unique(device).tolist()
        for of in [device == code]
    ]
    by_device.sort(key=lambda row: (-row["completions"], row["deviceType"]))
    (buckets,), (counts,) = add_up([bucket], [completed])
    return [{"deviceType": "all", **_distribution(buckets, counts, duration)}, *by_device]


def _distribution(bucket: Column, count: Column, duration: Column) -> dict[str, Any]:
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
    # The chart: at most 30 adjoining groups of whole buckets, equally wide on a logarithmic scale.
    first, last = int(bucket[0]), int(bucket[-1])
    width = -(-(last - first + 1) // MAX_BARS)
    starts = range(first, last + 1, width)
    counts = np.zeros(len(starts), dtype=np.int64)
    np.add.at(counts, (bucket - first) // width, count)
    figures["buckets"] = [
        {
            "fromMs": _ms(bounds(start)[0]),
            "toMs": _ms(bounds(min(start + width - 1, last))[1]),
            "count": bar_count,
        }
        for start, bar_count in zip(starts, counts.tolist(), strict=True)
    ]
    return figures


def _ms(micros: float) -> float:
    """Milliseconds, rounded half-up to whole microseconds."""
    return ratio(Fraction(micros), MICROS_PER_MS, 3)
