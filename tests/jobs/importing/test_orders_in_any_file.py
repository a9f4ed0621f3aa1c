"""Known orders in a file of any notation, packing and form of ids: the known sums, or a refusal.

Files are written here from the orders, as the documents of each system say. A file that is refused writes
nothing; of one that is not, each order is there, or is a reject."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from jobs.importing.files.chunk import UnreadableFile
from tests.jobs.importing.conftest import NewWarehouse
from tests.support.depth import examples
from tests.support.import_files import as_csv, as_ndjson
from tests.support.strategies import seeds
from tests.support.warehouse import Warehouse

FILES: Final = settings(
    examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
SHOP: Final = "a.example"
NOW: Final = datetime(2026, 10, 20, tzinfo=UTC)
SECOND: Final = timedelta(seconds=1)
STANDING: Final = (
    "SELECT order_id, created_at, gross, refunded FROM raw_order r WHERE test = 0 AND NOT EXISTS "
    "(SELECT 1 FROM raw_order n WHERE n.shop_key = r.shop_key AND n.order_id = r.order_id AND "
    "(n.updated_at, n.precedence, n.content) > (r.updated_at, r.precedence, r.content))"
)


@dataclass(frozen=True)
class Known:
    """An order as it was: amounts in cents. `removed`: by an edit, unpaid; `brought`: whether it was entered
    into Shopify long after it was placed."""

    id: int
    placed: datetime
    total: int
    refunds: tuple[int, ...] = ()
    removed: int = 0
    brought: bool = False
    cancelled: bool = False
    code: str = ""

    @property
    def refunded(self) -> int:
        lost = max(sum(self.refunds), self.total - self.left)
        return self.total if self.cancelled else min(self.total, lost)

    @property
    def left(self) -> int:
        return max(0, self.total - sum(self.refunds) - self.removed)

    @property
    def entered(self) -> datetime:
        return self.placed + timedelta(days=200 if self.brought else 0)

    @property
    def updated(self) -> datetime:
        return self.entered + timedelta(days=9)

    def refunded_at(self, number: int) -> datetime:
        return self.entered + timedelta(days=1 + number)


@st.composite
def some_orders(draw: st.DrawFn) -> list[Known]:
    ids = draw(st.lists(st.integers(1, 10**15 - 1), min_size=1, max_size=5, unique=True))
    days = st.integers(0, 60).map(
        lambda days: datetime(2026, 1, 5, 9, 30, tzinfo=UTC) + timedelta(days)
    )
    return [
        Known(
            id,
            draw(days),
            draw(st.integers(0, 10**7)),
            tuple(draw(st.lists(st.integers(1, 10**4), max_size=2))),
            draw(st.sampled_from([0, 0, 40, 10**4])),
            draw(st.booleans()),
            draw(st.sampled_from([False, False, True])),
            draw(st.sampled_from(["", "", "SAVE10"])),
        )
        for id in ids
    ]


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def at(moment: datetime, rng: Random) -> str:
    """An instant in a notation of the APIs."""
    zone = timezone(timedelta(hours=rng.choice([0, 2, -7])))
    written = moment.astimezone(zone).isoformat()
    return written.replace("+00:00", "Z") if rng.random() < 0.5 else written


# Ids as systems and people's scripts write them: numbers, texts, and numbers that were floats.
def json_id(id: int, rng: Random) -> Any:
    return rng.choice([id, str(id), float(id)])


def text_id(id: int, _rng: Random) -> str:
    return str(id)


def rest_order(known: Known, rng: Random) -> dict[str, Any]:
    def transaction(cents: int, status: str = "success") -> dict[str, Any]:
        return {"kind": "refund", "status": status, "amount": money(cents), "currency": "EUR"}

    refunds = [
        {
            "id": known.id + number,
            "created_at": at(known.refunded_at(number), rng),
            "transactions": [transaction(cents), transaction(7, "failure")],
        }
        for number, cents in enumerate(known.refunds)
    ]
    if known.removed:
        on = at(known.refunded_at(5), rng)
        refunds.append({"id": known.id + 5, "created_at": on, "transactions": []})
    order = {
        "id": json_id(known.id, rng),
        "created_at": at(known.entered, rng),
        "updated_at": at(known.updated, rng),
        "processed_at": at(known.placed, rng),
        "currency": "EUR",
        "total_price": money(known.total),
        "current_total_price": money(known.left),
        "cancelled_at": at(known.updated, rng) if known.cancelled else None,
        "discount_codes": [{"code": known.code, "amount": "1.00"}] if known.code else [],
        "refunds": refunds,
        "test": False,
        "line_items": [{"id": 1, "price": money(known.total)}],
    }
    if rng.random() < 0.5:
        for name in ("total_price", "current_total_price"):
            order[f"{name}_set"] = {"shop_money": {"amount": order[name], "currency_code": "EUR"}}
    return dict(rng.sample(list(order.items()), len(order)))


def graphql_order(known: Known, rng: Random) -> dict[str, Any]:
    def sum_of(cents: int) -> dict[str, Any]:
        return {"shopMoney": {"amount": str(cents / 100), "currencyCode": "EUR"}}

    sums = list(enumerate(known.refunds)) + ([(5, 0)] if known.removed else [])
    return {
        "id": f"gid://shopify/Order/{known.id}",
        "createdAt": at(known.entered, rng),
        "processedAt": at(known.placed, rng),
        "updatedAt": at(known.updated, rng),
        "cancelledAt": at(known.updated, rng) if known.cancelled else None,
        "test": False,
        "totalPriceSet": sum_of(known.total),
        "currentTotalPriceSet": sum_of(known.left),
        "discountCodes": [known.code] if known.code else [],
        "refunds": [
            {
                "id": f"gid://shopify/Refund/{known.id + number}",
                "createdAt": at(known.refunded_at(number), rng),
                "totalRefundedSet": sum_of(cents),
            }
            for number, cents in sums
        ],
    }


def own_order(known: Known, rng: Random, id_of: Callable[[int, Random], Any]) -> dict[str, Any]:
    lost = known.refunded - sum(known.refunds)
    refunds = [*known.refunds, lost] if lost > 0 and not known.cancelled else known.refunds
    row = {
        "order_id": id_of(known.id, rng),
        "shop_id": SHOP,
        "created_at": at(known.placed, rng),
        "total_cents": known.total,
        "discount_codes": [{"code": known.code}] if known.code else [],
        "refunds": [
            {
                "refund_id": f"r{n}",
                "created_at": at(known.refunded_at(n), rng),
                "amount_cents": cents,
            }
            for n, cents in enumerate(refunds)
        ],
        "cancelled_at": at(known.updated, rng) if known.cancelled else None,
        "test": False,
    }
    name = rng.choice(["updated_at", "exported_at", ""])
    return row | ({name: at(known.updated, rng)} if name else {})


def rest(orders: list[Known], rng: Random) -> bytes:
    rows = [rest_order(known, rng) for known in orders]
    shape = rng.choice(["answer", "list", "lines", "pages", "webhooks"])
    content: Any = {
        "answer": {"orders": rows},
        "list": rows,
        "pages": [{"orders": [row]} for row in rows],
        "webhooks": [{"order": row} for row in rows],
        "lines": rows,
    }[shape]
    if shape in ("lines", "pages", "webhooks"):
        return as_ndjson(content)
    return json.dumps(content, indent=rng.choice([None, 2])).encode()


def bulk(orders: list[Known], rng: Random) -> bytes:
    lines: list[dict[str, Any]] = []
    for known in orders:
        row = graphql_order(known, rng)
        if rng.random() < 0.5:
            lines += [refund | {"__parentId": row["id"]} for refund in row.pop("refunds")]
        lines.append(row)
        lines.append({"id": f"gid://shopify/LineItem/{known.id}", "__parentId": row["id"]})
    return as_ndjson(rng.sample(lines, len(lines)))


def query(orders: list[Known], rng: Random) -> bytes:
    rows = [graphql_order(known, rng) for known in orders]
    nodes = rng.choice([{"nodes": rows}, {"edges": [{"node": row} for row in rows]}])
    return json.dumps({"data": {"orders": nodes}}).encode()


def admin_table(orders: list[Known], rng: Random) -> bytes:
    """The export of the admin pages, possibly as a spreadsheet saves it. It states when an order was placed,
    and one sum of refunds."""
    mark, sign = rng.choice([(".", ","), (".", "\t"), (",", ";")])
    grouped = rng.random() < 0.3

    def amount(cents: int) -> str:
        whole = f"{cents // 100:,}" if grouped else str(cents // 100)
        return (whole.replace(",", "'" if mark == "." else ".") if grouped else whole) + (
            f"{mark}{cents % 100:02}"
        )

    text = io.StringIO(newline="")
    names = (
        "Name Email Financial_Status Paid_at Created_at Lineitem_name Total Currency Discount_Code "
        "Discount_Amount Refunded_Amount Cancelled_at Id"
    )
    header = [name.replace("_", " ") for name in names.split()]
    writer = csv.DictWriter(text, header, delimiter=sign, restval="", lineterminator="\n")
    writer.writeheader()
    for number, known in enumerate(orders):
        first = {
            "Financial Status": "paid",
            "Created at": known.placed.strftime("%Y-%m-%d %H:%M:%S +0000"),
            "Total": amount(known.total),
            "Currency": "EUR",
            "Refunded Amount": amount(0 if known.cancelled else known.refunded),
            "Discount Code": known.code,
            "Cancelled at": known.updated.strftime("%Y-%m-%d %H:%M:%S +0000")
            if known.cancelled
            else "",
            "Id": known.id,
        }
        name = {"Name": f"#{number}", "Email": "", "Lineitem name": "Café, 50 %"}
        writer.writerow(name | first)
        if rng.random() < 0.5:
            writer.writerow(name)
    return text.getvalue().encode()


def own_table(orders: list[Known], rng: Random) -> bytes:
    return as_csv([own_order(known, rng, text_id) for known in orders])


def own_lines(orders: list[Known], rng: Random) -> bytes:
    return as_ndjson([own_order(known, rng, json_id) for known in orders])


def parquet(orders: list[Known], rng: Random) -> bytes:
    ids = rng.choice([int, str])
    rows = [own_order(known, rng, lambda id, _: ids(id)) for known in orders]
    names = dict.fromkeys(name for row in rows for name in row)
    columns: dict[str, Any] = {name: [row.get(name) for row in rows] for name in names}
    for name in ("discount_codes", "refunds"):
        if rng.random() < 0.5:
            columns[name] = [json.dumps(value) for value in columns[name]]
    if rng.random() < 0.5:
        times = [datetime.fromisoformat(text) for text in columns["created_at"]]
        columns["created_at"] = pa.array(times, pa.timestamp("us", "UTC"))
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


# By what it is: the ending of its name, and how it is written.
NOTATIONS: Final[dict[str, tuple[str, Callable[[list[Known], Random], bytes]]]] = {
    "rest": (".json", rest),
    "bulk": (".jsonl", bulk),
    "query": (".json", query),
    "admin": (".csv", admin_table),
    "own table": (".csv", own_table),
    "own lines": (".ndjson", own_lines),
    "parquet": (".parquet", parquet),
}
TABLES: Final = ("admin", "own table")


def packed(folder: Path, ending: str, content: bytes, packing: str) -> Path:
    path = folder / f"orders{ending}{packing}"
    if packing == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"orders{ending}", content)
    else:
        path.write_bytes(gzip.compress(content) if packing else content)
    return path


def file_of(folder: Path, orders: list[Known], notation: str, rng: Random) -> Path:
    """The orders as a file. CR as the line end and zips of formats without one are left out for now."""
    ending, write = NOTATIONS[notation]
    content = write(orders, rng)
    packing = ""
    if notation != "parquet":
        if notation in TABLES:
            content = content.replace(b"\n", rng.choice([b"\n", b"\r\n"]))
            encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
            content = content.decode().encode(encoding)
        elif rng.random() < 0.3:
            content = b"\xef\xbb\xbf" + content
        packing = rng.choice(["", ".gz", ".zip"] if notation == "admin" else ["", ".gz"])
    note(f"{notation}{packing}: {content[:3000]!r}")
    return packed(folder, ending, content, packing)


def take(warehouse: Warehouse, path: Path, notation: str) -> dict[str, int] | None:
    """The counts of the import; None if the file was refused."""
    is_own = notation in ("own table", "own lines", "parquet")
    more: dict[str, Any] = (
        {"exported_at": int(NOW.timestamp() * 1e6)} if notation == "admin" else {}
    )
    try:
        return warehouse.take_file("orders", path, None if is_own else SHOP, **more)
    except UnreadableFile as refusal:
        note(f"refused: {refusal}")
        return None


def facts_of(orders: list[Known]) -> dict[str, tuple[int, int, int]]:
    return {
        str(known.id): (int(known.placed.timestamp() * 1e6), known.total, known.refunded)
        for known in orders
    }


def stored(warehouse: Warehouse) -> dict[str, tuple[int, int, int]]:
    return {order_id: tuple(more) for order_id, *more in warehouse.rows(STANDING)}


@FILES
@given(orders=some_orders(), notation=st.sampled_from(list(NOTATIONS)), seed=seeds)
def test_the_known_sums_or_a_refusal(
    new_warehouse: NewWarehouse, tmp_path: Path, orders: list[Known], notation: str, seed: int
) -> None:
    warehouse = new_warehouse()
    counts = take(warehouse, file_of(tmp_path, orders, notation, Random(seed)), notation)
    found, known = stored(warehouse), facts_of(orders)
    rejects = warehouse.reasons()
    if counts is None:
        assert found == {}
        return
    note(f"{counts} {rejects}")
    assert counts["rejected"] == len(rejects) == len(known) - len(found)
    assert found == {order_id: known[order_id] for order_id in found}


@FILES
@given(
    orders=some_orders(),
    notations=st.lists(st.sampled_from(list(NOTATIONS)), min_size=2, max_size=3),
    seed=seeds,
)
def test_the_same_orders_by_several_ways_are_the_same_orders(
    new_warehouse: NewWarehouse,
    tmp_path: Path,
    orders: list[Known],
    notations: list[str],
    seed: int,
) -> None:
    warehouse, rng = new_warehouse(), Random(seed)
    for notation in notations:
        take(warehouse, file_of(tmp_path, orders, notation, rng), notation)
    assert stored(warehouse) == facts_of(orders)
