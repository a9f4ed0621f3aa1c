"""The cost of the snippet to a shop's page: `python -m tests.bench.page_cost`.

It opens a page of 5,000 elements in Chromium, lets it change for five seconds, and prints the bytes of
each script, the processor's time of its longest runs in traces, and the layout that shifted.
"""

import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Route, sync_playwright

from tests.system.browser.conftest import ARGUMENTS, chromium_path
from web.collector import snippet

ADDRESS = "https://shop.example/"
ITEMS = 620  # of eight elements each
ITEM = (
    "<li><a href='#'><img alt=''><b>A thing</b></a><span>€ 5</span><p><i>new</i></p>"
    "<button>Buy</button></li>"
)
FORM = "<form><h2>News</h2><input type='email' name='mail'><button>Send</button></form>"
PAGE = f"""<!doctype html><title>Shop</title><body>{FORM}<ul>{ITEM * ITEMS}</ul><form>
<input type="tel"></form>
<script>window.shifted = 0;
new PerformanceObserver((list) => list.getEntries().forEach(({{value}}) => (shifted += value)))
  .observe({{type: "layout-shift", buffered: true}});
setInterval(() => document.querySelector("ul").lastChild.append("."), 50)</script>
<script async src="/formrevenue.js" data-write-key="fwk_1"></script>"""
RUNS = 5
SECONDS = 5


def answer(route: Route) -> None:
    path = route.request.url.removeprefix(ADDRESS.rstrip("/"))
    if path in snippet.SCRIPTS:
        route.fulfill(body=snippet.SCRIPTS[path].plain, content_type="text/javascript")
    else:
        route.fulfill(body=PAGE if path == "/" else "{}", content_type="text/html")


def traced(browser: Browser, file: Path) -> tuple[list[float], float, int]:
    """Milliseconds of the processor that each run of the snippet takes, the layout that shifted, and the
    elements of the page."""
    page = browser.new_page()
    page.route("**/*", answer)
    browser.start_tracing(page=page, path=file, categories=["devtools.timeline", "v8"])
    page.goto(ADDRESS)
    page.wait_for_timeout(SECONDS * 1_000)
    browser.stop_tracing()
    shifted, elements = page.evaluate("[shifted, document.querySelectorAll('*').length]")
    page.close()
    events: list[dict[str, Any]] = json.loads(file.read_text())["traceEvents"]
    runs = [
        event.get("tdur", 0) / 1_000
        for event in events
        if event["name"] in ("EvaluateScript", "FunctionCall", "v8.run")
        and any(path in json.dumps(event.get("args", {})) for path in snippet.SCRIPTS)
    ]
    return runs, shifted, elements


def main() -> None:
    for path, script in snippet.SCRIPTS.items():
        print(f"{path}: {len(script.plain)} bytes, {len(script.compressed)} gzipped")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        longest = []
        for slower in range(RUNS):
            runs, shifted, elements = traced(browser, Path(folder, f"{slower}.json"))
            longest.append(max(runs))
            print(
                f"{elements} elements, {SECONDS} s: {len(runs)} runs, median {median(runs):.2f} ms, longest "
                f"{max(runs):.2f} ms, together {sum(runs):.0f} ms; layout shift {shifted}"
            )
        print(f"the longest of a page: {median(longest):.2f} ms in the median of {RUNS} pages")
        browser.close()


if __name__ == "__main__":
    main()
