"""Time to complete (8): a distribution per device type, from counts in log-spaced buckets."""

from typing import Any, Final, cast

import numpy as np

from warehouse.adding import Column, add_up
from warehouse.days import MICROS_PER_MS
from warehouse.histogram import bounds, representative
from warehouse.vocabulary import DEVICES
from web.questions import Question
from web.shapes.sessions import Bucket, Distribution, DurationRow

PERCENTILES: Final = (25, 50, 75, 90, 95, 99)
MOST_GROUPS: Final = 30


def time_to_complete(question: Question) -> list[DurationRow]:
    """How long completing the form takes.

    A row `all`, then one per device type with completions (completions descending, then name); no
    row without completions. Milliseconds; the average is exact, the rest within 1 %.
    """
    sums = question.form_sums("time_to_complete", by=("device", "bucket"))
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
    """Buckets ascending, each once, with their counts; the sum of durations is in µs."""
    completions = int(count.sum())
    average = int(duration.sum()) / (completions * MICROS_PER_MS)
    reached = np.cumsum(count)
    ranks = [-(-percentile * completions // 100) for percentile in PERCENTILES]
    places = np.searchsorted(reached, ranks)
    figures: dict[str, Any] = {"completions": completions, "averageMs": average}
    # Of one bucket only the middle is known, which may lie beyond the average of what is in it.
    figures["minMs"] = min(_ms(representative(int(bucket[0]))), average)
    for percentile, reaching in zip(PERCENTILES, bucket[places].tolist(), strict=True):
        figures[f"p{percentile}Ms"] = _ms(representative(reaching))
    figures["maxMs"] = max(_ms(representative(int(bucket[-1]))), average)
    return cast(Distribution, {**figures, "buckets": _chart(bucket, count)})


def _chart(bucket: Column, count: Column) -> list[Bucket]:
    """At most 30 neighbouring groups of whole buckets, of the same width on a log scale."""
    first, last = int(bucket[0]), int(bucket[-1])
    width = -(-(last - first + 1) // MOST_GROUPS)
    starts = range(first, last + 1, width)
    counts = np.zeros(len(starts), dtype=np.int64)
    np.add.at(counts, (bucket - first) // width, count)
    return [
        {
            "fromMs": _ms(bounds(start)[0]),
            "toMs": _ms(bounds(min(start + width - 1, last))[1]),
            "count": inside,
        }
        for start, inside in zip(starts, counts.tolist(), strict=True)
    ]


def _ms(micros: float) -> float:
    return round(micros / MICROS_PER_MS, 3)
