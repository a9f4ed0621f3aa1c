"""Beside the pages, in a real browser: the crosshair of time series, keys, menus and paper."""

from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser_steps import Service, ask, look_at, sign_in, watched
from tests.support.people import add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from tests.support.waiting import wait_until
from tests.system.browser.conftest import NewContext

SHOP = "week.example"
FORM = "8f0e0000-0000-4000-8000-000000000001"


def shop_of_a_week(service: Service, currency: str = "EUR") -> list[dict[str, Any]]:
    """A shop whose form was submitted, with an order after it: once yesterday, twice the day before, up to
    four times, each day for a price of its own. As many saw it and left. Returns the API's last 7 days of
    the form."""
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    product = Product(service.url)
    product.load("shops", [{"shop_id": SHOP, "currency": currency, "timezone": "UTC"}])
    product.load(
        "forms", [{"form_id": FORM, "shop_id": SHOP, "name": "Quiz", "status": "published"}]
    )
    events, orders = [], []
    for day in range(1, 5):
        for visit in range(day):
            name = f"{day}-{visit}"
            at = noon - timedelta(days=day, minutes=visit)
            orders.append(
                {
                    "order_id": name,
                    "shop_id": SHOP,
                    "customer_id": name,
                    "visitor_id": name,
                    "created_at": (at + timedelta(seconds=30)).isoformat(),
                    "total_cents": 123_456 * day,
                }
            )
            events += [
                {
                    "event_id": f"{name}{kind}",
                    "type": kind,
                    "shop_id": SHOP,
                    "form_id": FORM,
                    "form_session_id": name,
                    "visitor_id": name,
                    "customer_id": name,
                    "occurred_at": (at + timedelta(seconds=place)).isoformat(),
                }
                for place, kind in enumerate(("view", "complete"))
            ]
            events.append(
                events[-2] | {"event_id": f"{name}only", "form_session_id": f"{name}only"}
            )
    product.load("events", events)
    product.load("orders", orders)
    product.rollup()
    key = product.key(SHOP)
    product.close()
    add_member(service.engine, known_shop(service.engine, SHOP))
    status, body = ask(service, key, f"/v1/forms/{FORM}/trends?range=7d")
    assert status == 200, body
    rows: list[dict[str, Any]] = body["data"]
    return rows


def days_of(page: Page) -> Locator:
    return page.locator("section", has=page.get_by_role("heading", name="Days", exact=True))


@pytest.mark.parametrize(
    ("language", "currency", "money"),
    [
        ("en-US", "EUR", "€{:,.2f}"),
        ("de-DE", "EUR", "{:_.2f} €"),
        ("en-US", "JPY", "¥{:,.0f}"),
        ("en-US", "KWD", "KWD {:,.3f}"),
    ],
)
def test_the_crosshair_says_the_api_s_values(
    new_context: NewContext, service: Service, language: str, currency: str, money: str
) -> None:
    rows = shop_of_a_week(service, currency)
    assert [row["views"] for row in rows] == [0, 0, 8, 6, 4, 2, 0]
    page = new_context(locale=language, viewport={"width": 1280, "height": 900}).new_page()
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        page.goto(f"{service.base}/forms/{FORM}?range=7d")
        visits, revenue = days_of(page).locator(".plot").all()
        width = visits.bounding_box()["width"]  # type: ignore[index]
        for place, row in enumerate(rows):
            # Anywhere in the day's width, even near its end.
            visits.hover(position={"x": (place + 0.9) * width / len(rows), "y": 60})
            counts = visits.locator(".readout div")
            expect(counts).to_have_count(3)
            assert counts.all_inner_texts()[1:] == [
                f"Views {row['views']}",
                f"Submissions {row['submissions']}",
            ]
            day = date.fromisoformat(row["date"])
            assert f"{day.day}" in counts.all_inner_texts()[0]
            assert f"{day.year}" in counts.all_inner_texts()[0]
            amount = row["netRevenueCents"] / 10 ** {"JPY": 0, "KWD": 3}.get(currency, 2)
            expected = money.format(amount)
            if language == "de-DE":
                expected = expected.replace(".", ",").replace("_", ".")
            said = revenue.locator(".readout div").all_inner_texts()[1]
            assert said.replace("\N{NO-BREAK SPACE}", " ") == f"Net revenue {expected}"
        page.mouse.move(0, 0)
        expect(visits.locator(".readout")).to_be_hidden()


# The colours on a canvas that are not transparent, the most frequent first.
_COLOURS = """canvas => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    copy.drawImage(canvas, 0, 0);
    const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
    const counts = {};
    for (let at = 0; at < pixels.length; at += 4)
        if (pixels[at + 3] === 255)
            counts[pixels.slice(at, at + 3)] = (counts[pixels.slice(at, at + 3)] || 0) + 1;
    return Object.keys(counts).sort((a, b) => counts[b] - counts[a]);
}"""

_TWO_SERIES: dict[Literal["light", "dark"], list[str]] = {
    "light": ["11,92,173", "156,74,16"],
    "dark": ["140,194,248", "237,169,112"],
}


def colours_on(canvas: Locator) -> list[str]:
    found: list[str] = canvas.evaluate(_COLOURS)
    return found


def await_colours(canvas: Locator, expected: list[str]) -> None:
    """Until these are the most frequent ones, in any order."""
    wait_until(lambda: set(colours_on(canvas)[: len(expected)]) == set(expected))


def width_of(shown: Locator) -> float:
    place = shown.bounding_box()
    assert place is not None
    return place["width"]


def test_series_follow_the_screen(page: Page, service: Service) -> None:
    shop_of_a_week(service)
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        page.goto(f"{service.base}/forms/{FORM}?range=7d")
        canvas = days_of(page).locator("canvas").first
        for scheme, colours in _TWO_SERIES.items():
            page.emulate_media(color_scheme=scheme)
            await_colours(canvas, colours)
        plot = days_of(page).locator(".plot").first
        for width in (390, 320, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            wait_until(lambda: width_of(canvas) == pytest.approx(width_of(plot), abs=1))
            # On a wide screen two stand side by side.
            assert width_of(plot) > (0.25 if width > 1000 else 0.4) * width


def test_a_range_of_one_day_is_drawn(page: Page, service: Service) -> None:
    shop_of_a_week(service)
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        page.goto(f"{service.base}/forms/{FORM}?range=yesterday")
        page.emulate_media(color_scheme="light")
        canvas = days_of(page).locator("canvas").first
        # A single point: axes have more pixels.
        wait_until(lambda: "11,92,173" in colours_on(canvas))


def test_keys(page: Page, service: Service) -> None:
    shop_of_a_week(service)
    today = datetime.now(UTC).date()

    def query() -> str:
        return page.url.partition("?")[2]

    def press(key: str, then: str) -> None:
        with page.expect_navigation():
            page.keyboard.press(key)
        assert query() == then, key

    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        page.goto(f"{service.base}/revenue?range=7d&sort=x")
        before = f"{today - timedelta(13)}..{today - timedelta(7)}"
        press("ArrowLeft", f"range={before}&sort=x")
        # Days that end with the last whole one; none are after them.
        press("ArrowRight", "range=7-days&sort=x")
        page.keyboard.press("ArrowRight")
        for key, name in {
            "d": "today",
            "E": "yesterday",
            "w": "7-days",
            "t": "30-days",
            "m": "month",
        }.items():
            press(key, f"range={name}&sort=x")
        press("x", "range=month&sort=x&compare=none")
        press("x", "range=month&sort=x&compare=previous")

        for chord in ("Control+x", "Alt+x", "Meta+x"):
            page.keyboard.press(chord)
        page.keyboard.press("c")
        expect(page.get_by_label("from")).to_be_focused()
        # In a field, letters are letters.
        page.keyboard.press("x")
        page.keyboard.press("Escape")
        expect(page.get_by_label("from")).to_be_hidden()
        assert query() == "range=month&sort=x&compare=previous"

        page.get_by_role("heading", name="Revenue", exact=True).click()
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keys")
        expect(dialog).to_be_visible()
        page.keyboard.press("d")
        look_at(page, "Revenue")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        page.set_viewport_size({"width": 1280, "height": 800})
        page.get_by_role("button", name="Keys").click()
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_be_hidden()
        assert query() == "range=month&sort=x&compare=previous"

        # There is nothing to search for here.
        page.keyboard.press("/")
        page.goto(f"{service.base}/forms?range=7d")
        page.keyboard.press("/")
        search = page.locator("input[type=search]")
        expect(search).to_be_focused()
        page.keyboard.type("dew/?")
        expect(search).to_have_value("dew/?")
        assert query() == "range=7d"


def test_menus(page: Page, service: Service) -> None:
    shop_of_a_week(service)
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        page.goto(f"{service.base}/revenue?compare=year")
        shown = page.locator(".shown > details.menu, .stepper > details.menu")
        days, compared, options = shown.all()
        how = page.locator("details.menu.link")
        card = page.locator("details.menu.of-card").first
        for menu in (days, options, how, card, compared):
            menu.locator("> summary").focus()
            page.keyboard.press("Enter")
            look_at(page, "Revenue")
        # One at a time, until something else is asked for.
        expect(days.get_by_label("from")).to_be_hidden()
        expect(compared.get_by_role("link", name="a year earlier")).to_be_visible()
        page.set_viewport_size({"width": 1280, "height": 800})
        page.get_by_role("heading", name="Revenue", exact=True).click()
        expect(compared.get_by_role("link", name="a year earlier")).to_be_hidden()
        days.locator("summary").click()
        days.get_by_label("from").fill("2026-02-01")
        days.get_by_label("to").fill("2026-02-03")
        days.get_by_role("button", name="Show these days").click()
        expect(days.locator("summary")).to_contain_text("Feb 1, 2026 to Feb 3, 2026")
        assert page.url.endswith("?compare=year&from=2026-02-01&to=2026-02-03")


def test_without_scripts(new_context: NewContext, service: Service) -> None:
    shop_of_a_week(service)
    page = new_context(java_script_enabled=False).new_page()
    sign_in(page, service, "ada@example.com")
    page.goto(f"{service.base}/forms/{FORM}?range=7d")
    expect(days_of(page).locator("polyline").first).to_be_visible()
    expect(page.locator(".uplot")).to_have_count(0)
    for name in ("Keys", "Comparison on or off"):
        expect(page.get_by_text(name, exact=True).first).to_be_hidden()
    expect(page.locator("kbd").first).to_be_hidden()
    page.locator("summary", has_text="Options").click()
    page.get_by_role("link", name="by sign-up day").click()
    assert page.url.endswith("?range=7d&clock=submission")
    page.get_by_role("link", name="The days before").click()
    page.get_by_role("link", name="The days after: Last 7 days").click()
    assert page.url.endswith("?range=7-days&clock=submission")
    page.locator("summary", has_text="vs.").click()
    page.get_by_role("link", name="nothing").click()
    assert page.url.endswith("?range=7-days&clock=submission&compare=none")


def test_paper(page: Page, service: Service) -> None:
    rows = shop_of_a_week(service)
    days = [date.fromisoformat(rows[place]["date"]) for place in (0, -1)]
    first, last = (f"{day:%b} {day.day}, {day.year}" for day in days)
    with watched(page, service.base):
        sign_in(page, service, "ada@example.com")
        page.goto(f"{service.base}/forms/{FORM}?range=7d")
        page.emulate_media(media="print", color_scheme="dark")
        expect(page.locator(".paper")).to_have_text(
            f"formrevenue, week.example: {first} to {last}, compared with the days before"
        )
        expect(days_of(page).locator("polyline").first).to_be_visible()
        for hidden in (".uplot", ".bar", ".shown", "details.menu.of-card", ".opens"):
            expect(page.locator(hidden).first).to_be_hidden()
        # A figure is printed with how it changed, though not with all that opens.
        expect(page.locator(".glance .chip").first).to_be_visible()
        colours = page.evaluate(
            "[document.body, document.querySelector('.card')].map(e => getComputedStyle(e))"
            ".map(style => [style.backgroundColor, style.color])"
        )
        assert colours == 2 * [["rgb(255, 255, 255)", "rgb(27, 33, 39)"]]
        assert page.pdf(format="A4").startswith(b"%PDF")
        # An open table is printed.
        page.emulate_media(media="screen")
        days_of(page).locator("details.menu > summary").click()
        days_of(page).get_by_role("link", name="All numbers").click()
        page.emulate_media(media="print")
        expect(days_of(page).get_by_role("rowheader", name=last)).to_be_visible()
