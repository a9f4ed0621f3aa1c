"""Values that the snippet keeps in a real browser, for how long, and after whose consent."""

from playwright.sync_api import Page

from tests.support.shop_site import FORM, Site, fill_in, let_pass, utm_of

DAY_MS = 86_400_000
STORED = "[localStorage.length, sessionStorage.length, document.cookie]"
# A form that the visitor sees, one that is never in view, a cart, and the page's question for consent, asked
# as the README has it: once the snippet is loaded, and again by a click.
ASKING = f"""<script>Shopify = {{}}; accepted = () => !!localStorage.accepted</script>{FORM}
<button id="accept" onclick="localStorage.accepted = 1; formrevenue.consent()">Accept</button>
<div style="height: 5000px"></div><form data-form="below"><input name="late"></form>"""
CONSENT = 'data-consent onload="if (accepted()) formrevenue.consent()"'
VIEW = "formrevenue('Form Viewed', {form_id: 'other'})"


def test_nothing_is_stored_or_sent_before_the_consent(page: Page, site: Site) -> None:
    site.write(ASKING, CONSENT)
    collector: list[str] = []
    page.on("request", lambda request: collector.append(request.url))
    page.goto(f"{site.address}/?utm_source=google", wait_until="load")
    page.locator("select").select_option("friend")
    page.evaluate(VIEW)
    # A second in view makes a view, and another second sends it.
    let_pass(page, 2_500)
    assert page.evaluate(STORED) == [0, 0, ""]
    # The way in which a page that is left sends the rest.
    page.goto(f"{site.address}/second?utm_source=newsletter", wait_until="load")
    assert page.evaluate(STORED) == [0, 0, ""]
    assert site.calls() == []
    assert site.posted == []
    assert {url.rpartition("/")[2].partition("?")[0] for url in collector} == {
        *("", "second", "formrevenue.js")
    }

    # A form in view when they consent is viewed then. Nothing from before comes with it.
    page.locator("#accept").click()
    (viewed,) = site.await_events("Viewed")
    assert viewed["form_id"] != "other"
    assert utm_of(viewed) == {"source": "newsletter"}
    assert len(site.posted) == 1
    assert page.evaluate("localStorage.formrevenue") == viewed["visitor_id"]
    fill_in(page)
    page.evaluate(VIEW)
    calls = site.await_events(
        *("Viewed", "Viewed", "Started", "Subscribed", "Completed"),
        *["Question Answered"] * 3,
    )
    assert {call["visitor_id"] for call in calls} == {viewed["visitor_id"]}


def test_a_consent_counts_once_and_on_later_pages_by_the_page_alone(page: Page, site: Site) -> None:
    site.write(ASKING, CONSENT)
    page.goto(site.address, wait_until="load")
    # A banner may hold on to the function, and may call it twice.
    page.evaluate("localStorage.accepted = 1; const {consent} = formrevenue; consent(); consent()")
    site.await_events("Viewed")
    page.goto(f"{site.address}/later", wait_until="load")
    page.evaluate("formrevenue.consent()")
    first, second = site.await_events("Viewed", "Viewed")
    assert first["visitor_id"] == second["visitor_id"]
    # Without it a later page stores and sends nothing, and leaves what is stored.
    page.evaluate("delete localStorage.accepted")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.address}/third", wait_until="load")
    let_pass(page, 2_500)
    page.goto("about:blank")
    # The last page's own.
    assert [url for url in asked if url.startswith(site.collector)] == [
        f"{site.collector}/formrevenue.js"
    ]
    assert len(site.calls()) == 2


def test_a_consent_is_harmless_where_none_is_waited_for(page: Page, site: Site) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})")
    site.write(ASKING, CONSENT)
    page.goto(site.address, wait_until="load")
    page.locator("#accept").click()
    page.evaluate(VIEW)
    let_pass(page, 2_500)
    page.goto("about:blank")
    assert site.calls() == []
    site.write(ASKING, 'data-gpc="off"')
    page.goto(site.address, wait_until="load")
    page.locator("#accept").click()
    site.await_events("Viewed")


def test_ids_end_after_13_months(page: Page, site: Site) -> None:
    site.write(FORM)
    page.goto(f"{site.address}/first")
    ids = [site.await_events("Viewed")[0]["visitor_id"]]
    assert page.evaluate("localStorage.formrevenue") == ids[0]
    age = "days => localStorage.formrevenue = localStorage.formrevenue.replace(" + (
        f"/^\\d+/, (begun) => begun - days * {DAY_MS})"
    )
    # It ends by its beginning, however often it is used; and a clock that was wrong does not make it eternal.
    for days, ends in ((390, False), (5, True), (-3_650, True)):
        page.evaluate(age, days)
        old = page.evaluate("localStorage.formrevenue")
        page.goto(f"{site.address}/{days}")
        calls = site.await_events(*["Viewed"] * (len(ids) + 1))
        ids.append(calls[-1]["visitor_id"])
        assert (ids[-1] != old) == ends, days
        assert page.evaluate("localStorage.formrevenue") == ids[-1]
    # As those were that an earlier snippet stored.
    page.evaluate("localStorage.formrevenue = '4012345678'.repeat(4)")
    page.goto(f"{site.address}/last")
    calls = site.await_events(*["Viewed"] * (len(ids) + 1))
    assert len(calls[-1]["visitor_id"]) < 80
    assert "." in calls[-1]["visitor_id"]
