"""`/data/forget`: a member asks to forget a person, and confirms it. Only a keyed hash of the person is kept;
the next refresh removes the rows."""

from typing import Any, Final

from flask import render_template, request

from warehouse.persons import forgotten
from warehouse.persons.hash_secret import hasher_of_pages
from web.http.api_key_auth import find_shop
from web.pages.page_request import change, member_request
from web.pages.rendering import told

KINDS: Final = {"email": "e-mail address", "customer": "customer_id", "visitor": "visitor_id"}
LAST: Final = 10
_PLACE: Final = "dashboard.data#persons"
_LONGEST: Final = 255


def forget() -> Any:
    """The traces of a person in the figures, with a button; once that is pressed, the request is recorded."""
    member = member_request()
    connection, shop_key = member.connection, member.member.shop_key
    kind, text = request.form.get("kind", ""), request.form.get("identifier", "").strip()
    if kind not in KINDS or not 0 < len(text) <= _LONGEST:
        message = f"Name the person by one identifier of at most {_LONGEST} characters."
        return told(message, _PLACE)
    hasher = hasher_of_pages(connection)
    person = forgotten.identifier_of(hasher, kind, text)
    if "confirmed" not in request.form:
        shop = find_shop(connection, shop_key)
        sessions, orders = forgotten.in_figures(connection, shop_key, shop.edition, person)
        others = forgotten.under_others(connection, shop_key, shop.edition, person)
        return render_template(
            "dashboard/forget.html",
            kinds=KINDS,
            kind=kind,
            identifier=text,
            sessions=sessions,
            orders=orders,
            others={other: left for other, left in others.items() if left.sessions or left.orders},
        )
    hashed = forgotten.identifier_hash(hasher, person)
    try:
        with change() as member:
            forgotten.ask(member.connection, shop_key, hashed, member.now)
            # Not whom: the trail is kept.
            member.record("person_forgotten")
    except forgotten.TooManyWait:
        return told(
            f"{forgotten.MOST_WAITING} persons of this shop wait to be forgotten, which is the most. "
            "Ask again after the next refresh.",
            _PLACE,
        )
    return told("The next refresh forgets this person.", _PLACE)
