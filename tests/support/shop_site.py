"""The pages of a shop that send events to a collector, over HTTP."""

import json
from collections.abc import Callable
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from jobs.demo.cast import FINDER, SHOP_ID
from tests.support.commands import run_web
from tests.support.product import Product
from tests.support.waiting import wait_until
from tests.web.collector.lines import files_of
from warehouse.domain.tracking_calls import EVENTS

Call = dict[str, Any]

ADDRESS = "ada@example.com"
LAST_DAYS = {"range": "7d"}
# A form in the page `/`; SCRIPT stands for the snippet.
FORM = f"""<form data-form="{FINDER.id}"><select name="who"><option><option>friend</select>
<input name="note"><input type="email" name="mail"><button>Send</button></form>
<script>addEventListener("submit", (event) => event.preventDefault())</script>"""


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder, without a line for each request. Any path without a file is the page `/`."""

    def log_message(self, *_arguments: object) -> None:
        pass

    def translate_path(self, path: str) -> str:
        found = super().translate_path(path)
        return found if Path(found).exists() else super().translate_path("/")

    def do_POST(self) -> None:
        """Shopify's cart."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        posted = f"{self.path} {self.headers['Content-Type']} {body}"
        self.server.posted.append(posted)  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()


class Site:
    """The pages of a shop, the collector that they send to, and the warehouse behind it."""

    def __init__(self, server: ThreadingHTTPServer, folder: Path, product: Product) -> None:
        self.address = f"http://127.0.0.1:{server.server_port}"
        self.posted: list[str] = server.posted  # type: ignore[attr-defined]
        self.folder = folder
        self.product = product
        self.landing = folder.parent / "landing"
        created = run_web(
            *(product.url, "write-keys", "create", "--shop", SHOP_ID, "--origins", self.address)
        )
        self.key = created.output.splitlines()[-1]
        self.collector = ""
        self.roll_up: Callable[[], None] = lambda: None

    def write(self, html: str, attributes: str = "") -> None:
        """The page `/`, with the snippet behind it."""
        source = f'<script async src="{self.collector}/formrevenue.js" data-write-key="{self.key}"'
        text = f"<!doctype html><title>Shop</title>{html}{source} {attributes}></script>"
        (self.folder / "index.html").write_text(text)

    def calls(self) -> list[Call]:
        """All events that the collector has written, in the order in which they happened. A page that is left
        before its answer came sends again what it sent: such an event counts once, as in the import."""
        calls: list[Call] = []
        # A file that has grown to its end meanwhile is read by its later name.
        for growing in (True, False):
            for path in files_of(self.landing, growing=growing):
                with suppress(FileNotFoundError):
                    calls += map(json.loads, path.read_text().splitlines())
        once = {call["event_id"]: call for call in calls}
        return sorted(once.values(), key=lambda call: call["occurred_at"])

    def await_events(self, *expected: str) -> list[Call]:
        """All calls, once the last of these events has come; there are these and no others."""
        wait_until(lambda: len(self.calls()) >= len(expected), lambda: str(self.calls()))
        calls = self.calls()
        types = [EVENTS[f"form{name.lower().replace(' ', '')}"] for name in expected]
        assert sorted(call["type"] for call in calls) == sorted(types)
        return calls

    def page(self, html: str, path: str) -> None:
        """Another page, which has no snippet of its own."""
        (self.folder / path).write_text(html)

    def funnels(self) -> dict[str, tuple[int, ...]]:
        """Views, starts, subscriptions, completions and submissions of each form with events, by its name.
        The collector's events are in the figures first; it takes no further ones."""
        self.roll_up()
        names = ("views", "starts", "subscriptions", "completions", "submissions")
        forms = {form["id"]: form["name"] for form in self.get("/v1/forms", {})}
        return {
            forms[row["formId"]]: tuple(
                self.get(f"/v1/forms/{row['formId']}/funnel")[name] for name in names
            )
            for row in self.get("/v1/forms/funnel")
        }

    def get(self, path: str, query: dict[str, str] = LAST_DAYS) -> Any:
        status, answer = self.product.get(path, query, SHOP_ID)
        assert status == 200, answer
        return answer["data"]


def utm_of(call: Call) -> dict[str, str]:
    """Its UTM values, without `utm_` before their names."""
    return {
        name.removeprefix("utm_"): value for name, value in call.items() if name.startswith("utm_")
    }


def let_pass(page: Page, milliseconds: int) -> None:
    """Have a form be in view for as long, by the page's own clock: however slow the machine is, what the
    snippet does earlier is done then."""
    page.evaluate(
        """milliseconds => new Promise(done => new IntersectionObserver((_, observer) => {
            observer.disconnect();
            setTimeout(done, milliseconds);
        }).observe(document.querySelector("form")))""",
        milliseconds,
    )


def fill_in(page: Page) -> None:
    """Fill in and send FORM."""
    page.locator("select").select_option("friend")
    page.locator("[name=note]").fill("secret")
    page.locator("[name=mail]").fill(ADDRESS)
    page.get_by_role("button", name="Send").click()
