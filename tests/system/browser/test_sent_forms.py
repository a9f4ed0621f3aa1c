"""Forms that are sent, and forms that are refused, in the ways of shops' pages, in a real browser."""

import json

import pytest

from tests.support.sent_forms import NOTHING, SENT, SIZES, counts_of, load, sized
from tests.support.shop_site import ADDRESS, Site
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.system.browser.conftest import NewContext
from warehouse.domain.email_hash import hashed_email


@pytest.mark.parametrize("size", SIZES)
def test_each_way_of_sending_counts_once(new_context: NewContext, site: Site, size: str) -> None:
    page = sized(new_context, size)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    site.page("Taken", "taken.html")
    for id, (html, act) in SENT.items():
        site.write(html.replace("ID", id))
        load(page, f"{site.address}/{id}")
        act(page)
        for _turn in range(PATIENCE_SECONDS * 10):
            page.wait_for_timeout(100)
            if "complete" in counts_of(site, id):
                break
    page.goto("about:blank")
    page.wait_for_timeout(1_000)
    once = {"view": 1, "start": 1, "subscribe": 1, "complete": 1}
    found = {id: counts_of(site, id) for id in SENT}
    for counts in found.values():
        counts.pop("answer", None)
    assert {id: counts for id, counts in found.items() if counts != once} == {}
    hashes = {call["email_sha256"] for call in site.calls() if call["type"] == "subscribe"}
    assert hashes == {hashed_email(ADDRESS)}
    assert errors == []


@pytest.mark.parametrize("size", SIZES)
def test_a_form_that_is_refused_or_left_is_not_sent(
    new_context: NewContext, site: Site, size: str
) -> None:
    page = sized(new_context, size)
    bodies: list[str] = []
    page.on("request", lambda request: bodies.append(request.post_data or ""))
    site.page("Terms", "terms.html")
    for id, (html, act) in NOTHING.items():
        site.write(html.replace("ID", id))
        load(page, f"{site.address}/{id}")
        act(page)
        page.wait_for_timeout(1_600)
        page.goto("about:blank")
    wait_until(
        lambda: {call["form_id"] for call in site.calls()} >= NOTHING.keys(),
        lambda: str(NOTHING.keys() - {call["form_id"] for call in site.calls()}),
    )
    found = {id: counts_of(site, id) for id in NOTHING}
    assert {
        id: counts for id, counts in found.items() if {"subscribe", "complete"} & counts.keys()
    } == {}
    assert {counts["view"] for counts in found.values()} == {1}
    assert ADDRESS not in json.dumps(bodies)
