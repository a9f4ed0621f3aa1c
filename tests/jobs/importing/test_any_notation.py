"""A table of ad spend that is written from known spend, in any notation, packing and form of ids, gives these
sums or is refused: never a third."""

import gzip
import io
import zipfile
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.importing.files.chunk import UnreadableFile
from jobs.importing.files.detect import NO_OPTIONS, ImportOptions, chunks_of
from jobs.importing.import_file import checked, readable
from jobs.importing.kinds import KINDS
from jobs.importing.shops import ImportedShops
from tests.support.depth import examples
from tests.support.hashing import HASHER

SHOPS = ImportedShops({"a.example": 1}, {1: "EUR"})
KIND = KINDS["ad-spend"]
QUIET = settings(examples(150), suppress_health_check=list(HealthCheck), deadline=None)
COLUMNS: Final = (
    "date",
    "provider",
    "campaign_id",
    "campaign_name",
    "currency",
    "spend",
    "impressions",
    "clicks",
)
KEPT: Final = ("Day", "Platform", "Campaign ID", "Campaign", "Currency", "Cost", "Impr.", "Clicks")

# (thousands, decimal mark)
marks = st.sampled_from(
    [(t, d) for t in ("", ",", ".", " ", "\u00a0", "\u202f", "'", "\u2019") for d in ".," if t != d]
)
days = st.dates(date(2026, 1, 1), date(2026, 10, 31))
MONTHS: Final = (
    "Jan",
    "Feb",
    "March",
    "Apr",
    "May",
    "Juni",
    "July",
    "Aug",
    "Sept",
    "Okt",
    "November",
    "Dez",
)
WAYS: Final[dict[str, Callable[[date], str]]] = {
    "iso": lambda day: f"{day}",
    "midnight": lambda day: f"{day} 00:00:00",
    "dots": lambda day: f"{day:%d.%m.%Y}",
    "slashes": lambda day: f"{day:%m/%d/%Y}",
    "American": lambda day: f"{day.month}/{day.day}/{day:%y} 12:00:00 AM",
    "words": lambda day: f"{day.day}. {MONTHS[day.month - 1]} {day.year}",
    "weekday": lambda day: f"{day:%a}, {MONTHS[day.month - 1]} {day.day}, {day.year}",
    "compact": lambda day: f"{day:%Y%m%d}",
}
IDS: Final[list[Callable[[int], str]]] = [
    str, str, lambda id: f"{id}.0", lambda id: f"{id:.4E}", lambda id: str(float(id)),
]  # fmt: skip
PLATFORMS: Final = {
    "meta": "Facebook Ads",
    "google": "Google",
    "tiktok": "TikTok",
    "pinterest": "Pinterest",
}


def grouped(number: Decimal, thousands: str, mark: str) -> str:
    text = f"{abs(number):,f}"
    return text.replace(",", "T").replace(".", mark).replace("T", thousands)


@st.composite
def spends(draw: st.DrawFn) -> list[dict[str, Any]]:
    number = draw(st.integers(1, 6))
    base = draw(st.sampled_from([1, 10**12, 120_210_000_000_000_000, 10**17]))
    step = draw(st.sampled_from([1, 7, 1000]))
    decimals = draw(st.sampled_from([0, 2, 2, 3]))
    return [
        {
            "date": draw(days),
            "provider": draw(st.sampled_from(sorted(PLATFORMS))),
            "campaign_id": base + step * place,
            "campaign_name": draw(st.sampled_from(["Brand", "Spring; new", "Total", "10,5"])),
            "currency": "EUR",
            "spend": Decimal(draw(st.integers(-999, 5_000_000))).scaleb(-decimals),
            "impressions": draw(st.integers(0, 2_000_000)),
            "clicks": draw(st.integers(0, 2_000)),
        }
        for place in range(number)
    ]


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, list[list[str]], list[dict[str, Any]]]:
    """(the separator, the cells with their header, the rows that they are of)."""
    rows = draw(spends())
    thousands, mark = draw(marks)
    money = draw(st.sampled_from(["{}", "€{}", "{} EUR", "US$ {}"]))
    below = draw(st.sampled_from(["-{}", "\u2212{}", "({})"]))
    way = WAYS[draw(st.sampled_from(sorted(WAYS)))]
    as_id = draw(st.sampled_from(IDS))
    cells = [list(draw(st.sampled_from([COLUMNS, KEPT])))]
    for row in rows:
        spend = money.format(grouped(row["spend"], thousands, mark))
        cells.append([
            way(row["date"]), PLATFORMS[row["provider"]], as_id(row["campaign_id"]), row["campaign_name"],
            row["currency"], below.format(spend) if row["spend"] < 0 else spend,
            grouped(Decimal(row["impressions"]), thousands, mark), str(row["clicks"]),
        ])  # fmt: skip
    if draw(st.booleans()):
        spend, shown, clicks = (
            sum(row[name] for row in rows) for name in ("spend", "impressions", "clicks")
        )
        total = money.format(grouped(spend, thousands, mark))
        total = below.format(total) if spend < 0 else total
        cells.append(
            [
                "Total",
                "",
                "",
                "",
                "EUR",
                total,
                grouped(Decimal(shown), thousands, mark),
                str(clicks),
            ]
        )
    return draw(st.sampled_from(",;\t")), cells, rows


def packed(separator: str, cells: list[list[str]], packing: str, folder: Path) -> Path:
    def line(row: list[str]) -> str:
        return separator.join(f'"{cell}"' if set(cell) & set(",;\t\n") else cell for cell in row)

    end = "\r" if packing == "cr" else "\r\n"
    head, *rows = map(line, cells)
    above = (
        f"sep={separator}{end}"
        if packing == "sep"
        else f"My spend{end}"
        if packing == "title"
        else ""
    )
    text = above + end.join([head, *rows, ""])
    data = text.encode("utf-16" if packing == "utf-16" else "utf-8")
    path = folder / (
        "in.csv.gz" if packing == "gz" else "in.zip" if packing.startswith("zip") else "in.csv"
    )
    if packing == "gz":
        data = gzip.compress(data)
    elif packing.startswith("zip"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("__MACOSX/._1.csv", "\0")
            middle = len(rows) // 2 if packing == "zip of two" else len(rows)
            for number, part in enumerate((rows[:middle], rows[middle:])):
                archive.writestr(f"{number}.csv", end.join([head, *part, ""]))
        data = file.getvalue()
    path.write_bytes(data)
    return path


PACKINGS: Final = ("plain", "sep", "title", "cr", "utf-16", "gz", "zip", "zip of two")


def read(path: Path, options: ImportOptions = NO_OPTIONS) -> tuple[dict[Any, Any], int]:
    """(spend, impressions and clicks by provider, name and day), and the number of rejects. Raises
    UnreadableFile."""
    found: dict[Any, Any] = {}
    rejected = 0
    chunks = readable(path, chunks_of(path, KIND, options, SHOPS))
    for columns, rows in checked(KIND, chunks, SHOPS, HASHER, str(path)):
        rejected += columns.refused_rows() + len(columns.chunk.broken)
        for row, is_taken in zip(rows.to_pylist(), columns.accepted(), strict=True):
            if is_taken:
                key = row["provider"], row["campaign_id"], row["day"]
                assert key not in found
                found[key] = Decimal(row["spend"]), row["impressions"], row["clicks"]
    return found, rejected


def known(rows: list[dict[str, Any]]) -> dict[Any, Any]:
    epoch = date(1970, 1, 1)
    return {
        (row["provider"], str(row["campaign_id"]), (row["date"] - epoch).days): (
            row["spend"], row["impressions"], row["clicks"]
        )
        for row in rows
    }  # fmt: skip


@QUIET
@given(tables(), st.sampled_from(PACKINGS))
def test_the_known_sums_or_a_refusal(tmp_path_factory: Any, table: Any, packing: str) -> None:
    separator, cells, rows = table
    path = packed(separator, cells, packing, tmp_path_factory.mktemp("any"))
    try:
        found, rejected = read(path)
    except UnreadableFile:
        return
    assert rejected == 0
    # A campaign that is called so and has the sum of its day is taken for the sum.
    missing = known(rows).keys() - found.keys()
    named = {(row["provider"], str(row["campaign_id"])): row["campaign_name"] for row in rows}
    assert {named[key[:2]] for key in missing} <= {"Total"}
    assert found == {key: value for key, value in known(rows).items() if key not in missing}


@QUIET
@given(tables(), st.sampled_from(PACKINGS))
def test_a_clear_table_is_read(tmp_path_factory: Any, table: Any, packing: str) -> None:
    """With a number of two decimals, short ids and a day after the twelfth nothing is open."""
    separator, cells, _ = table
    sure = ["13.11.2025", "TikTok", "7", "Sure", "EUR", "1234567,89", "5", "5"]
    cells = [cells[0], sure, *([*sure[:2], str(n), *sure[3:]] for n in range(10, 13))]
    found, rejected = read(packed(separator, cells, packing, tmp_path_factory.mktemp("clear")))
    assert rejected == 0
    assert set(found.values()) == {(Decimal("1234567.89"), 5, 5)}
    assert len(found) == 4
