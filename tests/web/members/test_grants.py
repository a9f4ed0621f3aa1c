"""Who may do what with keys: permissions by scopes, also in requests that no page offers."""

from itertools import combinations

from flask.testing import FlaskClient
from sqlalchemy import Engine, func, select

from tests.web.builders import ShopBuilder
from tests.web.members.people import CONNECTIONS, NEW, Browser, add_member, key_on
from warehouse.schema import api_key
from warehouse.vocabulary import PERMISSIONS, SCOPES
from web import keys

# The interface's table of grant restrictions, and the permission to mint at all.
GRANTED_BY = {
    "analytics:read": set(),
    "customers:read": set(),
    "forms:write": {"forms:edit"},
    "discounts:read": {"discounts:view"},
}


def test_every_set_of_permissions_and_every_scope(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    manager = Browser(client).signed_in()
    forms = {scope: manager.form(NEW) for scope in SCOPES}
    assert set(forms) == set(GRANTED_BY)
    for size in range(len(PERMISSIONS) + 1):
        for permissions in combinations(PERMISSIONS, size):
            email = add_member(
                engine, shop, f"{size}{'.'.join(permissions)}@x.io".replace(":", "-"), permissions
            )
            browser = Browser(client, REMOTE_ADDR=f"192.0.2.{len(email)}").signed_in(email)
            page = browser.get(NEW)
            manages = "connections:manage" in permissions
            assert page.status_code == (200 if manages else 403), permissions
            for scope, needed in GRANTED_BY.items():
                # The page may not offer it: the request is made all the same.
                form = browser.form(NEW if manages else CONNECTIONS)
                data = {**form, "once": "any", "name": "x", "scopes": [scope]}
                data["once"] = f"{email} {scope}"
                answer = browser.client.post(NEW, data=data)
                may = manages and needed <= set(permissions)
                assert answer.status_code == (200 if may else 403), (permissions, scope)
                if manages:
                    closed = f'value="{scope}"' in page.get_data(as_text=True)
                    assert closed, "a scope that cannot be chosen is there all the same"
                    assert _is_disabled(page.get_data(as_text=True), scope) is not may
    with engine.connect() as connection:
        minted = {(key.created_by, key.scopes[0]) for key in keys.list_keys(connection)}
    assert len(minted) == 4 * 2 + 2 + 2


def _is_disabled(page: str, scope: str) -> bool:
    return "disabled" in page.partition(f'value="{scope}"')[2].partition(">")[0]


def test_a_forged_scope_beside_allowed_ones_mints_nothing(
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


def test_rotation_asks_for_what_minting_asks(
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
    rotate, revoke = (f"{CONNECTIONS}/{key.credential_id}/{deed}" for deed in ("rotate", "revoke"))
    for browser in (bea, cy):
        assert browser.get(rotate).status_code == 403
        assert browser.post(rotate, CONNECTIONS, grace="now").status_code == 403
    assert cy.get(revoke).status_code == 403
    assert cy.post(revoke, CONNECTIONS).status_code == 403
    assert [key.state(2**60) for key in _keys(engine)] == ["active"]
    assert key_on(ada.post(rotate, grace="24h"))
    assert bea.post(revoke).location == CONNECTIONS
    assert len(_keys(engine)) == 2


def test_without_the_permission_one_sees_and_does_not_touch(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    add_member(engine, shop)
    add_member(engine, shop, "bea@example.com", ["forms:edit"])
    Browser(client).signed_in().mint("analytics:read", name="The tool")
    page = Browser(client).signed_in("bea@example.com").get(CONNECTIONS).get_data(as_text=True)
    assert "The tool" in page
    assert "You can look at the keys." in page
    for offered in ("Rotate", "Revoke", "/connections/new", "Mint a key"):
        assert offered not in page.partition("What happened last")[0]


def test_another_shops_keys_are_unknown(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    other = ShopBuilder(engine, "other.myshopify.com")
    theirs = other.mint("analytics:read")
    add_member(engine, shop)
    browser = Browser(client).signed_in()
    (key,) = _keys(engine)
    assert key.hint not in browser.get(CONNECTIONS).get_data(as_text=True)
    assert other.shop_id not in browser.get("/settings/activity").get_data(as_text=True)
    for deed in ("rotate", "revoke"):
        for credential_id in (key.credential_id, "cred_0123"):
            path = f"{CONNECTIONS}/{credential_id}/{deed}"
            assert browser.get(path).status_code == 404
            assert browser.post(path, CONNECTIONS, grace="now").status_code == 404
    headers = {"Authorization": f"Bearer {theirs}"}
    assert client.get("/v1/forms", headers=headers).status_code == 200


def test_permissions_count_from_the_next_request_on(
    client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    from tests.web.builders import writing
    from web.audit import OPERATOR
    from web.members import accounts

    add_member(engine, shop)
    browser = Browser(client).signed_in()
    form = browser.form(NEW)
    with writing(engine) as connection:
        who = accounts.find(connection, shop.shop_id, "ada@example.com")
        accounts.set_permissions(connection, who, ["forms:edit"], by=OPERATOR, now=0)
    data = {**form, "name": "x", "scopes": ["analytics:read"]}
    assert browser.client.post(NEW, data=data).status_code == 403


def _keys(engine: Engine) -> list[keys.Key]:
    with engine.connect() as connection:
        return keys.list_keys(connection)
