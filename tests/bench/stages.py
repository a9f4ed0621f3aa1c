"""The stages of one run on one database, in their order.

A short stage is measured three times, each time on an empty warehouse or with files of its own, and its
median stands; one that takes 5 s or longer, and the first rollup, is measured once.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from tests.bench import answered, disk, floors, peers, repeated, service, shops
from tests.bench.databases import New
from tests.bench.files import REFRESHES, rows
from tests.bench.goals import Row, row, times
from tests.bench.processes import Took, median, run
from warehouse import tables

Say = Callable[[str], None]
# Everything but the events, in the order in which it is imported.
_AROUND: Final = ("shops", "forms", "exchange-rates", "ad-spend", "orders")
# Requests to each endpoint, for what was never asked before.
REQUESTS: Final = 100


def run_all(data: Path, new: New, say: Say, requests: int = REQUESTS) -> list[Row]:
    """Measure everything on databases of one kind."""
    parquet = data / "events.parquet"
    say("import: NDJSON")
    ndjson = median(lambda: _import(new, data, "events.ndjson"))
    with new() as url:
        say("import: Parquet, and all but events")
        for kind in _AROUND:
            run(url, "jobs", "import", kind, data / f"{kind}.ndjson")
        first = run(url, "jobs", "import", "events", parquet)
        taken = median(lambda: _import(new, data, parquet.name), first)
        say("floor of the import: reading the file, staging its rows, one INSERT")
        floor = floors.reading(url, parquet) + median(lambda: _staging(url, new))
        table = [
            *_imports("import Parquet", taken, rows(parquet), floor),
            *_imports("import NDJSON", ndjson, rows(parquet), floor),
        ]
        say("first rollup")
        rollup = run(url, "jobs", "rollup")
        say("floor of the rollup: reading raw rows, writing facts")
        floor = median(lambda: floors.reading(url)) + median(lambda: _writing(url, new))
        table += times("first rollup", rollup, floor)
        table.append(row("first rollup, memory", rollup.peak_mb, "MB"))
        sizes = disk.measure(url)
        say("filtered questions")
        expected = answered.answered(url)
        say("rebuild, refreshes")
        rebuild = median(lambda: run(url, "jobs", "rebuild"))
        table += times("rebuild", rebuild, rollup)
        table += _refreshes(url, data)
        say("the endpoints")
        endpoints = service.measure(url, requests)
        say("the same answers for many at once")
        table += [*endpoints, *repeated.measure(url)]
    say("the peers")
    table += _peers(data, rollup, expected, {one.what: one.value for one in endpoints})
    say("200 shops")
    return [*table, *shops.measure(new, data), *_disk(sizes, parquet)]


def _import(new: New, data: Path, name: str) -> Took:
    with new() as url:
        for kind in ("shops", "forms"):
            run(url, "jobs", "import", kind, data / f"{kind}.ndjson")
        return run(url, "jobs", "import", "events", data / name)


def _imports(what: str, took: Took, events: int, floor: Took) -> list[Row]:
    return [
        row(what, events / took.seconds, "rows/s", events / floor.seconds),
        row(f"{what}, CPU", events / took.cpu, "rows/s", events / floor.cpu),
        row(f"{what}, memory", took.peak_mb, "MB"),
    ]


def _staging(url: str, new: New) -> Took:
    with new() as empty:
        return floors.writing(url, empty, [tables.raw_event], are_staged=True)


def _writing(url: str, new: New) -> Took:
    with new() as empty:
        return floors.writing(url, empty, tables.FACTS)


def _refreshes(url: str, data: Path) -> list[Row]:
    """Rollups after new events, beside one that finds nothing to do."""
    nothing = median(lambda: run(url, "jobs", "rollup"))
    found = times("rollup of nothing", nothing)
    for name, what in (("late", "late events"), ("today", "events of today")):
        files = (data / f"{name}-{number}.ndjson" for number in range(REFRESHES))
        took = median(partial(_refresh, url, files))
        found += times(f"refresh after {what}", took, nothing)
    return found


def _refresh(url: str, files: Iterator[Path]) -> Took:
    """After the next of the files."""
    run(url, "jobs", "import", "events", next(files))
    return run(url, "jobs", "rollup")


def _peers(
    data: Path, rollup: Took, expected: dict[str, answered.Figures], cold: dict[str, float]
) -> list[Row]:
    """The first build of each peer, and filtered answers beside the same questions over raw rows."""
    found = []
    for engine in peers.ENGINES:
        build, questions = peers.measure(engine, data, expected)
        found += times(f"first rollup beside {engine}", rollup, build)
        for each in answered.QUESTIONS:
            own, theirs = (
                cold[f"{each.endpoint}, filtered p50"],
                questions[each.name].seconds * 1000,
            )
            faster = round(theirs / own, 1)
            what = f"{each.name}, beside {engine}"
            found.append(Row(what, own, "ms", round(theirs), faster))
    return found


def _disk(sizes: dict[str, int], parquet: Path) -> list[Row]:
    events = rows(parquet)
    each = {layer: size / events for layer, size in sizes.items()}
    daily, crossed = each["daily rows"], each["crossings"]
    return [
        *(row(f"disk: {layer}", size, "B/event") for layer, size in each.items()),
        row("disk: all", sum(each.values()), "B/event", parquet.stat().st_size / events),
        row("daily rows with crossings", daily + crossed, "B/event", daily),
    ]
