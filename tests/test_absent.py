"""What is said not to be stored is not; and of what is not, most is said to be so."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.product import Product
from warehouse import tables
from warehouse.absent import Absent
from warehouse.bulk import Bulk

ids = st.integers(-(2**63), 2**63 - 1)
# Few enough that keys meet, and any others.
some = st.one_of(st.integers(-2, 2), ids)
rows = st.lists(st.tuples(st.sampled_from([1, 2, 3]), some, some), max_size=8)
WAYS = (("natural",), ("visitor", "form"), ("visitor", "low"), ("customer",), ("email",))
step = st.one_of(
    st.tuples(st.just("begin"), st.sets(st.sampled_from([1, 2, 3]))),
    st.tuples(st.just("end"), st.sets(st.sampled_from([1, 2, 3]))),
    st.tuples(st.just("note"), rows),
)


def columns(names: tuple[str, ...], of: list[tuple[int, ...]]) -> dict[str, Any]:
    edition, *others = np.array(of, dtype=np.int64).reshape(-1, 3).T
    return {"edition": edition, **dict(zip(names, others, strict=False))}


@given(steps=st.lists(step, max_size=12), asked=rows, way=st.sampled_from(WAYS))
def test_no_row_is_missed(steps: list[Any], asked: list[Any], way: tuple[str, ...]) -> None:
    absent, table = Absent(), tables.fact_form_session
    known: set[int] = set()
    written: dict[int, list[Any]] = {}
    names = way if "low" not in way else ("visitor", "form")
    for kind, what in steps:
        if kind == "begin":
            # What begins is empty.
            new = what - known
            written |= {edition: [] for edition in new}
            absent.begin(new)
            known |= new
        elif kind == "end":
            absent.end(what)
            known -= what
        else:
            absent.note(table, columns(names, what))
            for row in what:
                written.setdefault(row[0], []).append(row)
    possible = absent.possible(table, columns(way, asked))
    if not known:
        assert possible is None
        return
    assert possible is not None
    width = 2 if way == ("visitor", "form") else 1
    for row, found in zip(asked, possible.tolist(), strict=True):
        there = any(row[1 : 1 + width] == one[1 : 1 + width] for one in written.get(row[0], []))
        assert found or not (row[0] not in known or there)


def possible(absent: Absent, keys: dict[str, Any]) -> int:
    """How many of the keys may be stored."""
    found = absent.possible(tables.fact_form_session, keys)
    assert found is not None
    return int(found.sum())


def test_what_is_new_is_told_from_what_was_written() -> None:
    absent, table, rng = Absent(), tables.fact_form_session, np.random.default_rng(1)
    absent.begin([7])
    ours, others = rng.integers(-(2**63), 2**63 - 1, (2, 10_000))
    for name in ("natural", "customer"):
        edition = np.full(len(ours), 7)
        assert possible(absent, {"edition": edition, name: others}) == 0
        absent.note(table, {"edition": edition, name: ours})
        assert possible(absent, {"edition": edition, name: ours}) == len(ours)
        assert possible(absent, {"edition": edition, name: others}) < 10


def test_nothing_is_said_of_other_columns() -> None:
    absent = Absent()
    absent.begin([1])
    one = np.ones(1, dtype=np.int64)
    assert absent.possible(tables.fact_form_session, {"edition": one, "session": one}) is None
    assert absent.possible(tables.fact_step, {"edition": one, "session": one}) is None
    assert absent.possible(tables.fact_issue, {"edition": one, "code": one}) is None


def test_only_what_was_empty_is_spared(warehouse_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first rollup and a rebuild look up next to nothing; another one looks up what is new to it."""
    product = Product(warehouse_url)
    product.load("shops", [{"shop_id": "a.example", "currency": "USD"}])
    staged: list[int] = []
    stage = Bulk.stage

    def counting(bulk: Bulk, name: str, keys: Any) -> str:
        if name == "staged_facts" and "natural" in keys.column_names:
            staged.append(keys.num_rows)
        return stage(bulk, name, keys)

    monkeypatch.setattr(Bulk, "stage", counting)

    def looked_up(command: Any, begin: int, end: int) -> int:
        names = [f"s{number}" for number in range(begin, end)]
        product.load(
            "events",
            [
                {
                    "shop_id": "a.example",
                    "form_id": "aaaaaaaa-0000-4000-8000-000000000000",
                    "event_id": name,
                    "form_session_id": name,
                    "visitor_id": name,
                    "type": "view",
                    "occurred_at": "2026-01-01T00:00:00Z",
                }
                for name in names
            ],
        )
        staged.clear()
        command()
        return sum(staged)

    assert looked_up(product.rollup, 0, 300) == 0
    assert looked_up(product.rollup, 300, 400) == 100
    assert looked_up(product.rebuild, 400, 420) == 0
    assert looked_up(product.rollup, 420, 430) == 10
