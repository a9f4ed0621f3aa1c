"""Raw rows as they are read: what six texts in one are, whatever stands in them."""

import pyarrow as pa

from jobs.facts.raw import Words, read_events
from jobs.facts.working import Working
from warehouse.ids import SEPARATOR, text_id
from warehouse.vocabulary import UTM_FIELDS

NONE = [""] * 6
SETS = [
    ["google", "cpc", "summer", "shoes", "a", "17"],
    ["1:a", "", "2:", ":", "3", "0:0:0:"],
    ["", "", "", "", "", "10:"],
    ["é😀", "ß:", "👩‍👧", "", "\x1f", " "],
    ["1", "1:", "1:1", "11", "", ""],
    ["11", ":1", "1", "1", "", ""],
]


def test_utm_values_are_read_as_they_are(work: Working) -> None:
    rows = [*SETS, NONE, SETS[0]]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(UTM_FIELDS)}
    names = [f"e{number}" for number in range(len(rows))]
    raw = {"shop_key": [1] * len(rows), "event_id": names, **columns}
    work.bulk.append("raw_event", pa.table(raw))
    events, sets = read_events(work.bulk, "shop_key = 1", {1: 7}, Words())
    ids = [text_id(SEPARATOR.join(row)) for row in SETS]
    given = dict(zip(events["event_id"], events["utm"], strict=True))
    assert [given[name] for name in names] == [*ids, 0, ids[0]]
    known = {row.pop("utm"): row for row in sets.to_dict("records")}
    assert known == {
        number: {"edition": 7, **dict(zip(UTM_FIELDS, row, strict=True))}
        for number, row in zip(ids, SETS, strict=True)
    }
