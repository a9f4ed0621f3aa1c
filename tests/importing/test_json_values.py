"""JSON files of every shape, whole and broken, as records with their lines."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.importing.formats import json_values
from jobs.importing.formats.json_values import DECODE, json_records
from jobs.importing.portion import HIDDEN
from tests.importing.files import written

WITHIN = ("data", "list")


def read(path: Path) -> tuple[list[tuple[int, Any]], list[tuple[int, str]]]:
    """Line and record of all, and line and reason of what is broken."""
    some = list(json_records(path, WITHIN, DECODE))
    broken = [one for records in some for one in records.broken]
    assert {one.text for one in broken} <= {HIDDEN}
    found = [(line, record) for records in some for line, record in records.found]
    return found, [(one.line, one.reason) for one in broken]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("[]", []),
        (" \n[ ]\n", []),
        ('[{"a": 1}]', [(1, {"a": 1})]),
        ('[\n {"a": 1},\n\n {"a":\n 2}]', [(2, {"a": 1}), (4, {"a": 2})]),
        ('\ufeff{"a": 1}\n\n{"a": 2}', [(1, {"a": 1}), (3, {"a": 2})]),
        ('{\n"a": 1\n}\n{\n"a": 2}', [(1, {"a": 1}), (4, {"a": 2})]),
        ('{"data": [{"a": 1}, {"a": 2}], "next": [{"a": 3}]}', [(1, {"a": 1}), (1, {"a": 2})]),
        ('{"data": []}\n{"data": [{"a": 1}], "p": 1, "q": {}}', [(2, {"a": 1})]),
        ('{"code": 0, "data": {"list": [{"a": 1}], "page": 1}}', [(1, {"a": 1})]),
        ('[{"data": [{"a": 1}]},\n{"data": [{"a": 2}]}]', [(1, {"a": 1}), (2, {"a": 2})]),
        ('{"data": [{"a": "\\ud83d\\ude00"}]}', [(1, {"a": "😀"})]),
        ('{"data": "text", "a": 1}', [(1, {"data": "text", "a": 1})]),
    ],
)
@pytest.mark.parametrize("name", ["in.json", "in.json.gz"])
def test_shapes(tmp_path: Path, text: str, found: list[object], name: str) -> None:
    assert read(written(tmp_path / name, text.encode())) == (found, [])


@pytest.mark.parametrize(
    ("text", "lines", "broken"),
    [
        (b'{"a": 1}\n{"a": \n{"a": 2}', [1, 3], [(2, "not JSON")]),
        (b'{"a":\n{"a": 2}', [2], [(1, "not JSON")]),
        (b'{"a": 1}\n"text"\n{"a": "\xff"}', [1], [(2, "not a JSON object"), (3, "not JSON")]),
        (b'[{"a": 1},\n 2, "x", [{"a": 3}], null]', [1, 2],
         [(2, "not a JSON object")] * 3),
        (b'[{"a": 1},\n{"a": "\\ud83d"}]', [1], [(2, "half of a surrogate pair")]),
        (b'[{"a": 1},\n{"a": 2', [1], [(2, "not JSON: it is cut short: the rest is unreadable")]),
        (b'[{"a": 1}', [1], [(1, "not JSON: it is cut short: the rest is unreadable")]),
        (b'{"data": [{"a": 1}]', [1],
         [(1, "not JSON: it is cut short: the rest is unreadable")]),
        (b'[{"a": 1}\n{"a": 2}]', [1], [(2, "not JSON: , expected: the rest is unreadable")]),
        (b'[{"a": 1}, {"a": NaN}]', [1],
         [(1, "not JSON: NaN is no number: the rest is unreadable")]),
    ],
)  # fmt: skip
def test_what_is_broken_costs_no_more_than_it_must(
    tmp_path: Path, text: bytes, lines: list[int], broken: list[tuple[int, str]]
) -> None:
    found, reasons = read(written(tmp_path / "in.json", text))
    assert [line for line, _ in found] == lines
    assert reasons == broken


def test_of_a_truncated_archive_the_part_that_can_be_read_is(tmp_path: Path) -> None:
    rows = [{"a": str(number) * 50} for number in range(2_000)]
    whole = gzip.compress(json.dumps(rows).encode())
    path = tmp_path / "in.json.gz"
    path.write_bytes(whole[: len(whole) // 2])
    found, broken = read(path)
    assert [record for _, record in found] == rows[: len(found)]
    assert len(found) > 500
    assert broken == [(1, "not JSON: the archive is truncated: the rest is unreadable")]


@given(
    rows=st.lists(st.dictionaries(st.text(max_size=3), st.text() | st.integers(-5, 5), max_size=3)),
    size=st.integers(1, 40),
    indent=st.sampled_from([None, 1]),
    ascii=st.booleans(),
)
def test_values_may_be_cut_anywhere(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, object]],
    size: int,
    indent: int | None,
    ascii: bool,
) -> None:
    """However few bytes are read at once, the same records come out."""
    path = tmp_path_factory.getbasetemp() / "cut.json"
    text = json.dumps({"data": [{"x": row} for row in rows]}, indent=indent, ensure_ascii=ascii)
    path.write_bytes(text.encode("utf-8"))

    def blocks(_: Path) -> object:
        data = path.read_bytes()
        return iter([(data[start : start + size], start) for start in range(0, len(data), size)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "blocks_of", blocks)
        patch.setattr(json_values, "_AHEAD", 20)
        patch.setattr(json_values, "_is_lines", lambda *_: False)
        found, broken = read(path)
    assert [record for _, record in found] == [{"x": row} for row in rows]
    assert broken == []
