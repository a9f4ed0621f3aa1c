"""Rows of ad spend finer than a campaign: they add up, restate their campaign-day, and tell their level."""

import json
from typing import Any

import pytest

from jobs.importing.formats.ads.readers import segment_of
from jobs.importing.values.errors import InvalidValue
from tests.support.ad_reports import META_ROW, ROWS, SHOP, sample, stored, take
from tests.support.import_files import SAMPLES, spend
from tests.support.warehouse import Warehouse
from warehouse.domain.text_rules import MAX_ID


def test_a_restated_row_replaces_its_campaign_day_alone(sqlite_warehouse: Warehouse) -> None:
    sqlite_warehouse.take_file("ad-spend", SAMPLES / "meta.json", SHOP)
    row = sample("meta.json")["data"][1] | {"spend": "0.09", "ad_name": "Video A, new name"}
    counts = take(sqlite_warehouse, [row])
    assert (counts["replaced"], counts["withdrawn"]) == (1, 1)
    # The columns of a table may be in any order.
    names = [*reversed(row)]
    table = f"{','.join(names)}\n{','.join(json.dumps(row[n] + '') for n in names)}\n"
    assert take(sqlite_warehouse, table, "in.csv")["duplicate"] == 1
    was = ROWS["meta.json"]
    restated = (*was[2][:7], "0.09", *was[2][8:])
    others = [one for one in was if (one[2], one[4]) != (restated[2], restated[4])]
    assert stored(sqlite_warehouse) == sorted([*others, restated])


def test_spend_at_two_levels_is_told(warehouse: Warehouse) -> None:
    by_ad = [row | {"campaign_id": "9"} for row in sample("meta.json")["data"][1:3]]
    by_campaign = META_ROW | {"campaign_id": "9"}
    assert "mixed_levels" not in take(warehouse, by_ad)
    assert "mixed_levels" not in take(warehouse, [META_ROW, by_campaign | {"account_id": "8"}])
    assert take(warehouse, [*by_ad, by_campaign])["mixed_levels"] == 1
    # Rows that are stated again at one level are at that level.
    assert "mixed_levels" not in take(warehouse, [by_campaign])
    by_set = {name: value for name, value in by_ad[0].items() if name != "ad_id"}
    others = [by_set | {"campaign_id": "10"}, by_ad[1] | {"campaign_id": "10"}]
    assert take(warehouse, others)["mixed_levels"] == 1
    # Our own files name their segments themselves.
    rows = [spend(), spend(segment="ad=1"), spend(segment="desktop")]
    assert "mixed_levels" not in warehouse.take("ad-spend", rows)


def test_no_two_sets_of_keys_share_a_segment() -> None:
    given: list[list[tuple[str, Any]]] = [
        [],
        [("adset", "1"), ("ad", "2")],
        [("adset", "1/ad=2")],
        [("adset", "1%2Fad"), ("ad", "")],
        [("ad", "2"), ("age", None)],
        [("name", "é" * 255)],
        [("name", "é" * 256)],
    ]
    found = [segment_of(keys) for keys in given]
    assert found[:5] == ["", "adset=1/ad=2", "adset=1%2Fad%3D2", "adset=1%252Fad", "ad=2"]
    assert len(set(found)) == len(found)
    assert all(len(segment) <= MAX_ID for segment in found)
    assert segment_of([("ad", 2)]) == "ad=2"
    with pytest.raises(InvalidValue, match="ad: an object is not a text"):
        segment_of([("ad", {"id": 1})])
