"""Every error: status, code, shape, and the order in which they are checked."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, text

from tests.support.fixtures import Clock
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder, instant
from web.app import create_app
from web.auth.api_key_format import new_key

FORM = "11111111-1111-4111-8111-111111111111"
UNKNOWN = "99999999-9999-4999-8999-999999999999"


@pytest.fixture
def headers(shop: ShopBuilder) -> dict[str, str]:
    shop.form(FORM)
    return {"Authorization": f"Bearer {shop.mint()}"}


def test_no_valid_key(client: FlaskClient, headers: dict[str, str]) -> None:
    key = headers["Authorization"].removeprefix("Bearer ")
    typo = key[:20] + ("a" if key[20] != "a" else "b") + key[21:]
    for header in (
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic abc",
        f"Bearer  {key}",
        key,
        f"Bearer {key}x",
        f"Bearer {key},Bearer {key}",
        f"Bearer {typo}",
        f"Bearer {new_key()}",
        "Bearer frk_live_é",
    ):
        sent = {} if header is None else {"Authorization": header}
        for path in ("/v1/forms", "/v1/unknown", f"/v1/forms/{UNKNOWN}/funnel?range=x", "/v1"):
            answer = client.get(path, headers=sent)
            refused(answer, 401, "unauthorized", header)
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        refused(client.delete("/v1/forms", headers=sent), 401, "unauthorized")


def test_the_scheme_is_case_insensitive(client: FlaskClient, headers: dict[str, str]) -> None:
    sent = {"Authorization": headers["Authorization"].replace("Bearer", "bearer")}
    assert client.get("/v1/forms", headers=sent).status_code == 200


def test_expired(client: FlaskClient, shop: ShopBuilder, clock: Clock) -> None:
    sent = {"Authorization": f"Bearer {shop.mint(expires_at=instant('2026-04-01T00:00:00'))}"}
    clock.set("2026-03-31T23:59:59.999999")
    assert client.get("/v1/forms", headers=sent).status_code == 200
    clock.set("2026-04-01T00:00:00")
    refused(client.get("/v1/forms", headers=sent), 401, "unauthorized")


def test_unknown_paths(client: FlaskClient, headers: dict[str, str]) -> None:
    for path in (
        "/v1",
        "/v1/",
        "/v1/forms/",
        "/v1//forms",
        "/v1/forms/x/y",
        "/v1/FORMS",
        "/v2/forms",
        "/",
        "/v1/forms/funnel/",
        "/v1/forms/funnel/funnel",
        "/v1/discounts",
        "/healthz/",
    ):
        answer = client.get("http://localhost" + path, headers=headers)
        refused(answer, 404, "not_found", path)


FORM_PATHS = (
    "",
    "/funnel",
    "/steps/dropoff",
    "/time-to-complete",
    "/devices",
    "/visitor-conversion",
    "/cross-field",
    "/response-revenue",
    "/trends",
)


def test_unknown_forms_come_before_the_request(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    for form_id in (
        UNKNOWN,
        "x",
        "1",
        FORM.replace("-", ""),
        "{" + FORM + "}",
        FORM + "%0A",
        "%00",
        "%ff",
        "..%2f",
        FORM[:-1] + "g",
        "urn:uuid:" + FORM,
    ):
        for path in FORM_PATHS:
            answer = client.get(f"/v1/forms/{form_id}{path}?range=x", headers=headers)
            refused(answer, 404, "not_found", form_id)
        answer = client.put(f"/v1/forms/{form_id}", data="{", headers=headers)
        refused(answer, 404, "not_found", form_id)


def test_scope_comes_before_the_form_and_the_body(client: FlaskClient, shop: ShopBuilder) -> None:
    reader = {"Authorization": f"Bearer {shop.mint('analytics:read')}"}
    writer = {"Authorization": f"Bearer {shop.mint('forms:write')}"}
    refused(client.post("/v1/forms", data="{", headers=reader), 403, "insufficient_scope")
    refused(client.put("/v1/forms/x", data="{", headers=reader), 403, "insufficient_scope")
    refused(client.get("/v1/forms/x/funnel?range=x", headers=writer), 403, "insufficient_scope")


def test_other_methods(client: FlaskClient, headers: dict[str, str]) -> None:
    for method, path, allowed in (
        ("DELETE", "/v1/forms", {"GET", "HEAD", "POST"}),
        ("POST", f"/v1/forms/{FORM}/funnel", {"GET", "HEAD"}),
        ("PUT", "/v1/forms/funnel", {"GET", "HEAD"}),
        ("PATCH", f"/v1/forms/{FORM}", {"GET", "HEAD", "PUT"}),
        ("POST", "/healthz", {"GET", "HEAD"}),
    ):
        answer = client.open(path, method=method, headers=headers)
        refused(answer, 405, "method_not_allowed", path)
        assert set(answer.headers["Allow"].split(", ")) == allowed


def test_head_and_options(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = client.head("/v1/forms", headers=headers)
    assert (answer.status_code, answer.data) == (200, b"")
    answer = client.options(f"/v1/forms/{FORM}")
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, PUT"


def test_what_goes_wrong_inside_stays_inside(
    client: FlaskClient,
    headers: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("web.api.forms.forms_table.list_forms", fail)
    answer = client.get("/v1/forms", headers=headers)
    refused(answer, 500, "internal_error")
    assert "secret" not in answer.get_data(as_text=True)
    log = capsys.readouterr().err
    assert "RuntimeError" in log
    assert "secret" not in log


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://nobody@127.0.0.1:1/nothing", "sqlite:////proc/warehouse.db"]
)
def test_no_warehouse(url: str) -> None:
    client = create_app(url).test_client()
    headers = {"Authorization": f"Bearer {new_key()}"}
    refused(client.get("/v1/forms", headers=headers), 503, "unavailable")
    refused(client.get("/readyz"), 503, "unavailable")
    assert client.get("/healthz").get_json() == {"status": "ok"}
    refused(client.get("/v1/forms"), 401, "unauthorized")


def test_a_warehouse_that_is_not_migrated_is_not_ready(tmp_path: Path) -> None:
    client = create_app(f"sqlite:///{tmp_path / 'empty.db'}").test_client()
    refused(client.get("/readyz"), 503, "unavailable")


@pytest.mark.parametrize("damaged", ["header", "api_key", "daily_attribution", "dim_text"])
def test_a_damaged_file_is_an_outage(engine: Engine, shop: ShopBuilder, damaged: str) -> None:
    shop.daily("attribution", "2026-03-01", type="visitor", orders=1)
    key = {"Authorization": f"Bearer {shop.mint()}"}
    with engine.begin() as connection:
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
        size = connection.execute(text("PRAGMA page_size")).scalar_one()
        root = text("SELECT rootpage FROM sqlite_master WHERE name = :name")
        page = connection.execute(root, {"name": damaged}).scalar() or 1
    file = engine.url.database
    assert file
    engine.dispose()
    with Path(file).open("r+b") as damage:
        damage.seek((page - 1) * size)
        damage.write(b"\xa5" * size)
    client = create_app(str(engine.url)).test_client()
    refused(client.get("/readyz"), 503, "unavailable")
    assert "damaged" in client.get("/readyz").get_json()["error"]["message"]
    if damaged != "dim_text":
        refused(client.get("/v1/attribution?range=2026-03-01", headers=key), 503, "unavailable")


def test_strangers_get_no_numbers(client: FlaskClient, shop: ShopBuilder) -> None:
    """Anyone may ask: how many shops there are, and how many of them wait, is the operator's business."""
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert set(answer.get_json()) == {
        "status",
        "version",
        "lastRollupAt",
        "lastRollupAgeSeconds",
        "needs",
    }
    assert answer.get_json()["needs"] == []


def test_a_warehouse_of_another_schema_is_not_ready(client: FlaskClient, engine: Engine) -> None:
    assert client.get("/readyz").status_code == 200
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'other'"))
    refused(client.get("/readyz"), 503, "unavailable")
