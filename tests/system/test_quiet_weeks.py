"""Worth a look, week by week, in shops in which nothing changes: the demo's, and one ten times smaller. Their
visitors do the same each week, as likely as ever, through import, rollup and page."""

import re
from datetime import datetime, time, timedelta
from pathlib import Path

import pytest

from jobs.demo import people
from jobs.demo.cast import SHOP_ID, ZONE
from jobs.demo.files import write
from tests.support.fixtures import Clock
from tests.support.people import Browser, add_member
from tests.support.product import Product
from tests.support.shop_builder import known_shop
from warehouse.connections.engine import open_engine
from web.app import close_app, create_app

pytestmark = pytest.mark.deep

WEEKS = 200
# A right test at 5 % speaks in 10, and in 97 of 100 such runs in at most 16.
MOST = 16
TESTED = re.compile(r'data-worth="(?:form|step|shop)"')


@pytest.mark.parametrize("smaller", [1, 10])
def test_it_speaks_of_chance_in_one_week_of_twenty(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, smaller: int
) -> None:
    monkeypatch.setattr(people, "VISITS_A_DAY", people.VISITS_A_DAY // smaller)
    people.new_visitors.cache_clear()
    now = datetime.now(ZONE)
    product = Product(sqlite_url)
    # Two further weeks: the one before the first, and one in which its last visitors can buy.
    for kind, files in write(tmp_path, now, 7 * (WEEKS + 2)).items():
        product.take(kind, files)
    product.rollup()
    product.close()
    people.new_visitors.cache_clear()
    assert 0 < len(weeks_that_speak(sqlite_url, now)) <= MOST


def weeks_that_speak(url: str, now: datetime) -> list[str]:
    """The weeks after which the overview told of a form, a step or the shop, as the owner saw it on the
    morning after."""
    clock, engine = Clock(), open_engine(url)
    app = create_app(url, clock)
    add_member(engine, known_shop(engine, SHOP_ID))
    browser = Browser(app.test_client())
    weeks = []
    for back in reversed(range(WEEKS)):
        morning = datetime.combine(now.date() - timedelta(7 * back), time(9), ZONE)
        days = f"{morning.date() - timedelta(7)}..{morning.date() - timedelta(1)}"
        clock.now = int(morning.timestamp() * 1_000_000)
        page = browser.signed_in().get(
            "/",
            query_string={"range": days, "compare": "previous"},
            headers={"Accept": "text/html"},
        )
        assert page.status_code == 200
        if TESTED.search(page.text):
            weeks.append(days)
    close_app(app)
    engine.dispose()
    return weeks
