"""A parameter that an endpoint does not have is refused by its name."""

import pkgutil
from importlib import import_module

import pytest
from flask.testing import FlaskClient

import web.api
import web.reports
from tests.support.shop_builder import ShopBuilder
from web.api.endpoint import Endpoint
from web.reports import ENDPOINTS

FORM = "0192a000-0000-7000-8000-000000000001"
# Addresses that name an order or a note that there is; `tests/contract/test_receipts.py` asks for a story.
NAMED = ("{orderId}", "{noteId}")
ASKED = [each for each in ENDPOINTS if not each.address.endswith(NAMED)]


def address(endpoint: Endpoint, form_id: str) -> str:
    return endpoint.address.replace("{id}", form_id)


@pytest.mark.parametrize("endpoint", ASKED, ids=lambda each: each.operation)
def test_a_parameter_that_an_endpoint_does_not_have(
    client: FlaskClient, shop: ShopBuilder, endpoint: Endpoint
) -> None:
    """Figures of all devices were taken for those of phones."""
    path = address(endpoint, shop.form(FORM))
    headers = {"Authorization": f"Bearer {shop.mint()}", "Content-Type": "application/json"}
    answer = client.open(f"{path}?devices=mobile", method=endpoint.method, headers=headers)
    error = answer.get_json()["error"]
    assert (answer.status_code, error["code"]) == (400, "unknown_parameter")
    assert error["message"].startswith("`devices` is no parameter of this address, which ")
    for name in endpoint.names:
        assert f"`{name}`" in error["message"]


def test_what_the_message_says(client: FlaskClient, shop: ShopBuilder) -> None:
    headers = {"Authorization": f"Bearer {shop.mint()}"}

    def message(method: str, path: str) -> str:
        answer = client.open(path, method=method, headers=headers)
        assert answer.status_code == 400
        return str(answer.get_json()["error"]["message"])

    assert message("GET", "/v1/attribution/daily?range=7d&granularity=week") == (
        "`granularity` is no parameter of this address, which has `range`, `format`."
    )
    assert message("POST", "/v1/forms?format=csv") == (
        "`format` is no parameter of this address, which takes none."
    )
    assert message("GET", "/v1/forms?range=7d").endswith("which has `limit`, `cursor`, `format`.")
    long = message("GET", f"/v1/attribution?{'x' * 5_000}=1")
    assert long.startswith(f"`{'x' * 80}...` is no parameter")


def test_the_key_its_scope_and_the_form_are_looked_at_before(
    client: FlaskClient, shop: ShopBuilder
) -> None:
    def status(path: str, key: str) -> int:
        return client.get(path, headers={"Authorization": f"Bearer {key}"}).status_code

    assert status("/v1/attribution?device=mobile", "unknown") == 401
    assert status("/v1/attribution?device=mobile", shop.mint("forms:write")) == 403
    assert status(f"/v1/forms/{FORM}/funnel?device=mobile", shop.mint()) == 404


def test_every_endpoint_with_a_method_has_an_address() -> None:
    """Two that pages alone ask were declared with addresses that there are not."""
    declared = [
        each
        for package in (web.api, web.reports)
        for module in pkgutil.iter_modules(package.__path__)
        for each in vars(import_module(f"{package.__name__}.{module.name}")).values()
        if isinstance(each, Endpoint)
    ]
    assert {each.operation for each in declared if each.method} == {
        each.operation for each in ENDPOINTS
    }
    assert {each.operation for each in declared if not each.method} == {
        "allSteps",
        "filterValues",
        "firstOrders",
        "submissionsByDay",
    }
