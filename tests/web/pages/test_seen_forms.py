"""The forms that were seen, on the page of Set up: listed, renamed, left out, merged, and that undone."""

import re
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import Engine, text

from tests.support.fixtures import Clock
from tests.support.import_files import FORM, event, form
from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder, writing
from tests.web.pages.conftest import Jobs
from warehouse.domain.hash_ids import form_id_of, part_id
from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.forms import form_sightings
from warehouse.forms.form_sightings import Sighting
from warehouse.tenants.raw_rows import kinds_of_rows

SETUP = "/setup"
ACCOUNT = "/settings/account"


def call(number: int, form: str, session: str) -> dict[str, Any]:
    """A view, as the collector hands it on."""
    return event(
        event_id=f"e{number}",
        source="segment",
        form_id=form,
        form_name=form.title(),
        form_session_id=session,
        type="view",
        visitor_id=f"v{number}",
        occurred_at="2026-03-31T10:00:00Z",
    )


def state_of(browser: Browser, form_id: str) -> str:
    """The text of a form in the list, "" where it is not listed."""
    page = browser.signed_in().get(SETUP).get_data(as_text=True)
    found = re.search(rf'data-seen-form="{form_id}">(.*?)</li>', page, re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", found[1]).split()) if found else ""


def see(engine: Engine, shop: ShopBuilder, form_id: str, sighting: Sighting) -> None:
    with writing(engine) as connection:
        form_sightings.see(connection, {(shop.key, form_id): sighting})


def test_a_form_is_listed_before_its_first_import(
    browser: Browser, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    assert "Waiting for the first visit." in browser.signed_in().get(SETUP).get_data(as_text=True)
    form_id = form_id_of(shop.shop_id, "segment", "news")
    see(engine, shop, form_id, Sighting("News", "/pages/about", clock.now - 3 * MICROS_PER_SECOND))
    assert state_of(browser, form_id) == (
        "News Page /pages/about Last seen seen 3 s ago , Mar 31, 2026, 11:59 AM UTC "
        "Events none in the figures yet Split News Leave out News"
    )
    # An older sighting, of another process, tells nothing new.
    see(engine, shop, form_id, Sighting("", "", clock.now - 9 * MICROS_PER_SECOND))
    assert "News Page /pages/about Last seen seen 3 s ago" in state_of(browser, form_id)
    listed = browser.get("/setup/forms").get_data(as_text=True)
    assert "<html" not in listed
    assert f'data-seen-form="{form_id}"' in listed


def test_a_shop_has_a_bounded_number_of_sightings(
    browser: Browser, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    """The one seen longest ago gives way. Those of the shop's own pages have places of their own."""
    most, second = form_sightings.MOST_FORMS, MICROS_PER_SECOND
    with writing(engine) as connection:
        seen = {
            (shop.key, f"form-{number:03}"): Sighting("", "", clock.now + number * second)
            for number in range(most + 3)
        }
        own = {(shop.key, "own"): Sighting("Our own", "", clock.now - second, on_own_page=True)}
        form_sightings.see(connection, seen | own)
    see(engine, shop, "form-000", Sighting("Seen again", "", clock.now + 1000 * second))
    page = browser.signed_in().get("/setup/forms").get_data(as_text=True)
    assert page.count("data-seen-form") == 50
    assert "Forms 1 to 50 of 201" in page
    listed = re.findall(r'data-seen-form="([^"]*)"', page)
    assert listed[:3] == ["own", "form-000", f"form-{most + 2:03}"]
    last = browser.get("/setup/forms?page=5").get_data(as_text=True)
    assert re.findall(r'data-seen-form="([^"]*)"', last) == ["form-004"]
    for number in ("0", "-1", "6", "x", "9" * 400, "²"):
        assert browser.get(f"/setup/forms?page={number}").status_code == 200


def test_the_next_real_form_after_twelve_thousand_made_up_ones(
    browser: Browser, ask: Any, shop: ShopBuilder, jobs: Jobs, engine: Engine, clock: Clock
) -> None:
    made_up = [call(n, f"made up {n}", f"s{n}") for n in range(12_000)]
    jobs.load("events", *(row | {"shop_id": shop.shop_id} for row in made_up))
    jobs.rollup()
    sightings = {(shop.key, f"made-up-{n}"): Sighting("", "", clock.now) for n in range(12_000)}
    with writing(engine) as connection:
        form_sightings.see(connection, sightings)
    real = [call(20_000 + n, "real", f"r{n}") for n in range(2)]
    jobs.load("events", *(row | {"shop_id": shop.shop_id} for row in real))
    jobs.rollup()
    form_id = form_id_of(shop.shop_id, "segment", "real")
    see(engine, shop, form_id, Sighting("Real", "", clock.now + MICROS_PER_SECOND))
    page = browser.signed_in().get("/setup/forms").get_data(as_text=True)
    assert f'data-seen-form="{form_id}"' in page
    assert len(page.encode()) <= 100_000
    answer = ask(f"/v1/forms/{form_id}/funnel", range="2026-03-31")
    assert answer


def test_the_same_list_is_not_sent_again(
    browser: Browser, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    form_id = form_id_of(shop.shop_id, "segment", "news")
    see(engine, shop, form_id, Sighting("News", "/pages", clock.now))
    tag = browser.signed_in().get("/setup/forms").headers["ETag"]
    clock.now += 5 * MICROS_PER_SECOND
    again = browser.get("/setup/forms", headers={"If-None-Match": tag})
    assert (again.status_code, again.get_data()) == (304, b"")
    see(engine, shop, form_id, Sighting("Newsletter", "/pages", clock.now))
    changed = browser.get("/setup/forms", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert "Newsletter" in changed.get_data(as_text=True)
    # The token of its buttons is renewed before it expires.
    tag = changed.headers["ETag"]
    clock.now += 1800 * MICROS_PER_SECOND
    assert browser.get("/setup/forms", headers={"If-None-Match": tag}).status_code == 200


def test_forms_with_few_visitors_are_forgotten(
    browser: Browser, client: FlaskClient, ask: Any, shop: ShopBuilder, jobs: Jobs, engine: Engine
) -> None:
    names = ["real", *(f"junk{n}" for n in range(60)), "named", "out"]
    rows = [call(number, name, name) for number, name in enumerate(names)]
    rows += [call(100 + n, "real", f"s{n}") for n in range(2)]
    jobs.load("events", *(row | {"shop_id": shop.shop_id} for row in rows))
    ids = {name: form_id_of(shop.shop_id, "segment", name) for name in [*names, "new"]}
    jobs.rollup()
    browser.signed_in().post(f"/setup/forms/{ids['named']}/name", name="A name of ours")
    browser.post(f"/setup/forms/{ids['out']}/leave-out", SETUP)
    # Not in the figures yet: nobody knows who visits it.
    jobs.load("events", call(200, "new", "new") | {"shop_id": shop.shop_id})
    see(engine, shop, ids["junk0"], Sighting("Junk", "/", 1))
    for wrong in ("", "1", "x", "2.5"):
        browser.post("/setup/forms/forget-few", SETUP, visitors=wrong)
        assert "Give a number of visitors" in browser.get(SETUP).get_data(as_text=True)
    browser.post("/setup/forms/forget-few", SETUP, visitors="2")
    assert "fewer than 2 visitors: 60 are forgotten" in browser.get(SETUP).get_data(as_text=True)
    page = browser.get("/setup/forms").get_data(as_text=True)
    listed = set(re.findall(r'data-seen-form="([^"]*)"', page))
    assert listed == {ids[name] for name in ("real", "named", "out", "new")}
    # The words of events still count, and the next one has the form back.
    assert len(ask("/v1/forms/funnel", range="2026-03-31")) == len(names)
    jobs.load("events", call(201, "junk7", "again") | {"shop_id": shop.shop_id})
    jobs.rollup()
    assert "2 in 28 days" in state_of(browser, ids["junk7"])


def test_two_forms_under_one_id_are_split_by_their_pages_and_made_one_again(
    browser: Browser,
    client: FlaskClient,
    ask: Any,
    shop: ShopBuilder,
    jobs: Jobs,
    engine: Engine,
    clock: Clock,
) -> None:
    pages = ("/", "/pages/contact", "/pages/contact")
    rows = [
        call(number, "contact_form", f"s{number}") | {"shop_id": shop.shop_id, "page_path": path}
        for number, path in enumerate(pages)
    ]
    jobs.load("events", *rows)
    jobs.rollup()
    both = form_id_of(shop.shop_id, "segment", "contact_form")
    part = part_id(both, "/pages/contact")

    def views() -> dict[str, int]:
        return {r["formId"]: r["views"] for r in ask("/v1/forms/funnel", range="2026-03-31")}

    def known() -> int:
        key = {"Authorization": f"Bearer {shop.mint()}"}
        return client.get(f"/v1/forms/{part}", headers=key).status_code

    assert views() == {both: 3}
    see(engine, shop, both, Sighting("Contact_Form", "/pages/contact", clock.now))
    page = browser.signed_in().get(f"/setup/forms/{both}/split").get_data(as_text=True)
    assert 'value="/pages/contact"' in page
    assert "All figures of the shop are recomputed: 3 rows" in page
    address = f"/setup/forms/{both}/split"
    refused = browser.post(address, page_path="pages/contact", name="Contact").get_data(
        as_text=True
    )
    assert "Write the path of the page as its address has it" in refused
    assert browser.post(address, page_path="/pages/contact", name="Contact").status_code == 302
    assert "The figures are being recomputed." in browser.get(SETUP).get_data(as_text=True)
    assert views() == {both: 3}
    jobs.rollup()
    assert views() == {both: 1, part: 2}
    assert known() == 200
    told = state_of(browser, part)
    assert told.startswith("Contact split from Contact_Form Page /pages/contact")
    assert "2 in 28 days" in told
    assert "Undo the split" in told
    # A late event of the page, and one of another.
    late = [rows[0] | {"event_id": "e8", "form_session_id": "s8"}, rows[1] | {"event_id": "e9"}]
    jobs.load("events", *late)
    jobs.rollup()
    assert views() == {both: 2, part: 2}
    again = browser.post(address, page_path="/pages/contact", name="Contact").get_data(as_text=True)
    assert "is split by /pages/contact already. Undo that first." in again
    browser.post(f"/setup/forms/{both}/merge", into=part)
    browser.post(f"/setup/forms/{part}/undo-split", SETUP)
    assert "Another rule names this form" in browser.get(SETUP).get_data(as_text=True)
    browser.post(f"/setup/forms/{both}/count-again", SETUP)
    browser.post(f"/setup/forms/{part}/undo-split", SETUP)
    jobs.rollup()
    assert views() == {both: 4}
    assert known() == 404
    assert state_of(browser, part) == ""


def test_two_ids_of_a_form_are_merged_and_told_apart_again(
    browser: Browser, client: FlaskClient, ask: Any, shop: ShopBuilder, jobs: Jobs, engine: Engine
) -> None:
    shop_id = shop.shop_id
    rows = [call(1, "news", "s1"), call(2, "news", "s2"), call(3, "news-new", "s2")]
    jobs.load("events", *(row | {"shop_id": shop_id} for row in rows))
    jobs.rollup()
    old, new = (form_id_of(shop_id, "segment", name) for name in ("news", "news-new"))

    def views() -> dict[str, int]:
        rows = ask("/v1/forms/funnel", range="2026-03-31")
        return {row["formId"]: row["views"] for row in rows}

    assert views() == {old: 2, new: 1}
    assert "3 in 28 days" not in state_of(browser, old)
    assert "2 in 28 days" in state_of(browser, old)
    answer = browser.post(f"/setup/forms/{new}/merge", into=old)
    assert answer.status_code == 302, answer.get_data(as_text=True)
    page = browser.get(SETUP).get_data(as_text=True)
    assert "The figures are being recomputed." in page
    assert views() == {old: 2, new: 1}
    jobs.rollup()
    # The two views of s2 are those of one form session.
    assert views() == {old: 2}
    assert (
        client.get(
            f"/v1/forms/{new}", headers={"Authorization": f"Bearer {shop.mint()}"}
        ).status_code
        == 404
    )
    assert "counts as News" in state_of(browser, new)
    assert "recomputed" not in browser.get(SETUP).get_data(as_text=True)
    # Neither of the two can be merged into the other, or left out, before that is undone.
    browser.post(f"/setup/forms/{new}/leave-out", SETUP)
    assert "already. Undo that first." in browser.get(SETUP).get_data(as_text=True)
    browser.post(f"/setup/forms/{new}/count-again", SETUP)
    jobs.rollup()
    assert views() == {old: 2, new: 1}
    browser.post(f"/setup/forms/{old}/leave-out", SETUP)
    jobs.rollup()
    assert views() == {new: 1}
    assert "left out" in state_of(browser, old)
    with engine.connect() as connection:
        actions = connection.execute(text("SELECT action FROM audit_event ORDER BY 1"))
        told = [action for (action,) in actions if action.startswith("form_")]
    assert told == ["form_counted_again", "form_left_out", "form_merged"]


def test_a_name_stays_whatever_events_say(browser: Browser, shop: ShopBuilder, jobs: Jobs) -> None:
    jobs.load("events", call(1, "news", "s1") | {"shop_id": shop.shop_id})
    form_id = form_id_of(shop.shop_id, "segment", "news")
    browser.signed_in().post(f"/setup/forms/{form_id}/name", name="Newsletter below")
    again = call(2, "news", "s2") | {"shop_id": shop.shop_id, "form_name": "Another"}
    jobs.load("events", again)
    assert state_of(browser, form_id).startswith("Newsletter below ")
    browser.post(f"/setup/forms/{form_id}/name", name="")
    assert state_of(browser, form_id).startswith("Another ")


def test_a_name_stays_when_an_import_is_undone(
    browser: Browser, shop: ShopBuilder, jobs: Jobs
) -> None:
    for number in (1, 2):
        jobs.load("events", call(number, "news", "s1") | {"shop_id": shop.shop_id})
    form_id = form_id_of(shop.shop_id, "segment", "news")
    browser.signed_in().post(f"/setup/forms/{form_id}/name", name="Newsletter below")
    jobs.undo_last()
    assert state_of(browser, form_id).startswith("Newsletter below ")
    # It is the member's still: an event does not change it.
    again = call(3, "news", "s2") | {"shop_id": shop.shop_id, "form_name": "Another"}
    jobs.load("events", again)
    assert state_of(browser, form_id).startswith("Newsletter below ")


def test_a_name_of_a_member_is_exported(
    browser: Browser, shop: ShopBuilder, jobs: Jobs, engine: Engine
) -> None:
    jobs.load("events", call(1, "news", "s1") | {"shop_id": shop.shop_id})
    form_id = form_id_of(shop.shop_id, "segment", "news")
    browser.signed_in().post(f"/setup/forms/{form_id}/name", name="Newsletter below")
    with engine.connect() as connection:
        kinds = {
            kind: list(rows) for kind, rows in kinds_of_rows(connection, shop.key, shop.shop_id)
        }
    (row,) = kinds["forms"]
    assert (row["name"], "named_at" in row) == ("Newsletter below", False)


def test_a_form_without_events_is_called_as_before(
    browser: Browser, shop: ShopBuilder, jobs: Jobs, engine: Engine, clock: Clock
) -> None:
    """It was created here, and seen before the first import of its events."""
    jobs.load("forms", form() | {"shop_id": shop.shop_id, "name": "Ours"})
    see(engine, shop, FORM, Sighting("Told", "/", clock.now))
    answer = browser.signed_in().post(f"/setup/forms/{FORM}/name", name="")
    assert answer.status_code == 302
    assert state_of(browser, FORM).startswith("Ours ")


def test_only_who_edits_forms_may(
    browser: Browser, shop: ShopBuilder, engine: Engine, clock: Clock
) -> None:
    form_id = form_id_of(shop.shop_id, "segment", "news")
    see(engine, shop, form_id, Sighting("News", "", clock.now))
    add_member(engine, shop, "links@example.com", ["connections:manage"])
    browser.sign_in("links@example.com")
    assert "Leave out" not in browser.get(SETUP).get_data(as_text=True)
    for path in ("leave-out", "count-again", "merge", "name", "split", "undo-split"):
        assert browser.post(f"/setup/forms/{form_id}/{path}", ACCOUNT).status_code == 403


def test_a_form_that_was_not_seen_is_not_there(browser: Browser, shop: ShopBuilder) -> None:
    other = "00000000-0000-4000-8000-000000000009"
    for path in ("leave-out", "count-again", "undo-split"):
        answer = browser.signed_in().post(f"/setup/forms/{other}/{path}", SETUP)
        assert answer.status_code == 404


def test_name_and_time_zone_of_the_shop_change(
    browser: Browser, shop: ShopBuilder, jobs: Jobs
) -> None:
    jobs.load("events", call(1, "news", "s1") | {"shop_id": shop.shop_id})
    jobs.rollup()
    page = browser.signed_in().get("/setup/shop/change").get_data(as_text=True)
    assert "1 rows, about 1 second" in page
    assert "The currency, USD, stays" in page
    refused = browser.post("/setup/shop/change", name="Lamps", timezone="Mars/Olympus")
    assert refused.status_code == 422
    browser.post("/setup/shop/change", name="Lamps", timezone="Asia/Tokyo")
    page = browser.get(SETUP).get_data(as_text=True)
    assert {
        text for text in ("Lamps", "Asia/Tokyo", "being recomputed") if text not in page
    } == set()
    jobs.rollup()
    assert "being recomputed" not in browser.get(SETUP).get_data(as_text=True)


def test_an_undo_leaves_what_a_member_made_of_the_shop(
    browser: Browser, shop: ShopBuilder, jobs: Jobs
) -> None:
    imported = {"shop_id": shop.shop_id, "currency": "USD", "name": "Imported"}
    jobs.load("shops", imported | {"timezone": "Europe/Paris"})
    browser.signed_in().post("/setup/shop/change", name="Lamps", timezone="Asia/Tokyo")
    jobs.load("shops", imported | {"timezone": "America/Lima"})
    assert "America/Lima" in browser.get(SETUP).get_data(as_text=True)
    jobs.undo_last()
    page = browser.get(SETUP).get_data(as_text=True)
    assert {text for text in ("Lamps", "Asia/Tokyo") if text not in page} == set()


def test_what_the_line_cannot_count_is_said(
    engine: Engine, shop: ShopBuilder, browser: Browser, clock: Clock
) -> None:
    for kind, name, path in (
        ("no_key", "", "/bare"),
        ("foreign_frame", "forms.example", "/join"),
        ("closed_shadow_root", "shop-popup", "/shop"),
    ):
        see(engine, shop, f"finding:{kind}", Sighting(name, path, clock.now))
    text = browser.signed_in().get(SETUP).get_data(as_text=True)
    for sentence in (
        "The line is on <code>/bare</code>, without a key:",
        "A frame of forms.example is on <code>/join</code>:",
        "The element <code>shop-popup</code> on <code>/shop</code> is closed",
        "for a call of <code>formrevenue</code>. Seen 0 s ago. This stands here for 7 days after that.",
        # None of them is a form.
        "Waiting for the first visit.",
    ):
        assert sentence in " ".join(text.split())
    assert text.index("The line is on") < text.index("A frame of") < text.index("The element")
    for form_id in ("finding:no_key", "%00"):
        assert browser.get(f"/setup/forms/{form_id}/split").status_code == 404
