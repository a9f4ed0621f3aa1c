"""The headers of every answer, and what PUBLIC_URL adds to them."""

import gzip
import re
from pathlib import Path

import flask_swagger_ui
import pytest
from flask.testing import FlaskClient

from tests.support.people import SIGN_IN
from tests.support.shop_builder import ShopBuilder

HTTPS = "https://stats.example"
ADDRESSES = (
    "/v1/forms",
    "/v1/forms?limit=0",
    "/v1/attribution/daily?format=csv",
    "/v1/nothing",
    "/v1/openapi.json",
    "/docs",
    "/llms.txt",
    "/docs/static/docs.js",
    "/docs/viewer/swagger-ui.css",
    "/docs/viewer/nothing",
    "/healthz",
    "/readyz",
    "/nothing",
    SIGN_IN,
    "/settings",
    "/settings/nothing",
    "/settings/static/pages.css",
)


def test_no_answer_is_taken_for_another_type(client: FlaskClient, shop: ShopBuilder) -> None:
    key = {"Authorization": f"Bearer {shop.mint()}"}
    for path in ADDRESSES:
        for method in ("GET", "HEAD", "OPTIONS", "DELETE"):
            for headers in (key, {}):
                answer = client.open(path, method=method, headers=headers)
                answer.close()
                assert answer.headers["X-Content-Type-Options"] == "nosniff", path
                assert "Strict-Transport-Security" not in answer.headers, path
    tag = client.get("/v1/forms", headers=key).headers["ETag"]
    unchanged = client.get("/v1/forms", headers={**key, "If-None-Match": tag})
    assert (unchanged.status_code, unchanged.headers["X-Content-Type-Options"]) == (304, "nosniff")


def test_where_people_come_over_https_they_come_no_other_way(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the proxy does not say so."""
    monkeypatch.setenv("PUBLIC_URL", HTTPS)
    for path in ADDRESSES:
        answer = client.get(path)
        answer.close()
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000", path
    newcomer = client.application.test_client()
    cookie = newcomer.get(SIGN_IN).headers["Set-Cookie"]
    assert re.fullmatch(r"__Host-member=[^;]+; Secure; HttpOnly; Path=/; SameSite=Lax", cookie)


def test_a_part_of_a_file_is_its_own_bytes(client: FlaskClient) -> None:
    asked = {"Range": "bytes=0-1999", "Accept-Encoding": "gzip"}
    answer = client.get("/settings/static/pages.css", headers=asked, buffered=True)
    assert answer.status_code == 206
    assert "Content-Encoding" not in answer.headers
    assert len(answer.data) == 2000


def test_the_viewer_is_compressed_once(client: FlaskClient) -> None:
    dist = Path(flask_swagger_ui.__file__).with_name("dist")
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        for accepted in ("gzip, deflate, br", ""):
            answer = client.get(f"/docs/viewer/{name}", headers={"Accept-Encoding": accepted})
            assert answer.headers["Content-Encoding"] == "gzip"
            assert gzip.decompress(answer.data) == (dist / name).read_bytes()
        again = client.get(
            f"/docs/viewer/{name}", headers={"If-None-Match": answer.headers["ETag"]}
        )
        assert (again.status_code, again.data) == (304, b"")
    assert compressed_files() == 2


def compressed_files() -> int:
    from web.openapi.views import _compressed

    return _compressed.cache_info().misses
