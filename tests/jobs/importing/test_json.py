"""JSON files of every shape, whole and broken, as records with their lines."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.importing.files import json as json_files
from jobs.importing.files.chunk import HIDDEN
from jobs.importing.files.json import json_records, json_values
from tests.support.import_files import written

LIST_MEMBERS = ("data", "list")


def read(path: Path) -> tuple[list[tuple[int, Any]], list[tuple[int, str]]]:
    """Number and record of all, and number and reason of each fault."""
    parts = list(json_records(path, LIST_MEMBERS, {}))
    broken = [line for _, lines, _ in parts for line in lines]
    assert {line.text for line in broken} <= {HIDDEN}
    records = [pair for pairs, _, _ in parts for pair in pairs]
    return records, [(line.line, line.reason) for line in broken]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("[]", []),
        (" \n[ ]\n", []),
        ('[{"a": 1}]', [(1, {"a": 1})]),
        ('[\n {"a": 1},\n\n {"a":\n 2}]', [(1, {"a": 1}), (2, {"a": 2})]),
        ('\ufeff{"a": 1}\n\n{"a": 2}', [(1, {"a": 1}), (3, {"a": 2})]),
        ('{\n"a": 1\n}\n{\n"a": 2}', [(1, {"a": 1}), (2, {"a": 2})]),
        ('{"data": [{"a": 1}, {"a": 2}], "next": [{"a": 3}]}', [(1, {"a": 1}), (2, {"a": 2})]),
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


CUT_SHORT = "not JSON: it is cut short: the rest is unreadable"
MALFORMED = "not JSON: it is malformed: the rest is unreadable"


@pytest.mark.parametrize(
    ("text", "numbers", "broken"),
    [
        (b'{"a": 1}\n{"a": \n{"a": 2}', [1, 3], [(2, "not JSON")]),
        (b'{"a":\n{"a": 2}', [2], [(1, "not JSON")]),
        (b'{"a": 1}\n"text"\n{"a": "\xff"}', [1], [(2, "not a JSON object"), (3, "not JSON")]),
        (b'[{"a": 1},\n 2, "x", [{"a": 3}], null]', [1, 4],
         [(2, "not a JSON object"), (3, "not a JSON object"), (5, "not a JSON object")]),
        (b'{"data": [1, {"a": 1}],\n"shop_id": [2]}', [1], []),
        (b'[{"a": 1}]\n\n{"data":\n[{"a": 2}]} {"a":\n3}', [1, 2, 3], []),
        (b'[{"a": 1},\n{"a": 2', [1], [(2, CUT_SHORT)]),
        (b'[{"a": 1}', [1], [(2, CUT_SHORT)]),
        (b'{"data": [{"a": 1}]', [1], [(2, CUT_SHORT)]),
        (b'[{"a": 1}\n{"a": 2}]', [1], [(2, MALFORMED)]),
        (b'[{"a": 1}, {"a": NaN}]', [1], [(2, MALFORMED)]),
        (b'[{"a": 1}, {"a": "\xff"}]', [1], [(2, MALFORMED)]),
    ],
)  # fmt: skip
def test_what_is_broken_costs_no_more_than_it_must(
    tmp_path: Path, text: bytes, numbers: list[int], broken: list[tuple[int, str]]
) -> None:
    found, reasons = read(written(tmp_path / "in.json", text))
    assert [number for number, _ in found] == numbers
    assert reasons == broken


def test_of_a_truncated_archive_the_part_that_can_be_read_is(tmp_path: Path) -> None:
    rows = [{"a": str(number) * 50} for number in range(2_000)]
    whole = gzip.compress(json.dumps(rows).encode())
    path = tmp_path / "in.json.gz"
    path.write_bytes(whole[: len(whole) // 2])
    found, broken = read(path)
    assert [record for _, record in found] == rows[: len(found)]
    assert len(found) > 500
    assert broken == [
        (len(found) + 1, "not JSON: the archive is truncated: the rest is unreadable")
    ]


@pytest.mark.parametrize("digits", [4_300, 5_000, 3 << 20])
@pytest.mark.parametrize("begin", ["", "1e", "0.", "1.5e-"])
def test_a_number_of_any_length_costs_no_more_than_its_record(
    tmp_path: Path, digits: int, begin: str
) -> None:
    """ijson's parser in C ends the process where Python refuses to convert a number."""
    number = begin + "9" * digits
    path = written(tmp_path / "in.json", f'[{{"a": 1}}, {{"a": {number}}}, {{"a": 2}}]'.encode())
    records, broken = read(path)
    assert records[0] == (1, {"a": 1})
    if "e" not in begin:
        assert records[2] == (3, {"a": 2})
        assert (
            len(records[1][1]["a"].as_tuple().digits if begin else str(records[1][1]["a"])) < digits
        )
    assert [line for line, _ in broken] == ([2] if "e" in begin else [])


def test_more_behind_a_long_list_is_told(tmp_path: Path) -> None:
    rows = [{"a": "x" * 500} for _ in range(200)]
    page = json.dumps({"data": rows}, indent=1)
    one, two = read(written(tmp_path / "in.json", f"{page}\n{page}".encode()))
    assert len(one) == len(rows)
    assert two == [
        (
            len(rows) + 1,
            "not JSON: more follows the first list: write each document on a line of its own: the rest is "
            "unreadable",
        )
    ]
    lines = json.dumps({"data": rows})
    assert len(read(written(tmp_path / "in.json", f"{lines}\n{lines}".encode()))[0]) == 2 * len(
        rows
    )


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

    def parts(_: Path) -> object:
        data = path.read_bytes()
        starts = range(0, len(data), size)
        return iter([iter([(data[start : start + size], start) for start in starts])])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "parts_of", parts)
        patch.setattr(json_files, "_is_lines", lambda *_: False)
        records, broken = read(path)
    assert [record for _, record in records] == [{"x": row} for row in rows]
    assert broken == []


def test_a_list_needs_no_more_memory_than_a_record(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    with path.open("w") as file:
        file.write('{"data": [{}')
        file.writelines(f",{json.dumps({'a': str(n) * 500})}" for n in range(20_000))
        file.write("]}")
    tracemalloc.start()
    count = sum(1 for _ in json_values(path, LIST_MEMBERS))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_001
    assert peak < path.stat().st_size / 3
