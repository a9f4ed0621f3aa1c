"""Segment's own library for browsers as the collector's client: the answers equal what was tracked.

npm fetches the library, and the page loads it as the collector's README says.
"""

import re
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from jobs.demo.cast import QUIZ, SHOP_ID, WELCOME
from tests.conftest import WITHOUT_NPM
from tests.support.shop_site import Site
from tests.support.waiting import wait_until
from tests.system.browser.conftest import NewContext
from warehouse.domain.email_hash import hashed_email
from warehouse.domain.tracking_calls import EVENTS

pytestmark = pytest.mark.deep

PACKAGE: Final = "@segment/analytics-next@1"
README: Final = Path(__file__).parents[3] / "web/collector/README.md"
ADDRESS: Final = "ada@example.com"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The library as one file for pages, which has the global name AnalyticsNext."""
    folder = tmp_path_factory.mktemp("npm")
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), PACKAGE]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{WITHOUT_NPM}npm pack {PACKAGE} failed ({type(error).__name__})")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        member = archive.extractfile("package/dist/umd/index.js")
        assert member
        return member.read().decode()


@pytest.fixture
def open_page(new_context: NewContext, site: Site, library: str) -> Iterator[Callable[[str], Page]]:
    """A function that opens a page in a browser of its own, with the README's lines in it."""
    (lines,) = re.findall(r"```js\n(import .*?)```", README.read_text(), re.DOTALL)
    host = site.collector.removeprefix("http://")
    for written, here in (
        (
            'import { AnalyticsBrowser } from "@segment/analytics-next"',
            "({AnalyticsBrowser} = AnalyticsNext)",
        ),
        ("fwk_...", site.key),
        ("collect.example/v1", f"{host}/v1"),
        ('"https"', '"http"'),
    ):
        assert written in lines
        lines = lines.replace(written, here)
    (site.folder / "library.js").write_text(library)
    html = f'<script src="library.js"></script><script>{lines}</script>'
    (site.folder / "index.html").write_text(f"<!doctype html><title>Shop</title>{html}")

    def open_one(query: str) -> Page:
        page = new_context().new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{site.address}/{query}", wait_until="load")
        return page

    asked: list[str] = []
    yield open_one
    # Nothing goes to the library's own hosts.
    assert {url for url in asked if not url.startswith((site.address, site.collector))} == set()


def track(page: Page, event: str, form_id: str, session: str, **properties: Any) -> None:
    sent = {"form_id": form_id, "form_session_id": session, **properties}
    page.evaluate("([event, properties]) => void analytics.track(event, properties)", [event, sent])


def track_quiz(page: Page, session: str, answer: str, steps: int) -> None:
    """A quiz of two steps, of which so many are completed."""
    track(page, "Form Viewed", QUIZ.id, session)
    track(page, "Form Started", QUIZ.id, session)
    for index in range(min(steps + 1, 2)):
        step = {"step_id": f"step-{index}", "step_index": index}
        track(page, "Form Step Viewed", QUIZ.id, session, **step)
        if index == 0:
            field = {"field_id": "skin", "field_type": "choice", "value": answer}
            track(page, "Form Question Answered", QUIZ.id, session, **field)
        if index < steps:
            track(page, "Form Step Completed", QUIZ.id, session, **step)
    if steps == 2:
        track(page, "Form Completed", QUIZ.id, session)


def picked(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def test_what_is_tracked_is_answered(open_page: Callable[[str], Page], site: Site) -> None:
    for visitor, (answer, steps) in enumerate([("dry", 2), ("oily", 2), ("dry", 1), ("oily", 0)]):
        page = open_page("?utm_source=google&utm_campaign=spring")
        track_quiz(page, f"quiz-{visitor}", answer, steps)
        track(page, "Form Viewed", WELCOME.id, f"welcome-{visitor}")
        if steps:
            track(page, "Form Subscribed", WELCOME.id, f"welcome-{visitor}", email=ADDRESS)
        # Neither is about a form.
        page.evaluate("() => { analytics.page(); analytics.identify({plan: 'gold'}) }")
    wait_until(lambda: len(site.calls()) == 33, lambda: str([c["type"] for c in site.calls()]))
    calls = site.calls()
    assert {call["type"] for call in calls} == set(EVENTS.values())
    assert len({call["visitor_id"] for call in calls}) == 4
    assert ADDRESS not in str(calls)
    assert hashed_email(ADDRESS) in str(calls)
    site.roll_up()

    names = ("views", "starts", "subscriptions", "completions", "submissions")
    quiz = site.get(f"/v1/forms/{QUIZ.id}/funnel")
    assert picked(quiz, *names) == (4, 4, 0, 2, 2)
    welcome = site.get(f"/v1/forms/{WELCOME.id}/funnel")
    assert picked(welcome, *names) == (4, 0, 3, 0, 3)
    steps_of_quiz = site.get(f"/v1/forms/{QUIZ.id}/steps/dropoff")
    assert [picked(row, "stepId", "views", "completions", "dropoffs") for row in steps_of_quiz] == [
        ("step-0", 4, 3, 1),
        ("step-1", 3, 2, 1),
    ]
    answers = site.get(f"/v1/forms/{QUIZ.id}/response-revenue")
    assert {picked(row, "value", "submissions") for row in answers} == {("dry", 1), ("oily", 1)}
    devices = site.get(f"/v1/forms/{QUIZ.id}/devices")
    assert [picked(row, "deviceType", "views") for row in devices] == [("desktop", 4)]
    query = {"range": "7d", "dimension": "campaign"}
    _, by_utm = site.product.get("/v1/revenue/by-utm", query, SHOP_ID)
    (campaign,) = by_utm["data"]["rows"]
    assert picked(campaign, "utmSource", "utmCampaign", "submissionCount") == (
        "google",
        "spring",
        5,
    )


def test_what_was_refused_comes_again_and_counts_once(
    open_page: Callable[[str], Page], site: Site
) -> None:
    page = open_page("")
    # Nothing can be written there.
    site.landing.mkdir()
    (site.landing / "events").touch()
    with page.expect_response(lambda response: response.status == 503):
        for number in range(3):
            track(page, "Form Viewed", QUIZ.id, f"session-{number}")
    (site.landing / "events").unlink()
    wait_until(lambda: len(site.calls()) == 3, lambda: str(site.calls()))
    site.roll_up()
    assert site.get(f"/v1/forms/{QUIZ.id}/funnel")["views"] == 3
