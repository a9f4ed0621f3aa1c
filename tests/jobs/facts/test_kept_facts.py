"""Kept facts: merged with the partial facts of the other events, they are those of all events."""

from random import Random

import pandas as pd
from hypothesis import given
from pandas.testing import assert_frame_equal

from jobs.facts import kept_facts_io, read_raw
from jobs.facts.kept_facts import IDENTIFIERS, keep, with_kept
from jobs.facts.partials import Partials, fold
from tests.support.examples import EXAMPLES, start_over
from tests.support.product import Product
from tests.support.strategies import seeds, worlds
from tests.support.worlds import World
from warehouse import tables
from warehouse.connections.arrow import ArrowConnection, open_arrow

EDITION = 7


def partials_of(connection: ArrowConnection, shop_key: int, which: str) -> Partials:
    editions, own = {shop_key: EDITION}, f"shop_key = {shop_key}"
    return fold(
        read_raw.read_events(connection, f"{own} AND {which}", editions),
        read_raw.read_orders(connection, own, editions),
    )


def keep_part(connection: ArrowConnection, shop_key: int, which: str, batch_id: int) -> None:
    """Keep the facts of some events."""
    which = f"shop_key = {shop_key} AND {which}"
    columns = ", ".join(("event_id", *IDENTIFIERS))
    rows = connection.rows_of(tables.raw_event, f"SELECT {columns} FROM raw_event WHERE {which}")
    editions = {shop_key: EDITION}
    events = read_raw.read_events(connection, which, editions)
    orders = read_raw.read_orders(connection, "false", editions)
    if rows.num_rows:
        facts = keep(events, orders, rows.to_pandas())
        kept_facts_io.write(connection, batch_id, shop_key, facts)


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(list(rows)).reset_index(drop=True)[sorted(rows)]


@given(given_world=worlds(), seed=seeds)
@EXAMPLES
def test_the_parts_give_what_all_gave(sqlite_url: str, given_world: World, seed: int) -> None:
    """However the events are shared out, and some of them kept twice."""
    product, rng = Product(sqlite_url), Random(seed)
    start_over(product, given_world)
    for kind in ("shops", "events", "orders"):
        product.load(kind, given_world.records[kind])
    product.close()
    with open_arrow(product.url) as connection:
        for shop_key in connection.table("SELECT shop_key FROM shop").column(0).to_pylist():
            expected = partials_of(connection, shop_key, "true")
            modulus, left = rng.choice((2, 3, 5)), rng.randrange(5)
            part = f"CAST(SUBSTR(event_id, 2) AS BIGINT) % {modulus}"
            for number in range(modulus):
                if number != left:
                    keep_part(connection, shop_key, f"{part} = {number}", number + 1)
            keep_part(connection, shop_key, f"{part} IN (0, 1)", modulus + 1)
            kept = kept_facts_io.read(connection, {shop_key: EDITION})
            rest = partials_of(connection, shop_key, f"{part} = {left}")
            found = with_kept(rest, [part[1:] for part in kept])
            for name, rows in vars(expected).items():
                assert_frame_equal(in_order(getattr(found, name)), in_order(rows), obj=name)
            connection.execute("DELETE FROM kept_facts")
            connection.commit()
