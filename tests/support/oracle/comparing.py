"""Differences between an expected and an actual answer, each with a readable path."""

import re
from datetime import timedelta
from fractions import Fraction
from typing import Any

from tests.support.oracle.times import instant

# Section 4 (8): percentiles, "min and max are within 1 % of the exact value over any range", and
# "rounded half-up to 3 decimals".
WITHIN_A_HUNDREDTH = re.compile(r"^(p\d+|min|max)Ms$")
MAX_BUCKETS = 30


def compare(path: str, expected: Any, actual: Any) -> list[str]:
    """All differences of the `data` of an answer to `path`; empty where there is none.

    Keys may come in any order, but none may be missing or more; rows must be in order. Integers
    must be integers; other numbers may differ by a float's own noise.
    """
    if path.endswith("/time-to-complete") and isinstance(actual, list):
        problems = [p for n, row in enumerate(actual) for p in check_buckets(f"data[{n}]", row)]
        stripped = [without_buckets(row) for row in actual]
        return problems + differences("data", expected, stripped)
    return differences("data", expected, actual)


def differences(where: str, expected: Any, actual: Any) -> list[str]:
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return [wrong(where, expected, actual)]
        found = [f"{where}: {key} is missing" for key in expected if key not in actual]
        found += [f"{where}: {key} is not asked for" for key in actual if key not in expected]
        for key in expected.keys() & actual.keys():
            found += differences(f"{where}.{key}", expected[key], actual[key])
        return sorted(found)
    if isinstance(expected, list):
        if not isinstance(actual, list):
            return [wrong(where, expected, actual)]
        found = []
        if len(expected) != len(actual):
            found = [f"{where}: expected {len(expected)} rows, got {len(actual)}"]
            found += [f"{where}: only expected: {row!r}" for row in expected if row not in actual]
            found += [f"{where}: only got: {row!r}" for row in actual if row not in expected]
            return found
        for n, (one, other) in enumerate(zip(expected, actual, strict=True)):
            found += differences(f"{where}[{n}]", one, other)
        return found
    if same(where.rpartition(".")[2], expected, actual):
        return []
    return [wrong(where, expected, actual)]


def wrong(where: str, expected: Any, actual: Any) -> str:
    return f"{where}: expected {expected!r}, got {actual!r}"


def same(name: str, expected: Any, actual: Any) -> bool:
    """Whether one value is what is expected of the field `name`."""
    if isinstance(expected, bool) or expected is None:
        return actual is expected
    if isinstance(expected, str) and name == "lastSyncedAt":
        return isinstance(actual, str) and abs(instant(actual) - instant(expected)) < timedelta(
            milliseconds=1
        )
    if isinstance(expected, str):
        return isinstance(actual, str) and actual == expected
    if isinstance(actual, bool) or not isinstance(actual, int | float):
        return False
    if isinstance(expected, int):
        return isinstance(actual, int) and actual == expected
    if WITHIN_A_HUNDREDTH.match(name):
        # A service that keeps whole milliseconds cannot be nearer to a span of a few.
        grain = 1 if expected < 100 and expected != int(expected) else 0
        near = abs(actual - expected) <= max(Fraction(expected) / 100, grain)
        return bool(near) and actual == round(actual, 3)
    return bool(abs(actual - expected) <= 1e-9 * max(1.0, abs(expected)))


def without_buckets(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    return {key: value for key, value in row.items() if key != "buckets"}


def check_buckets(where: str, row: Any) -> list[str]:
    """Section 4: "`buckets` has at most 30 entries for a chart, and its counts sum to
    `completions`"."""
    buckets = row.get("buckets") if isinstance(row, dict) else None
    if not isinstance(buckets, list) or not all(
        isinstance(bucket, dict) and bucket.keys() == {"fromMs", "toMs", "count"}
        for bucket in buckets
    ):
        return [f"{where}.buckets: expected a list of {{fromMs, toMs, count}}, got {buckets!r}"]
    found = []
    if len(buckets) > MAX_BUCKETS:
        found.append(f"{where}.buckets: {len(buckets)} entries, more than {MAX_BUCKETS}")
    if sum(bucket["count"] for bucket in buckets) != row.get("completions"):
        found.append(f"{where}.buckets: the counts do not sum to completions")
    bounds = [bound for bucket in buckets for bound in (bucket["fromMs"], bucket["toMs"])]
    if bounds != sorted(bounds):
        found.append(f"{where}.buckets: not in ascending order: {bounds}")
    return found
