"""`/setup`, from a shop to its figures: the shop, the snippet for its pages, its pulls, example files, and
each source as it begins to arrive.

Until the first figures are there, the page asks to be loaded again every few seconds; so it holds no form
that somebody could be filling in.
"""

import csv
import io
import json
from typing import Any, Final

from flask import Response, make_response, render_template, request, url_for

from warehouse.domain.example_rows import EXAMPLE_ROWS
from warehouse.domain.time import ZONES
from warehouse.domain.vocabulary import DECIMALS
from warehouse.intake import shop_pulls
from warehouse.operations import collectors
from warehouse.settings import (
    CREDENTIALS_KEY,
    collect_url,
    collects_for_visitors,
    collects_here_alone,
)
from warehouse.shops import shop_inputs, shop_registry, shop_state
from warehouse.shops.shop_registry import ShopSettings
from web.auth import operators, sessions, write_keys
from web.auth.permissions import ADD_SHOPS, MANAGE_CONNECTIONS
from web.http.api_key_auth import find_shop
from web.http.errors import not_found
from web.pages import seen_forms
from web.pages.forms import ShopChangeForm, ShopForm, ShopifyForm
from web.pages.page_request import (
    FORM,
    MemberRequest,
    change,
    member_request,
    members_blueprint,
    needs,
    read_form,
)
from web.pages.rendering import form_page, redirect_with

blueprint: Final = members_blueprint("setup", __name__, prefix=None)
_sets_up: Final = needs(MANAGE_CONNECTIONS, "set up a shop")

# The kinds that a shop's people import, as they call them.
KINDS: Final = {
    "forms": "Forms",
    "events": "Events",
    "orders": "Orders",
    "ad-spend": "Ad spend",
    "ad-accounts": "Ad accounts",
    "exchange-rates": "Exchange rates",
}
# The words that a browser proposes for the fields of a shop.
SHOP_WORDS: Final = {"currencies": sorted(DECIMALS), "timezones": sorted(ZONES)}
# The kinds without which there are no figures.
_NEEDED: Final = ("events", "orders")
_RELOAD_SECONDS: Final = 10
# The page tells of dropped events for so long.
_TOLD_DAYS: Final = 7
_TYPES: Final = {"csv": "text/csv", "ndjson": "application/x-ndjson"}


@blueprint.get("/setup")
@_sets_up
def show() -> Response:
    page = member_request()
    connection, shop_key = page.connection, page.member.shop_key
    arrivals = shop_inputs.read_arrivals(connection, shop_key)
    keys = write_keys.list_write_keys(connection, page.member.shop_id)
    shop = find_shop(connection, shop_key)
    state = shop_state.read_state(connection, shop_key, shop.edition)
    missing = [each.kind for each in arrivals if each.kind in _NEEDED and not each.rows]
    awaits = ""
    if missing:
        awaits = f"{' and '.join(missing)} have arrived"
    elif state.waiting_since and state.refreshed_at:
        awaits = "all of it is in the figures"
    reloads = bool(awaits) and request.args.get("reload") != "off"
    body = render_template(
        "setup.html",
        shop=_settings(page),
        # The newest write key that works and that pages may use.
        key=next((key for key in reversed(keys) if key.revoked_at is None and key.origins), None),
        collect_url=collect_url(),
        collects_for_visitors=collects_for_visitors(),
        collects_here_alone=collects_here_alone(),
        pulls=shop_pulls.list_of_shop(connection, shop_key),
        can_keep_credentials=bool(CREDENTIALS_KEY.get()),
        kinds=KINDS,
        arrivals=arrivals,
        has_begun=len(missing) < len(_NEEDED),
        state=state,
        without_id=collectors.find_uncollected(
            connection, shop_key, collectors.NO_ID, page.now, _TOLD_DAYS
        ),
        awaits=awaits,
        reload_seconds=_RELOAD_SECONDS if reloads else None,
        now=page.now,
        **seen_forms.list_values(page),
        ago=seen_forms.ago_of(page),
    )
    # The header names the address: a browser does not load a page again whose address ends with a
    # place on it.
    refresh = f"{_RELOAD_SECONDS}; url={url_for('setup.show')}"
    return make_response(body, {"Refresh": refresh} if reloads else {})


@blueprint.route("/setup/shop", methods=FORM)
@needs(ADD_SHOPS, "add shops")
def add_shop() -> Any:
    form = ShopForm()
    if not form.validate_on_submit():
        return form_page("shop_new.html", form, **SHOP_WORDS)
    shop = form.settings()
    try:
        with change() as page:
            shop_key = operators.add_shop(page.change, shop, page.member.email)
            sessions.switch_shop(page.connection, page.member.token, shop_key)
    except operators.ShopTaken:
        form.refuse_taken()
        return form_page("shop_new.html", form, **SHOP_WORDS)
    return redirect_with(f"The shop {shop.shop_id} is added, and you are in it.", "setup.show")


@blueprint.route("/setup/shop/change", methods=FORM)
@_sets_up
def change_shop() -> Any:
    shop = _settings(member_request())
    form = read_form(ShopChangeForm, name=shop.name, timezone=shop.timezone)
    if not form.validate_on_submit():
        return seen_forms.recomputing_page("shop_change.html", form, shop=shop, **SHOP_WORDS)
    name, timezone = str(form.name.data or ""), str(form.timezone.data)
    with change() as page:
        shop_registry.change_shop(page.connection, page.member.shop_key, name, timezone, page.now)
        page.record("shop_changed", f"{shop.shop_id}: {name or 'no name'}, {timezone}")
    return redirect_with("The shop is changed.", "setup.show")


@blueprint.route("/setup/shopify", methods=FORM)
@_sets_up
def set_up_shopify() -> Any:
    # Without the key that encrypts credentials there is no form for them.
    if not CREDENTIALS_KEY.get():
        raise not_found()
    shop_id = member_request().member.shop_id
    form = read_form(ShopifyForm, domain=shop_id if shop_pulls.is_shopify_domain(shop_id) else "")
    if not form.validate_on_submit():
        return form_page("setup_shopify.html", form)
    credentials = {name: str(form[name].data) for name in shop_pulls.SHOPIFY_CREDENTIALS}
    try:
        with change() as page:
            name = shop_pulls.set_up_shopify(
                page.connection,
                page.member.shop_key,
                page.member.shop_id,
                str(form.domain.data),
                credentials,
                page.now,
            )
            page.record("pull_set_up", name)
    except shop_pulls.CannotSetUp as error:
        form.domain.errors = [str(error)]
        return form_page("setup_shopify.html", form)
    message = f"The pull {name} is set up. A scheduler that runs begins it within ten seconds."
    return redirect_with(message, "setup.show#pulls")


@blueprint.get("/setup/examples/<kind>.<ending>")
@_sets_up
def example(kind: str, ending: str) -> Response:
    """The example row of a kind, as a row of the shop."""
    if kind not in KINDS or ending not in _TYPES:
        raise not_found()
    shop, text = _settings(member_request()), io.StringIO()
    own = {"shop_id": shop.shop_id, "currency": shop.currency}
    row = {name: own.get(name, value) for name, value in EXAMPLE_ROWS[kind].items()}
    if ending == "ndjson":
        text.write(f"{json.dumps(row)}\n")
    else:
        cells = (
            json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in row.values()
        )
        csv.writer(text).writerows((row, cells))
    file = Response(text.getvalue(), mimetype=_TYPES[ending])
    file.headers.set("Content-Disposition", "attachment", filename=f"{kind}.{ending}")
    return file


def _settings(page: MemberRequest) -> ShopSettings:
    return shop_registry.find_shop_settings(page.connection, page.member.shop_id)
