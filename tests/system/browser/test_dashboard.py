"""The dashboard in a real browser: shops with odd data, on all screens, by keyboard, on paper, in German,
without scripts."""

import re
from collections.abc import Callable, Sequence

from playwright.sync_api import Locator, Page, Response, ViewportSize, expect

from tests.support.browser_steps import ALL_LOOKS, LOOKS, Look, Service, look_at, sign_in, watched
from tests.support.odd_shops import (
    MANY_SHOP,
    ODD_FORMS,
    ODD_NAMES,
    ODD_SHOP,
    form_id,
    many_forms_and_campaigns,
    one_visitor,
)
from tests.support.people import PASSWORD, add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop, writing
from tests.system.browser.conftest import NewContext
from warehouse.tables import sign_in as signed_in_browsers

ADA = "ada@example.com"
SHOP_PAGES = {
    "/": "Overview",
    "/forms": "Forms",
    "/revenue": "Revenue",
    "/discounts": "Discounts",
    "/ads": "Ads",
    "/customers": "Customers",
}
ODD_PAGES = {
    **SHOP_PAGES,
    "/shops": "All shops",
    "/?device=mobile&against=device:desktop": "Overview",
    "/forms?visitor=new": "Forms",
    f"/forms/{ODD_FORMS[0]}?device=mobile&against=device:desktop": ODD_NAMES[0],
    **{f"/forms/{id}": name for id, name in zip(ODD_FORMS, ODD_NAMES, strict=True)},
}
MANY_PAGES = SHOP_PAGES | {f"/forms/{form_id(0)}": "Form 000"}


def made(service: Service, make: Callable[[Product], None], shop_id: str) -> None:
    """Import a shop, of which Ada is a member."""
    product = Product(service.url)
    make(product)
    product.close()
    add_member(service.engine, known_shop(service.engine, shop_id))


def look_at_all(
    page: Page, service: Service, pages: dict[str, str], looks: Sequence[Look] = LOOKS
) -> None:
    with watched(page, service.base):
        sign_in(page, service, ADA)
        expect(page.get_by_role("heading", name="Overview")).to_be_attached()
        for path, heading in pages.items():
            page.goto(f"{service.base}{path}")
            look_at(page, heading, looks=looks)


def test_one_visitor_and_html_in_every_text(page: Page, service: Service) -> None:
    made(service, one_visitor, ODD_SHOP)
    look_at_all(page, service, ODD_PAGES, ALL_LOOKS)


def test_no_orders_yet(page: Page, service: Service) -> None:
    made(service, lambda product: one_visitor(product, buys=False), ODD_SHOP)
    look_at_all(page, service, ODD_PAGES)


def test_no_figures_yet(page: Page, service: Service) -> None:
    add_member(service.engine, service.shop)
    look_at_all(page, service, SHOP_PAGES)


def test_200_forms_and_2000_campaigns(page: Page, service: Service) -> None:
    made(service, many_forms_and_campaigns, MANY_SHOP)
    look_at_all(page, service, MANY_PAGES)


def test_the_pages_of_the_frame(page: Page, service: Service) -> None:
    """Every page of the navigation has the product's name and icon, and leads to all others."""
    made(service, one_visitor, ODD_SHOP)
    sign_in(page, service, ADA)
    links = {name: _addresses(page, name) for name in ("Pages", "Settings")}
    assert set(SHOP_PAGES) <= set(links["Pages"])
    assert set(links["Settings"]) >= {
        *("/settings/connections", "/settings/activity", "/settings/account", "/docs")
    }
    for address in [*links["Pages"], *links["Settings"]]:
        page.goto(f"{service.base}{address}")
        expect(page).to_have_title(re.compile("formrevenue"))
        expect(page.get_by_role("link", name="formrevenue", exact=True)).to_be_visible()
        icon = page.locator("link[rel=icon]").get_attribute("href")
        assert page.request.get(f"{service.base}{icon}").ok
        if address != "/docs":
            assert {name: _addresses(page, name) for name in links} == links


def _addresses(page: Page, navigation: str) -> list[str]:
    """Where the links of a navigation lead, without the days."""
    links = page.get_by_role("navigation", name=navigation, exact=True).get_by_role("link").all()
    return [(link.get_attribute("href") or "").partition("?")[0] for link in links]


def test_by_keyboard_alone(page: Page, service: Service) -> None:
    """Choose days and a comparison, sort a table, open the menu of its card, get its CSV."""
    made(service, many_forms_and_campaigns, MANY_SHOP)
    sign_in(page, service, ADA)
    page.goto(f"{service.base}/forms")
    choose_by_keyboard(page, "range", "90-days", "Days", "Last 90 days")
    choose_by_keyboard(page, "compare", "year", "vs.", "a year earlier")
    assert "range=90-days" in page.url

    sort = page.get_by_role("columnheader").get_by_role("link", name="Form", exact=True)
    for order in ("ascending", "descending"):
        tab_to(page, sort)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert "range=90-days" in page.url
        header = page.get_by_role("columnheader", name=re.compile("^Form"))
        expect(header.first).to_have_attribute("aria-sort", order)

    for folded in ("More on", "How this is counted"):
        summary = page.get_by_role("main").locator("summary").filter(has_text=folded).first
        tab_to(page, summary)
        page.keyboard.press("Enter")
        expect(summary.locator("..")).to_have_attribute("open", "")
    csv = page.get_by_role("link", name="CSV of this table").first
    tab_to(page, csv)
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.path().read_text().count("\n") > 100


def choose_by_keyboard(page: Page, name: str, value: str, label: str, choice: str) -> None:
    """Open the menu of the days or the comparison, go to a link of it, and follow it."""
    menu = page.get_by_role("main").locator("summary").filter(has_text=re.compile(f"^{label}"))
    tab_to(page, menu)
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("link", name=choice))
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert f"{name}={value}" in page.url


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until an element has the focus, and see that it shows."""
    wanted.wait_for()
    for _ in range(400):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            assert wanted.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
            return
    raise AssertionError(f"{wanted} cannot be reached")


def test_without_scripts(new_context: NewContext, service: Service) -> None:
    made(service, one_visitor, ODD_SHOP)
    page = new_context(java_script_enabled=False).new_page()
    deep = f"/forms/{ODD_FORMS[1]}?range=7d&compare=none&sort=answers.-submissions&field=a+%26%3F*~"
    page.goto(f"{service.base}{deep}")
    # Signed out: the way leads back to the same view.
    expect(page.get_by_text("which of its forms bring revenue")).to_be_visible()
    _enter(page)
    expect(page).to_have_url(f"{service.base}{deep}")
    expect(page.get_by_role("heading", level=1)).to_have_text(ODD_NAMES[1])
    # The session ends in the middle.
    with writing(service.engine) as connection:
        connection.execute(signed_in_browsers.delete())
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("You were signed out.")
    _enter(page)
    expect(page).to_have_url(f"{service.base}{deep}")
    # The menu of a card opens, and the days go along to another page.
    page.locator("summary", has_text="More on").first.click()
    expect(page.get_by_text("How this is counted").first).to_be_visible()
    page.locator("summary", has_text="More on").first.click()
    page.get_by_role("link", name="Revenue", exact=True).click()
    expect(page).to_have_url(f"{service.base}/revenue?range=7d&compare=none")


def _enter(page: Page) -> None:
    page.get_by_label("E-mail address").fill(ADA)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


# A sheet without its margins, in pixels.
A4: ViewportSize = {"width": 688, "height": 1017}
# Cells, chips and lines of trees that have a text and show none.
_LOST_ON_PAPER = """() => [...document.querySelectorAll("main :is(th, td, .chip, .tree > li)")]
    .filter(e => !e.closest("details details, .menu") && e.textContent.trim())
    .filter(e => !e.checkVisibility() || !e.innerText.trim())
    .map(e => e.outerHTML.slice(0, 200))"""


def test_on_paper(page: Page, service: Service) -> None:
    """Each page prints, on a number of sheets that people would take along."""
    made(service, many_forms_and_campaigns, MANY_SHOP)
    sign_in(page, service, ADA)
    sheets = {}
    for path in MANY_PAGES:
        page.goto(f"{service.base}{path}")
        expect(page.get_by_role("main")).to_be_visible()
        pdf = page.pdf(format="A4")
        assert pdf.startswith(b"%PDF")
        assert len(pdf) <= 1_000_000, path
        sheets[path] = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
        page.emulate_media(media="print")
        page.set_viewport_size(A4)
        expect(page.get_by_role("banner")).to_be_hidden()
        assert page.evaluate(_LOST_ON_PAPER) == [], path
        page.emulate_media(media="screen")
    assert all(1 <= number <= 12 for number in sheets.values()), sheets


def test_in_german(new_context: NewContext, service: Service) -> None:
    """Numbers, money and days; the words stay English, and the page says so."""
    made(service, one_visitor, ODD_SHOP)
    made(service, many_forms_and_campaigns, MANY_SHOP)
    page = new_context(locale="de-DE").new_page()
    sign_in(page, service, ADA)
    main = page.get_by_role("main")
    expect(main).to_contain_text("2.000")
    expect(main).not_to_contain_text("2,000")
    page.goto(f"{service.base}/?range=2026-01-31..2026-02-01")
    expect(main).to_contain_text("31.01.2026")
    page.goto(f"{service.base}/revenue")
    page.get_by_label("Shop").select_option(ODD_SHOP)
    page.get_by_role("button", name="Switch").click()
    expect(main).to_contain_text(re.compile(r"1\.200\s¥"))
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_pages_are_light(new_context: NewContext, service: Service) -> None:
    """The bytes to a browser that has nothing yet: the page, style sheets, scripts."""
    made(service, many_forms_and_campaigns, MANY_SHOP)
    first = new_context()
    sign_in(first.new_page(), service, ADA)
    for path, heading in MANY_PAGES.items():
        page = new_context(storage_state=first.storage_state()).new_page()
        sizes: list[int] = []

        def weigh(answer: Response, sizes: list[int] = sizes) -> None:
            sizes.append(int(answer.headers["content-length"]))

        page.on("response", weigh)
        page.goto(f"{service.base}{path}", wait_until="networkidle")
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        assert len(sizes) >= 3, sizes
        assert sum(sizes) <= 150_000, (path, sizes)


def test_filters(new_context: NewContext, service: Service) -> None:
    """Chosen in the menu without scripts, kept by a link to another page, taken away by its chip; and looked
    at on all screens, with what cannot be filtered."""
    made(service, many_forms_and_campaigns, MANY_SHOP)
    page = new_context(java_script_enabled=False).new_page()
    sign_in(page, service, ADA)
    menu = page.locator("summary", has_text="+ Filter")
    menu.click()
    page.get_by_label("Device").select_option("other")
    page.get_by_label("Visitors").select_option("new")
    page.get_by_role("button", name="Filter", exact=True).click()
    chips = page.get_by_role("list", name="Filters").get_by_role("link")
    expect(chips).to_have_count(2)
    expect(page.get_by_role("heading", name="Not filtered: the whole shop")).to_be_visible()
    page.get_by_role("link", name="Form 000", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Form 000")
    expect(chips).to_have_count(2)
    chips.first.click()
    expect(chips).to_have_text(re.compile("^Visitors: new"))
    page.get_by_role("table").get_by_role("link", name="Returning").click()
    expect(chips).to_have_text(re.compile("^Visitors: returning"))
    chips.click()
    expect(chips).to_have_count(0)

    seen = new_context(storage_state=page.context.storage_state()).new_page()
    with watched(seen, service.base):
        for path, heading in MANY_PAGES.items():
            seen.goto(f"{service.base}{path}?device=other&utm_source=s")
            look_at(seen, heading)
