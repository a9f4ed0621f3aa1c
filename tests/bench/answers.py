"""Rows of the table about answers: cold, repeated, and beside SQL."""

from typing import Any

from tests.bench.goals import AGAIN, AGAIN_P99, BESIDE_SQL, FIRST_TIME, UNCHANGED, Row, cold
from tests.bench.load import CONNECTIONS


def cold_rows(endpoints: dict[str, dict[str, float]]) -> list[Row]:
    """Each endpoint for ranges that were never asked before, by one client."""
    found = []
    for name, row in endpoints.items():
        for figure, goal in zip(("p50", "p99"), cold(name), strict=True):
            found.append(Row(f"{name}, cold {figure}", row[f"{figure}_ms"], "ms", goal=goal))
    return found


def repeated_rows(measured: dict[str, dict[str, Any]]) -> list[Row]:
    """Requests at many connections beside the bare route."""
    goals = {"again": AGAIN, "cold": FIRST_TIME, "304": None}
    found = []
    for name, row in measured.items():
        kind = name.rpartition(", ")[2]
        rate, bare_rate = row["requests_per_second"], row["bare_requests_per_second"]
        p99, bare_p99 = row["p99_ms"], row["bare_p99_ms"]
        what = f"{name} at {CONNECTIONS}"
        found += [
            Row(what, rate, "req/s", bare_rate, row["share_of_bare"], goals[kind]),
            Row(
                f"{what}, p99",
                p99,
                "ms",
                bare_p99,
                row["times_bare_p99"],
                AGAIN_P99 if kind == "again" else None,
            ),
        ]
        if kind == "304":
            found.append(Row(f"{what}, CPU more", row["cpu_us_more"], "us", goal=UNCHANGED))
    return found


def sql_rows(seconds: dict[str, float], endpoints: dict[str, dict[str, float]]) -> list[Row]:
    """The cold answer in ms, beside that of one SQL query; the ratio says how many times faster."""
    return [
        Row(
            f"{name} beside SQL",
            endpoints[name]["p50_ms"],
            "ms",
            round(took * 1000),
            round(took * 1000 / endpoints[name]["p50_ms"], 1),
            BESIDE_SQL,
        )
        for name, took in seconds.items()
    ]
