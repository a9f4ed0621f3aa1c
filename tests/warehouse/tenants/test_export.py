"""An exported shop that another installation imports has the same answers there."""

import gzip
import json
import tempfile
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import text

from tests.support.answers import answers, assert_answers, days_of, differing, questions_about
from tests.support.depth import INVARIANT_EXAMPLES
from tests.support.loaded import load
from tests.support.oracle.records import Row
from tests.support.product import Product
from tests.support.strategies import worlds
from tests.support.worlds import World, world
from tests.warehouse.tenants.conftest import CommandProduct, Tenants
from warehouse.catalogue import SUMMARIES
from warehouse.connections.engine import open_engine
from warehouse.domain.hash_ids import form_id_of
from warehouse.forms import form_rules

EXAMPLES = settings(
    max_examples=INVARIANT_EXAMPLES,
    # Each example starts from emptied warehouses, so sharing the fixtures is sound.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    print_blob=True,
)
SHOP = "odd.example"
_EVENT = {
    "shop_id": SHOP,
    "form_id": "AAAAAAAA-0000-4000-8000-000000000000",
    "form_session_id": "s",
    "visitor_id": "v",
    "occurred_at": "2026-01-02T03:04:05.678901Z",
}
_ANSWER = {"type": "answer", "field_id": "f"}
ODD_EVENTS: list[Row] = [
    {
        "type": "view",
        "device_type": "Fridge",
        "utm_source": " fb ",
        "variant": "B",
        "email": "a@b.example",
    },
    {"type": "start", "step_index": 7, "step_id": "loose"},
    {"type": "step_view", "step_id": "first", "step_index": 0, "step_name": "First"},
    {"type": "step_complete", "step_id": "first", "step_index": 0},
    {**_ANSWER, "field_type": "text", "value": "my own words"},
    {**_ANSWER, "field_type": "choice", "value": "[1]"},
    {**_ANSWER, "field_type": "choice", "value": []},
    {**_ANSWER, "field_type": "multi_choice", "value": ["b", "a", '"']},
    {**_ANSWER, "field_type": "scale", "value": 4},
    {**_ANSWER, "field_type": "scale", "value": "4.0"},
    {**_ANSWER, "field_type": "boolean", "value": True},
    {"type": "subscribe", "discount_code": "glow", "customer_id": 17},
    {"type": "complete", "discount_id": "d"},
]
_ORDER = {"shop_id": SHOP, "created_at": "2026-01-02T04:00:00Z", "total_cents": 1000}
_REFUND = {"refund_id": "r", "created_at": "2026-01-03T00:00:00.5Z", "amount_cents": 300}
ODD_ORDERS: list[Row] = [
    {"discount_cents": 70, "discount_codes": [{"code": "Glow"}], "email": "A@b.example "},
    {"discount_codes": [{"code": "x", "amount_cents": 0}, {"code": "y", "discount_id": "d"}]},
    {"refunds": [_REFUND, {**_REFUND, "refund_id": "s"}], "updated_at": "2026-01-04"},
    {"cancelled_at": "2026-01-05", "updated_at": "2026-01-05", "refunds": [_REFUND]},
    {"test": True, "currency": "JPY", "visitor_id": "v", "utm_id": "5"},
]


def calls(form_id: str, name: str) -> Row:
    return {
        "type": "track",
        "event": "Form Viewed",
        "messageId": f"{form_id} {name}",
        "anonymousId": "v",
        "timestamp": "2026-01-02T03:00:00Z",
        "properties": {"form_id": form_id, "form_session_id": form_id, "form_name": name},
    }


def odd_shop(product: CommandProduct, folder: Path) -> list[tuple[str, Row]]:
    """Everything that a random world has not; the questions about it."""
    product.load(
        "shops", [{"shop_id": SHOP, "currency": "JPY", "name": "Ödd", "timezone": "Asia/Tokyo"}]
    )
    imported = form_id_of(SHOP, "segment", "imported")
    edited = form_id_of(SHOP, "segment", "edited")
    rows = [
        calls("seen", "Seen"),
        calls("unnamed", ""),
        calls("imported", "A"),
        calls("edited", "B"),
    ]
    file = folder / "calls.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    product.take("events", [file])
    row = {"form_id": imported, "shop_id": SHOP, "name": "By hand", "updated_at": "2026-01-09"}
    file = folder / "forms.csv"
    file.write_text(
        f'form_id,shop_id,name,schema\n{_EVENT["form_id"]},{SHOP},Spelt,"{{""a"": [1.10]}}"\n'
    )
    product.load("forms", [row])
    product.take("forms", [file])
    product.load("events", [_EVENT | {"event_id": n} | row for n, row in enumerate(ODD_EVENTS)])
    product.load("orders", [_ORDER | {"order_id": n} | row for n, row in enumerate(ODD_ORDERS)])
    again = {"order_id": 0, "updated_at": "2026-01-06", "total_cents": 900}
    product.load("orders", [_ORDER | again])
    product.rollup()
    for form_id in (edited, imported):
        draft = {"draft_schema": {"of": form_id}}
        assert product.ask("PUT", f"/v1/forms/{form_id}", SHOP, json=draft).status_code == 200
    created = product.ask("POST", "/v1/forms", SHOP, json={"name": "Made", "schema": {"x": "é"}})
    # Not in the figures yet.
    product.load("orders", [_ORDER | {"order_id": "late"}])
    forms = [
        edited,
        imported,
        created.get_json()["data"]["id"],
        form_id_of(SHOP, "segment", "seen"),
    ]
    return [("/v1/forms", {}), *((f"/v1/forms/{form_id}", {}) for form_id in forms)]


def test_everything_that_is_stored_is_stored_elsewhere(
    warehouse_url: str, elsewhere: CommandProduct, tmp_path: Path
) -> None:
    here = Tenants(warehouse_url, tmp_path, world(1))
    questions = odd_shop(here.product, tmp_path)
    questions += [
        (f"/v1/forms/{_EVENT['form_id'].lower()}/{name}", {"range": "2026-01-01..2026-01-31"})
        for name in ("funnel", "steps/dropoff", "response-revenue", "devices")
    ]
    file = tmp_path / "odd.zip"
    counts = "shops 1, forms 7, events 17, orders 7"
    assert here.shops("export", SHOP, str(file)).stdout == (
        f"exported {SHOP} to {file} ({file.stat().st_size:,} bytes): {counts}\n"
    )
    assert file.stat().st_mode & 0o077 == 0
    import_archive(elsewhere, file, tmp_path / "out")
    assert stored(elsewhere.url, SHOP) == stored(warehouse_url, SHOP)
    here.product.rollup()
    for path, query in questions:
        theirs, ours = (product.get(path, query, SHOP) for product in (elsewhere, here.product))
        assert theirs[0] == 200
        assert theirs[1]["data"] == ours[1]["data"], path
    assert not list(tmp_path.glob("*.partial")) + list(tmp_path.glob(".export-*"))
    elsewhere.close()
    here.product.close()


def test_of_two_versions_of_one_instant_only_the_standing_one_is_exported(
    tenants: Tenants, tmp_path: Path
) -> None:
    tenants.product.load("shops", [{"shop_id": SHOP, "currency": "EUR"}])
    tied = [_ORDER | {"order_id": "o", "total_cents": cents} for cents in (1, 2, 3)]
    tenants.product.load(
        "orders", [*tied, tied[0] | {"updated_at": "2026-01-01", "total_cents": 4}]
    )
    tenants.shops("export", SHOP, str(tmp_path / "out.zip"))
    exported = rows_in(tmp_path / "out.zip", "orders")
    stored = tenants.records(
        "SELECT gross, precedence FROM raw_order WHERE order_id = 'o' AND gross < 4"
    )
    standing = max(stored, key=lambda row: row["precedence"])
    assert sorted(row["total_cents"] for row in exported) == [standing["gross"], 4]


def test_daily_figures_are_those_of_the_answers(tenants: Tenants, tmp_path: Path) -> None:
    for number, shop_id in enumerate(tenants.world.casts):
        file = tmp_path / f"{number}.zip"
        tenants.shops("export", shop_id, str(file))
        with zipfile.ZipFile(file) as archive:
            names = {info.filename for info in archive.infolist() if "daily/" in info.filename}
            assert names == {f"daily/{summary.name}.parquet" for summary in SUMMARIES}
            archive.extractall(tmp_path / str(number))
        daily = tmp_path / str(number) / "daily"
        first, last = days_of(tenants.world)
        window = {"range": f"{first}..{last}"}
        attributed = pq.read_table(daily / "attribution.parquet").to_pandas()
        _, body = tenants.product.get("/v1/attribution", window, shop_id)
        figures = attributed.groupby("type")[["orders", "gross", "refunded"]].sum()
        for row in body["data"]:
            expected = row["orders"], row["grossRevenueCents"], row["totalRefundedCents"]
            of_type = figures.reindex([row["attributionType"]], fill_value=0)
            assert tuple(of_type.iloc[0]) == expected
        funnel = pq.read_table(daily / "all_forms.parquet").to_pandas()
        _, body = tenants.product.get("/v1/forms/funnel", window, shop_id)
        views = funnel.groupby("form")["views"].sum()
        seen = {row["formId"]: row["views"] for row in body["data"] if row["views"]}
        assert views[views > 0].to_dict() == seen


def test_a_file_that_is_there_stays(tenants: Tenants, tmp_path: Path) -> None:
    shop_id = next(iter(tenants.world.casts))
    file = tmp_path / "mine.zip"
    file.write_text("mine")
    refused = tenants.shops("export", shop_id, str(file), status=1)
    assert refused.stderr == (
        f"Error: {file} is there already; choose another name, or say --force to replace it\n"
    )
    assert file.read_text() == "mine"
    assert (
        "there is no shop 'x'"
        in tenants.shops("export", "x", str(file), "--force", status=1).stderr
    )
    assert file.read_text() == "mine"
    tenants.shops("export", shop_id, str(file), "--force")
    assert rows_in(file, "shops")[0]["shop_id"] == shop_id


def test_forms_are_counted_elsewhere_as_here(
    tenants: Tenants, elsewhere: CommandProduct, tmp_path: Path
) -> None:
    shop_id, cast = next(
        (key, cast) for key, cast in tenants.world.casts.items() if len(cast.forms) > 1
    )
    merged, kept, left_out = *cast.forms[:2], cast.unknown_form
    engine = open_engine(tenants.product.url)
    with engine.begin() as connection:
        of_shop = text("SELECT shop_key FROM shop WHERE shop_id = :shop_id")
        shop_key = connection.execute(of_shop, {"shop_id": shop_id}).scalar_one()
        form_rules.tie_code(connection, shop_key, "nobody's", merged)
        form_rules.merge(connection, shop_key, merged, kept)
        form_rules.leave_out(connection, shop_key, left_out)
        connection.execute(
            text(
                "UPDATE raw_event SET page_path = '/a b' "
                "WHERE shop_key = :shop_key AND form_id = :form_id AND occurred_at % 3 = 0"
            ),
            {"shop_key": shop_key, "form_id": kept},
        )
        part = form_rules.split(connection, shop_key, kept, "/a b", "A part", 1_790_000_000_000_000)
        codes = sorted(
            entry["code"]
            for row in tenants.world.records["orders"]
            if row["shop_id"] == shop_id
            for entry in row.get("discount_codes") or []
        )
        form_rules.tie_code(connection, shop_key, codes[0], kept)
        form_rules.tie_code(connection, shop_key, codes[-1] + "x" * 200, part)
    engine.dispose()
    tenants.product.rollup()
    tenants.shops("export", shop_id, str(tmp_path / "shop.zip"))
    import_archive(elsewhere, tmp_path / "shop.zip", tmp_path / "shop")
    questions = [one for one in questions_about(tenants.world) if one[0] == shop_id]
    assert len(questions) > 100
    questions.append((shop_id, f"/v1/forms/{part}/funnel", {}))
    for _, path, query in questions:
        here = tenants.product.get(path, query, shop_id)
        there = elsewhere.get(path, query, shop_id)
        assert (here[0], here[1].get("data")) == (there[0], there[1].get("data")), (path, query)
    elsewhere.close()


def rows_in(file: Path, kind: str) -> list[Row]:
    with zipfile.ZipFile(file) as archive:
        lines = gzip.decompress(archive.read(f"{kind}/{kind}.ndjson.gz")).splitlines()
    return [json.loads(line) for line in lines]


def import_archive(product: Product, file: Path, folder: Path) -> None:
    """As the archive's own README.txt says."""
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
    (loop,) = (
        line for line in (folder / "README.txt").read_text().splitlines() if "for kind in" in line
    )
    for kind in loop.strip().removeprefix("for kind in ").removesuffix("; do").split():
        product.take(kind, sorted((folder / kind).glob("*.ndjson.gz")))
    product.rollup()


@pytest.fixture
def elsewhere(warehouse_url: str, sqlite_url: str, postgres_url: str) -> CommandProduct:
    """An empty warehouse on the other database."""
    return CommandProduct(postgres_url if warehouse_url == sqlite_url else sqlite_url)


RAW = {
    "shop": "shop_id, name, currency, timezone, form_count, form_bytes",
    "form": "*",
    "raw_event": "*",
    "raw_order": "*",
    "ad_spend": "*",
    "ad_account": "*",
}
# These belong to an installation. The key of a version is made of the e-mail address, too.
NOT_EXPORTED = {"shop_key", "batch_id", "email_sha256", "precedence", "content"}


def stored(url: str, shop_id: str) -> dict[str, list[str]]:
    """The rows of a shop, as they are stored, but for what is of the installation."""
    engine = open_engine(url)
    found = {}
    with engine.connect() as connection:
        for table, columns in RAW.items():
            of_shop = f"shop_key = (SELECT shop_key FROM shop WHERE shop_id = '{shop_id}')"
            rows = connection.execute(text(f"SELECT {columns} FROM {table} WHERE {of_shop}"))
            kept = [
                {name: value for name, value in row.items() if name not in NOT_EXPORTED}
                for row in rows.mappings()
            ]
            found[table] = sorted(map(repr, kept))
    return found


@given(given_world=worlds())
@EXAMPLES
def test_answers_are_the_same_elsewhere(
    warehouse_url: str, elsewhere: CommandProduct, tmp_path: Path, given_world: World
) -> None:
    here = Tenants(warehouse_url, tmp_path, given_world)
    here.product.empty()
    elsewhere.empty()
    load(here.product, given_world)
    exports = Path(tempfile.mkdtemp(dir=tmp_path))
    for shop_id in given_world.casts:
        here.shops("export", shop_id, str(exports / f"{shop_id}.zip"))
        import_archive(elsewhere, exports / f"{shop_id}.zip", exports / shop_id)
        assert stored(elsewhere.url, shop_id) == stored(warehouse_url, shop_id)
    asked = answers(here.product, given_world)
    assert differing(answers(elsewhere, given_world), asked) == []
    assert_answers(elsewhere, given_world, "elsewhere")
    # An archive that is imported again changes nothing.
    for shop_id in given_world.casts:
        import_archive(elsewhere, exports / f"{shop_id}.zip", exports / shop_id)
    assert differing(answers(elsewhere, given_world), asked) == []
    for product in (here.product, elsewhere):
        product.close()
