"""Rules that hold for every rollup: one per summary, nothing from nothing, and linear in its units."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.facts.facts import Facts
from jobs.rollups import ROLLUPS, difference
from jobs.rollups.parts import DailyRows
from tests.support.any_facts import some_facts
from tests.support.depth import examples
from tests.support.rollup_frames import facts, rolled, rows
from warehouse.catalogue import SUMMARIES, SUMMARY
from warehouse.daily.writer import sum_rows

# Every example goes through every rollup.
few = examples(15)


def test_one_stem_for_the_summary_its_table_its_rollup_and_its_test() -> None:
    names = [summary.name for summary in SUMMARIES]
    assert sorted(ROLLUPS) == sorted(names)
    assert [summary.table for summary in SUMMARIES] == [f"daily_{name}" for name in names]
    assert all(Path(__file__).with_name(f"test_{name}.py").exists() for name in names)


@pytest.mark.parametrize("name", ROLLUPS)
def test_nothing_comes_of_nothing(name: str) -> None:
    assert rolled(name, facts()) == []


@few
@given(whole=some_facts(), ours=st.sets(st.integers(0, 21)))
def test_disjoint_units_add_up(whole: Facts, ours: set[int]) -> None:
    for name, roll in ROLLUPS.items():
        first, second = _split(whole, SUMMARY[name].unit, ours)
        assert _sum(name, roll(first), roll(second)) == _sum(name, roll(whole))


@few
@given(old=some_facts(), new=some_facts())
def test_the_difference_makes_new_rows_of_old(old: Facts, new: Facts) -> None:
    for name, roll in ROLLUPS.items():
        before, after = roll(old), roll(new)
        delta = _columns(difference(name, after, before))
        measures = [delta[measure] for measure in SUMMARY[name].measures]
        assert np.logical_or.reduce(measures).all()
        assert _sum(name, before, delta) == _sum(name, after)


@few
@given(some=some_facts(), seed=st.integers(0, 9))
def test_the_order_of_facts_does_not_matter(some: Facts, seed: int) -> None:
    shuffled = Facts(
        **{
            field.name: getattr(some, field.name).sample(frac=1, random_state=seed)
            for field in fields(some)
        }
    )
    for name in ROLLUPS:
        assert rolled(name, shuffled) == rolled(name, some)


@few
@given(some=some_facts())
def test_what_can_be_filtered_adds_up_to_what_is_not(some: Facts) -> None:
    """Whatever sessions are chosen, and in whatever parts, they add up to all of them."""
    for summary in SUMMARIES:
        # Events are of no session, but of `all_forms` alone.
        if summary.crossed and summary.name != "all_forms":
            crossed = ROLLUPS[summary.crossed](some)
            if "is_one" in crossed:
                answers = np.flatnonzero(crossed["is_one"] == 1)
                values = np.flatnonzero(crossed["value"] != 0)
                places = np.concatenate([answers, values])
                crossed = {name: column[places] for name, column in crossed.items()}
                crossed["value"][: len(answers)] = 0
                # They are of an answer, whatever it chose.
                crossed["lists"] = crossed.get("lists", crossed["value"]) * (crossed["value"] == 0)
            own = {name: crossed[name] for name in summary.columns}
            assert _sum(summary.name, own) == _sum(summary.name, ROLLUPS[summary.name](some))


def test_money_is_exact_beyond_what_a_float_holds() -> None:
    large = [
        {"order": 1, "gross": 2**53 + 1, "refunded": 2**62},
        {"order": 2, "gross": 1},
        {"order": 3, "gross": 1},
    ]
    (row,) = rolled("attribution", facts(orders=large))
    assert (row["gross"], row["refunded"]) == (2**53 + 3, 2**62)


def test_a_difference_leaves_out_what_stays() -> None:
    names = SUMMARY["form_orders"].columns
    old = np.array([[1, 5, 7, 4, 1, 100, 0], [1, 6, 7, 4, 2, 30, 0]])
    new = np.array([[1, 5, 7, 4, 1, 100, 40], [1, 6, 7, 4, 2, 30, 0]])
    columns = (dict(zip(names, some.T, strict=True)) for some in (new, old))
    delta = difference("form_orders", *columns)
    assert rows("form_orders", _columns(delta)) == [
        {"edition": 1, "day": 5, "form": 7, "submitted": 4, "refunded": 40}
    ]


def _sum(name: str, *parts: DailyRows) -> list[dict[str, int]]:
    """The rows that are stored once all of these have been added."""
    return rows(
        name, _columns(sum_rows(SUMMARY[name], pa.concat_tables(pa.table(one) for one in parts)))
    )


def _columns(table: pa.Table) -> DailyRows:
    return {name: table[name].to_numpy() for name in table.column_names}


def _split(whole: Facts, unit: str, ours: set[int]) -> tuple[Facts, Facts]:
    """The same facts as two sets that share no unit."""
    sessions, orders = pd.DataFrame(whole.sessions), pd.DataFrame(whole.orders)
    if unit == "customers":
        in_first, orders_in_first = sessions["customer"].isin(ours), orders["customer"].isin(ours)
    elif unit == "visits":
        in_first = (sessions["visitor"] + sessions["form"] % 3).isin(ours)
        orders_in_first = orders["order"] < 0
    else:
        in_first = sessions["session"].isin(ours)
        orders_in_first = orders["order"].isin(ours)
    if unit != "customers":
        # An order goes with the session that it is credited to.
        of_first = orders["session"].isin(sessions["session"][in_first])
        orders_in_first = orders_in_first.where(orders["session"] == 0, of_first)
    events_in_first = pd.DataFrame(whole.events).index.isin(list(ours))
    return (
        _only(whole, in_first, orders_in_first, events_in_first),
        _only(whole, ~in_first, ~orders_in_first, ~events_in_first),
    )


def _only(
    whole: Facts,
    sessions: "pd.Series[bool]",
    orders: "pd.Series[bool]",
    events: npt.NDArray[np.bool_],
) -> Facts:
    kept = pd.DataFrame(whole.sessions)[sessions]
    bought = pd.DataFrame(whole.orders)[orders]

    def of(children: pd.DataFrame, key: str, parents: pd.DataFrame) -> pd.DataFrame:
        return children[np.isin(children[key], parents[key])]

    return Facts(
        sessions=kept,
        steps=of(whole.steps, "session", kept),
        answers=of(whole.answers, "session", kept),
        issues=of(whole.issues, "session", kept),
        orders=bought,
        order_codes=of(whole.order_codes, "order", bought),
        events=pd.DataFrame(whole.events)[events],
        quarters=of(pd.DataFrame(whole.quarters), "session", kept),
    )
