"""`python -m tests.web.dashboard.still_weeks`: the pages themselves, on 200 Mondays of the demo's shop.

Nothing happens in that shop but chance, weekdays, a slow season, and campaigns that begin and end. It prints
in how many views of each page any change has a colour, and in how many the overview names a rate that got
worse. It takes some minutes of one processor, most of them for four years of data.
"""

import logging
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from jobs.demo.files import write
from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from tests.web.dashboard.page_figures import figures
from warehouse.connections.engine import open_engine
from warehouse.domain.time import to_micros
from web.app import close_app, create_app

WEEKS: Final = 200
# A Monday. Before it the noise of 56 days, and the days before these.
LAST: Final = datetime(2026, 11, 23, 12, tzinfo=UTC)
_BEFORE: Final = 10
_FORMS: Final = tuple(
    f"/forms/0192a000-0000-7000-8000-00000000000{number}" for number in range(1, 6)
)
_PAGES: Final = ("/", "/forms", "one form", "/revenue", "/ads", "/customers")
_HTML: Final = {"Accept": "text/html", "Accept-Language": "en"}


def load(url: str, folder: Path, weeks: int) -> str:
    """The demo's data of so many weeks; the id of its shop."""
    product = Product(url)
    for kind, files in write(folder, LAST, 7 * (weeks + _BEFORE)).items():
        product.take(kind, files)
    product.rollup()
    product.close()
    return "demo.myshopify.com"


def views_with_colour(url: str, shop_id: str, weeks: int) -> Counter[str]:
    engine, now = open_engine(url), to_micros(LAST)
    clock = [now]
    app = create_app(url, clock=lambda: clock[0])
    add_member(engine, known_shop(engine, shop_id), now=now)
    found: Counter[str] = Counter()
    for week in range(weeks):
        monday = LAST - timedelta(weeks=weeks - 1 - week)
        clock[0] = to_micros(monday)
        browser = Browser(app.test_client()).signed_in()
        for page in _PAGES:
            path = _FORMS[week % len(_FORMS)] if page == "one form" else page
            days = {} if page == "/customers" else {"range": "7-days"}
            answer = browser.get(path, query_string=days, headers=_HTML)
            assert answer.status_code == 200, (path, monday)
            text = answer.get_data(as_text=True)
            shown = [each for each in figures(text) if each.change in ("up", "down")]
            worse = [each for each in shown if each.section == "Worth a look"]
            found[page] += len(shown) > len(worse)
            found["worth a look"] += page == "/" and bool(worse)
    close_app(app)
    engine.dispose()
    return found


def main() -> None:
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/weeks.db"
        found = views_with_colour(url, load(url, Path(folder) / "files", WEEKS), WEEKS)
    for page in (*_PAGES, "worth a look"):
        print(f"{page:<14}{found[page]:>4} of {WEEKS}")


if __name__ == "__main__":
    main()
