"""The first rows of an answer, chosen in arrays: those that a plain sort puts first."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, insert

from tests.support.clients import Client, statements
from tests.support.depth import examples
from tests.support.shop_builder import ShopBuilder, day, writing
from warehouse.catalogue import SUMMARY
from warehouse.daily.group_sum import Column
from warehouse.daily.packed_rows import layout
from warehouse.daily.reader import Sums
from warehouse.domain.hash_ids import text_ids
from warehouse.tables import DAILY, dim_text
from web.api.endpoint import ROW_LIMITS
from web.api.row_limit import OTHER, RowLimits, limit_rows

PATH = "/v1/discounts/performance?range=2026-03-01..2026-03-01"
# Beyond what a float tells apart; and texts whose order by code point is not that of UTF-16.
FIGURES = st.sampled_from([0, 1, 2**53, 2**53 + 1, 2**62, -1])
TEXTS = st.text(st.sampled_from("abé\ufffd\U0001f600"), max_size=3)


@given(
    rows=st.lists(st.tuples(TEXTS, TEXTS, FIGURES, FIGURES), unique_by=lambda row: row[:2]),
    figures=st.integers(0, 2),
    limit=st.integers(1, 12),
)
@examples(200)
def test_they_are_those_of_a_plain_sort(
    rows: list[tuple[str, str, int, int]], figures: int, limit: int
) -> None:
    columns = [np.array([row[place] for row in rows], dtype=np.int64) for place in (2, 3)]
    looked_up = 0

    def texts_of(some: Column) -> Iterator[tuple[str, str]]:
        nonlocal looked_up
        for index in some.tolist():
            looked_up += 1
            yield rows[index][:2]

    sums = Sums({"one": columns[0] // 64, "two": columns[1] // 64})
    found = limit_rows(sums, columns[:figures], texts_of, limit)
    ordered = sorted(rows, key=lambda row: ([-row[2], -row[3]][:figures], row[:2]))
    first, others = ordered[:limit], ordered[limit:]
    expected = [{"one": row[2] // 64, "two": row[3] // 64} for row in first]
    if others:
        one, two = sum(row[2] // 64 for row in others), sum(row[3] // 64 for row in others)
        expected.append({"one": one, "two": two})
    assert list(found.sums.rows()) == expected
    assert found.texts == [row[:2] for row in first]
    assert found.others == len(others)
    assert looked_up <= len(rows)


@pytest.fixture
def discounts(engine: Engine, shop: ShopBuilder) -> ShopBuilder:
    """A shop with 10,002 discounts: as many as may be shown, and two."""
    names = [f"d{number:05}" for number in range(10_002)]
    ids = text_ids(names)
    # Discount, issued, orders, and four more figures.
    lines = [(id, 1, 0, 0, 0, 0, 0) for id in ids]
    cells = np.array(lines, dtype=layout(SUMMARY["discount"]))
    packed = {"day": day("2026-03-01"), "packed_dims": cells.tobytes()}
    with writing(engine) as connection:
        connection.execute(
            insert(dim_text),
            [
                {"edition": shop.edition, "id": id, "text": name}
                for id, name in zip(ids, names, strict=True)
            ],
        )
        connection.execute(insert(DAILY["discount"]), {"edition": shop.edition, **packed})
    return shop


def test_ten_thousand_rows(client: FlaskClient, discounts: ShopBuilder) -> None:
    one = Client(client, discounts.mint())
    body = one.get(PATH).get_json()
    rows: list[dict[str, Any]] = body["data"]
    assert (len(rows), body["meta"]["otherRows"]) == (10_001, 2)
    assert [row["discountId"] for row in rows[-2:]] == ["d09999", OTHER]
    assert (rows[-1]["code"], rows[-1]["issued"]) == (OTHER, 2)
    table = one.get(f"{PATH}&format=csv")
    assert table.headers["X-Other-Rows"] == "2"
    last = table.get_data(as_text=True).splitlines()[-1]
    assert last == "(other),(other),2,0,0,0.0,0,0,0,0,0"
    assert "X-Other-Rows" not in one.get("/v1/discounts/performance?format=csv").headers


def test_texts_of_rows_that_are_not_shown_are_read_only_where_they_decide(
    client: FlaskClient, shop: ShopBuilder
) -> None:
    client.application.config[ROW_LIMITS] = RowLimits(rows=2)
    one = Client(client, shop.mint())
    cells = [("a", 0, 9), ("b", 0, 8), ("c", 0, 7), ("d", 0, 7)]
    shop.daily("discount", "2026-03-01", cells=cells)
    with statements() as asked:
        assert len(one.get(PATH).get_json()["data"]) == 3
    # The edition, and the ids of the two that are shown.
    assert [text.count("?") for text in asked if "dim_text.text" in text] == [3]
