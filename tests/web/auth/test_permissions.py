"""Permissions of members on keys, also in requests that no page offers."""

import re
from html import unescape
from itertools import combinations

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select

from tests.support.people import ACCOUNT, CONNECTIONS, NEW, Browser, add_member, key_on
from tests.support.shop_builder import ShopBuilder, writing
from warehouse.domain.vocabulary import PERMISSIONS, SCOPES
from warehouse.tables import api_key
from web.auth import api_keys, members, write_keys
from web.auth.audit import OPERATOR, Change

# The interface's table: the permissions that a scope needs, besides `connections:manage`.
NEEDED = {
    "analytics:read": set(),
    "customers:read": set(),
    "forms:write": {"forms:edit"},
    "discounts:read": {"discounts:view"},
}


def test_each_set_of_permissions_with_each_scope(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    assert set(SCOPES) == set(NEEDED)
    granted = set()
    for size in range(len(PERMISSIONS) + 1):
        for permissions in combinations(PERMISSIONS, size):
            email = add_member(
                engine, shop, f"{size}{'.'.join(permissions)}@x.io".replace(":", "-"), permissions
            )
            browser = Browser(client, REMOTE_ADDR=f"192.0.2.{len(email)}").signed_in(email)
            page = browser.get(NEW)
            manages = "connections:manage" in permissions
            assert page.status_code == (200 if manages else 403), permissions
            for scope, needed in NEEDED.items():
                # The request is sent whether or not the page offers the scope.
                form = browser.form(NEW if manages else CONNECTIONS)
                data = {**form, "once": f"{email} {scope}", "name": "x", "scopes": [scope]}
                answer = browser.client.post(NEW, data=data)
                allowed = manages and needed <= set(permissions)
                assert answer.status_code == (200 if allowed else 403), (permissions, scope)
                granted |= {(email, scope)} if allowed else set()
                if manages:
                    # The page shows a scope that the member cannot grant, and disables it.
                    assert f'value="{scope}"' in page.get_data(as_text=True)
                    assert _is_disabled(page.get_data(as_text=True), scope) is not allowed
    with engine.connect() as connection:
        created = {(key.created_by, key.scopes[0]) for key in api_keys.list_keys(connection)}
    assert created == granted


def _is_disabled(page: str, scope: str) -> bool:
    return "disabled" in page.partition(f'value="{scope}"')[2].partition(">")[0]


@pytest.mark.parametrize("permissions", [(), *((one,) for one in PERMISSIONS), PERMISSIONS])
def test_no_link_leads_to_a_refusal(
    client: FlaskClient, engine: Engine, shop: ShopBuilder, permissions: tuple[str, ...]
) -> None:
    """Neither in the menus nor on a page, whatever the member may do."""
    add_member(engine, shop)
    Browser(client).signed_in().mint(*SCOPES)
    bea = add_member(engine, shop, "bea@example.com", permissions)
    browser = Browser(client).signed_in(bea)
    seen: set[str] = set()
    links = ["/"]
    while links:
        link = links.pop()
        # A page over other days is the same page; a CSV is another question.
        path = link if "/csv" in link else link.partition("?")[0]
        if path in seen:
            continue
        seen.add(path)
        answer = browser.get(link, headers={"Accept": "text/html"})
        assert answer.status_code == 200, link
        page = answer.get_data(as_text=True)
        links += map(unescape, re.findall(r'<a [^>]*href="(/[^"#]*)', page))
    assert ("/discounts" in seen) is ("discounts:view" in permissions)
    assert ({"/data", "/setup", CONNECTIONS, NEW} <= seen) is ("connections:manage" in permissions)
    rotate = any(path.endswith("/rotate") for path in seen)
    assert rotate is (set(permissions) == set(PERMISSIONS))


def test_forged_scope_creates_no_key(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop, permissions=["connections:manage", "forms:edit"])
    browser = Browser(client).signed_in()
    for scopes, status in (
        (["analytics:read", "discounts:read"], 403),
        (["analytics:read", "admin:all"], 422),
        (["*"], 422),
        ([], 422),
    ):
        answer = browser.post(NEW, name="x", scopes=scopes)
        assert answer.status_code == status, scopes
    refused = browser.post(NEW, name="x", scopes=["discounts:read"]).get_data(as_text=True)
    assert "Only a member with the Discounts view permission can grant it." in refused
    with engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(api_key)).scalar_one() == 0


def test_rotation_needs_the_permissions_of_creation(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    add_member(engine, shop, "bea@example.com", ["connections:manage"])
    add_member(engine, shop, "cy@example.com", ["forms:edit", "discounts:view"])
    ada, bea, cy = (
        Browser(client).signed_in(f"{name}@example.com") for name in ("ada", "bea", "cy")
    )
    ada.mint("forms:write", "analytics:read")
    (key,) = _keys(engine)
    rotate, revoke = (
        f"{CONNECTIONS}/{key.credential_id}/{action}" for action in ("rotate", "revoke")
    )
    for browser in (bea, cy):
        assert browser.get(rotate).status_code == 403
        assert browser.post(rotate, CONNECTIONS, grace="now").status_code == 403
    assert cy.get(revoke).status_code == 403
    assert cy.post(revoke, CONNECTIONS).status_code == 403
    assert [api_keys.status(key, 2**60) for key in _keys(engine)] == ["active"]
    assert key_on(ada.post(rotate, grace="24h"))
    assert bea.post(revoke).location == CONNECTIONS
    assert len(_keys(engine)) == 2


def test_a_member_without_the_permission_sees_no_keys(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    add_member(engine, shop, "bea@example.com", ["forms:edit", "discounts:view"])
    Browser(client).signed_in().mint("analytics:read", name="The tool")
    (key,) = _keys(engine)
    with writing(engine) as connection:
        write_key = write_keys.create(Change(connection, OPERATOR, 0), shop.shop_id, (), name="")
    bea = Browser(client).signed_in("bea@example.com")
    own = (key.credential_id, f"write-keys/{write_key}")
    unknown = ("cred_0123", "write-keys/fwk_0123")
    pages = ["", "/new", "/write-keys/new", *(f"/{name}/revoke" for name in (*own, *unknown))]
    for page in pages:
        refused = bea.get(CONNECTIONS + page, headers={"Accept": "text/html"})
        assert refused.status_code == 403, page
        assert "Only a member with the Connections permission can see and change" in refused.text
        assert bea.post(CONNECTIONS + page, ACCOUNT).status_code == (405 if not page else 403), page
    for page in ("/", ACCOUNT, "/settings/activity"):
        text = bea.get(page).text
        assert CONNECTIONS not in text, page
        assert key.hint not in text, page
        assert write_key not in text, page


def test_keys_of_another_shop_are_not_found(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    other = ShopBuilder(engine, "other.myshopify.com")
    theirs = other.mint("analytics:read")
    add_member(engine, shop)
    browser = Browser(client).signed_in()
    (key,) = _keys(engine)
    assert key.hint not in browser.get(CONNECTIONS).get_data(as_text=True)
    assert other.shop_id not in browser.get("/settings/activity").get_data(as_text=True)
    for action in ("rotate", "revoke"):
        for credential_id in (key.credential_id, "cred_0123"):
            path = f"{CONNECTIONS}/{credential_id}/{action}"
            assert browser.get(path).status_code == 404
            assert browser.post(path, CONNECTIONS, grace="now").status_code == 404
    headers = {"Authorization": f"Bearer {theirs}"}
    assert client.get("/v1/forms", headers=headers).status_code == 200


def test_changed_permissions_apply_to_the_next_request(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    browser = Browser(client).signed_in()
    form = browser.form(NEW)
    with writing(engine) as connection:
        ada = members.find(connection, shop.shop_id, "ada@example.com")
        members.set_permissions(Change(connection, OPERATOR, 0), ada, ["forms:edit"])
    data = {**form, "name": "x", "scopes": ["analytics:read"]}
    assert browser.client.post(NEW, data=data).status_code == 403


def _keys(engine: Engine) -> list[api_keys.ApiKey]:
    with engine.connect() as connection:
        return api_keys.list_keys(connection)
