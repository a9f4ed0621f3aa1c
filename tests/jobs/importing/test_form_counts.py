"""An import counts the forms and bytes of a shop, which the quotas of the API look at."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sqlalchemy import insert, text

from tests.jobs.importing.conftest import with_shops as new_warehouse
from tests.support.import_files import FORM, form
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.warehouse import Warehouse
from warehouse import tables
from warehouse.connections.engine import open_engine
from web.api import form_quota

OTHER = FORM.replace("0190", "0191")


def counted(warehouse: Warehouse) -> dict[str, tuple[int, int]]:
    rows = warehouse.records("SELECT shop_id, form_count, form_bytes FROM shop")
    return {row["shop_id"]: (row["form_count"], row["form_bytes"]) for row in rows}


def stored(warehouse: Warehouse) -> dict[str, tuple[int, int]]:
    found = dict.fromkeys(counted(warehouse), (0, 0))
    for row in warehouse.records("SELECT s.shop_id, f.* FROM form f JOIN shop s USING (shop_key)"):
        forms, size = found[row["shop_id"]]
        size += sum(len(row[name].encode()) for name in ("schema", "draft_schema"))
        found[row["shop_id"]] = forms + 1, size
    return found


def test_whatever_is_imported_is_counted(warehouse: Warehouse) -> None:
    first, longer = form(), form(schema={"t": "é" * 90}, updated_at="2025-03-01T00:00:00Z")
    for rows in (
        [first, form(shop_id="b.example", schema={})],
        [first],
        [longer, form(form_id=OTHER, schema=None)],
        [form(schema={}, updated_at="2025-04-01T00:00:00Z"), longer],
        # An older version changes nothing.
        [form(schema={"t": "x" * 99}, updated_at="2025-01-01T00:00:00Z")],
    ):
        warehouse.take("forms", rows)
        assert counted(warehouse) == stored(warehouse)
    assert {forms for forms, _ in counted(warehouse).values()} == {2, 1}


def test_an_import_and_the_api_do_not_wait_in_a_circle(postgres_url: str, tmp_path: Path) -> None:
    warehouse = new_warehouse(postgres_url, tmp_path)
    engine = open_engine(postgres_url)
    waiting = text("SELECT COUNT(*) FROM pg_locks WHERE NOT granted")
    row = {"shop_key": 1, "form_id": OTHER, "name": "x", "schema": "{}", "draft_schema": "{}"}
    with ThreadPoolExecutor(1) as jobs, engine.connect() as api, engine.connect() as watcher:
        form_quota.use(api, 1, 1, forms=1, size=4)
        imported = jobs.submit(warehouse.take, "forms", [form()])
        wait_until(lambda: watcher.execute(waiting).scalar_one())
        api.execute(insert(tables.form), row)
        api.commit()
        assert imported.result(PATIENCE_SECONDS)["new"] == 1
    engine.dispose()
    assert counted(warehouse) == stored(warehouse)
