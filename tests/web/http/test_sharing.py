"""How answers travel: compressed, without a body, to pages of other origins."""

import gzip
from collections.abc import Callable, Iterator

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.fixtures import Clock
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder
from warehouse.setting_values import SettingError
from warehouse.settings import CORS_ORIGINS
from web.app import close_app, create_app

LONG = "/v1/attribution/daily?range=30d"
SHORT = "/v1/forms"
OURS = "https://app.example.com"


@pytest.fixture
def headers(shop: ShopBuilder) -> dict[str, str]:
    return {"Authorization": f"Bearer {shop.mint()}"}


def test_long_answers_are_compressed(client: FlaskClient, headers: dict[str, str]) -> None:
    plain = client.get(LONG, headers=headers)
    assert "Content-Encoding" not in plain.headers
    for path in (LONG, f"{LONG}&format=csv"):
        plain = client.get(path, headers=headers)
        packed = client.get(path, headers={**headers, "Accept-Encoding": "br, gzip"})
        assert (packed.headers["Content-Encoding"], plain.vary.to_header()) == (
            "gzip",
            packed.vary.to_header(),
        )
        assert "Accept-Encoding" in packed.vary
        assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data) / 2
        unpacked = gzip.decompress(packed.data)
        if packed.mimetype == "text/csv":
            assert unpacked == plain.data
        else:
            assert unpacked.startswith(plain.data.partition(b'"meta"')[0])


def test_what_is_not_compressed(client: FlaskClient, headers: dict[str, str]) -> None:
    for accepted in ("", "br", "gzip;q=0", "identity, gzip;q=0.5", "*;q=0", "gzip;q=x"):
        answer = client.get(LONG, headers={**headers, "Accept-Encoding": accepted})
        assert "Content-Encoding" not in answer.headers, accepted
        assert "Accept-Encoding" in answer.vary
    short = client.get(SHORT, headers={**headers, "Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in short.headers
    assert "Accept-Encoding" in short.vary


def test_pages_are_compressed_and_keep_a_weak_tag(client: FlaskClient) -> None:
    sent = {"Accept-Encoding": "gzip"}
    page = client.get("/settings/sign-in", headers=sent)
    assert b"<form" in gzip.decompress(page.data)
    path = "/settings/static/pages.css"
    plain = client.get(path, buffered=True)
    style = client.get(path, headers=sent, buffered=True)
    assert gzip.decompress(style.data) == plain.data
    assert style.headers["ETag"] == f"W/{plain.headers['ETag']}"
    sent["If-None-Match"] = style.headers["ETag"]
    again = client.get(path, headers=sent, buffered=True)
    assert (again.status_code, again.data) == (304, b"")
    assert "Accept-Encoding" in again.vary


def test_options_names_the_methods(client: FlaskClient) -> None:
    for path, methods in {
        "/v1/forms": "GET, HEAD, OPTIONS, POST",
        "/v1/attribution": "GET, HEAD, OPTIONS",
        "/healthz": "GET, HEAD, OPTIONS",
    }.items():
        answer = client.options(path, headers={"Origin": OURS})
        assert (answer.status_code, answer.headers["Allow"], answer.data) == (204, methods, b"")
        assert "Origin" not in answer.vary
        assert not [name for name, _ in answer.headers if name.startswith("Access-")]


@pytest.fixture
def shared(
    engine: Engine, warehouse_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], FlaskClient]]:
    """A function that gives a client of a service with this setting of CORS_ORIGINS."""
    apps = []

    def start(origins: str) -> FlaskClient:
        monkeypatch.setenv("CORS_ORIGINS", origins)
        apps.append(create_app(warehouse_url, clock))
        return apps[-1].test_client()

    yield start
    for app in apps:
        close_app(app)


def test_named_origins_may_read_the_api(
    shared: Callable[[str], FlaskClient], headers: dict[str, str]
) -> None:
    client = shared(f"https://other.example:8443, {OURS}")
    answer = client.get(SHORT, headers={**headers, "Origin": OURS})
    assert answer.headers["Access-Control-Allow-Origin"] == OURS
    shown = answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"ETag", "Location", "Retry-After", "RateLimit", "RateLimit-Policy"} < set(shown)
    assert {"X-Request-Id", "Link"} < set(shown)
    assert "Access-Control-Allow-Credentials" not in answer.headers
    # Errors are for the page to read, too.
    failed = client.get(SHORT, headers={"Origin": OURS})
    refused(failed, 401, "unauthorized")
    assert failed.headers["Access-Control-Allow-Origin"] == OURS
    for origin in ("https://app.example.com.evil.example", "http://app.example.com", "null", ""):
        answer = client.get(SHORT, headers={**headers, "Origin": origin})
        assert answer.status_code == 200
        assert "Access-Control-Allow-Origin" not in answer.headers
    page = client.get("/settings/sign-in", headers={"Origin": OURS})
    assert "Access-Control-Allow-Origin" not in page.headers


def test_preflight(shared: Callable[[str], FlaskClient]) -> None:
    client = shared(OURS)
    sent = {
        "Origin": OURS,
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization,if-match",
    }
    answer = client.options("/v1/forms/11111111-1111-4111-8111-111111111111", headers=sent)
    assert answer.status_code == 204
    assert answer.headers["Access-Control-Allow-Origin"] == OURS
    assert "PUT" in answer.headers["Access-Control-Allow-Methods"].split(", ")
    named = answer.headers["Access-Control-Allow-Headers"].split(", ")
    assert named == ["authorization", "if-match"]
    assert int(answer.headers["Access-Control-Max-Age"]) > 0
    for refused_one in ("/settings/sign-in", "/settings/connections"):
        answer = client.options(refused_one, headers=sent)
        assert not [name for name, _ in answer.headers if name.startswith("Access-")]
    stranger = client.options("/v1/forms", headers={**sent, "Origin": "https://evil.example"})
    assert "Access-Control-Allow-Methods" not in stranger.headers


def test_all_origins(shared: Callable[[str], FlaskClient], headers: dict[str, str]) -> None:
    answer = shared("*").get(SHORT, headers={**headers, "Origin": "null"})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


def test_an_origin_may_have_the_slash_of_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", "https://App.example.com/, https://b.example")
    assert CORS_ORIGINS.get() == ("https://app.example.com", "https://b.example")


@pytest.mark.parametrize(
    "text", ["app.example.com", "https://app.example.com/a", "https://a b", "*/"]
)
def test_a_setting_that_names_no_origin(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", text)
    with pytest.raises(SettingError, match="CORS_ORIGINS"):
        CORS_ORIGINS.get()
