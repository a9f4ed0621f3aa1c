"""Raw rows as they are read: six UTM values in one text, whatever characters they have."""

import pyarrow as pa

from jobs.facts.read_raw import read_events
from warehouse.connections.arrow import ArrowConnection
from warehouse.domain.hash_ids import SEPARATOR, text_id
from warehouse.domain.vocabulary import ANSWER, UTM_FIELDS

NONE = [""] * 6
SETS = [
    ["google", "cpc", "summer", "shoes", "a", "17"],
    ["1:a", "", "2:", ":", "3", "0:0:0:"],
    ["", "", "", "", "", "10:"],
    ["é😀", "ß:", "👩‍👧", "", "\x1f", " "],
    ["1", "1:", "1:1", "11", "", ""],
    ["11", ":1", "1", "1", "", ""],
]


def test_utm_values_are_read_as_they_are(connection: ArrowConnection) -> None:
    rows = [*SETS, NONE, SETS[0]]
    columns = {name: [row[index] for row in rows] for index, name in enumerate(UTM_FIELDS)}
    names = [f"e{number}" for number in range(len(rows))]
    raw = {"shop_key": [1] * len(rows), "event_id": names, **columns}
    connection.append("raw_event", pa.table(raw))
    read = read_events(connection, "shop_key = 1", {1: 7})
    ids = [text_id(SEPARATOR.join(row)) for row in SETS]
    utms = dict(zip(read.events["event_id"], read.events["utm"], strict=True))
    assert [utms[name] for name in names] == [*ids, 0, ids[0]]
    sets = {row.pop("utm"): row for row in read.utms.to_dict("records")}
    assert sets == {
        number: {"edition": 7, **dict(zip(UTM_FIELDS, row, strict=True))}
        for number, row in zip(ids, SETS, strict=True)
    }


def test_texts_that_answers_show_come_with_their_ids(connection: ArrowConnection) -> None:
    raw = {
        "shop_key": [1, 1, 2],
        "event_id": ["a", "b", "a"],
        "form_id": ["form", "form", "form"],
        "type": [ANSWER] * 3,
        "field_id": ["size", "size", ""],
        "value": ['"M"', '["M", "L"]', ""],
    }
    connection.append("raw_event", pa.table(raw))
    texts = read_events(connection, "true", {1: 7, 2: 8}).texts
    assert sorted(texts[["edition", "text"]].itertuples(index=False, name=None)) == [
        (7, "L"),
        (7, "M"),
        (7, "form"),
        (7, "size"),
        (8, "form"),
    ]
    assert all(
        text_id(text) == number for text, number in zip(texts["text"], texts["id"], strict=True)
    )
