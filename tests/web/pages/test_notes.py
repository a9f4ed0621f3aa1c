"""The page `/notes`, and the notes beside the days of pages."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from tests.support.people import Browser, add_member
from tests.support.shop_builder import ShopBuilder
from warehouse.shops import notes

NOTES = "/notes"
HTML = {"Accept": "text/html", "Accept-Language": "en"}
CSV = "/revenue?range=2026-03-09..2026-03-11&csv=days"


@pytest.fixture
def browser(client: FlaskClient, ada: str) -> Browser:
    return Browser(client).signed_in(ada)


def text_of(browser: Browser, path: str = NOTES) -> str:
    answer = browser.get(path, headers=HTML)
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


def ids(page: str) -> list[str]:
    return re.findall(r'data-note="([^"]+)"', page)


def test_a_note_is_written_and_taken_away(browser: Browser, ask: Any, shop: ShopBuilder) -> None:
    answer = browser.post(NOTES, day="2026-03-10", text=" Autumn <b>newsletter</b> ")
    assert answer.status_code == 302
    page = text_of(browser)
    assert "Mar 10, 2026" in page
    assert "Autumn &lt;b&gt;newsletter&lt;/b&gt;" in page
    assert [row["text"] for row in ask("/v1/notes", range="2026-03-10")] == [
        "Autumn <b>newsletter</b>"
    ]
    # Sent twice, it is written once.
    browser.post(NOTES, day="2026-03-10", text="Autumn <b>newsletter</b>")
    [note_id] = ids(text_of(browser))
    form = browser.form(NOTES)
    answer = browser.client.post(f"{NOTES}/{note_id}/delete", data=form)
    assert answer.status_code == 302
    assert ids(text_of(browser)) == []
    trail = text_of(browser, "/settings/activity")
    assert "Wrote a note" in trail
    assert "Took a note away" in trail


def test_what_is_no_note_is_said(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    for day, text, said in (
        ("2026-02-30", "x", "Choose a day from 2000 to 2100."),
        ("", "x", "Choose a day from 2000 to 2100."),
        ("2026-03-10", " ", "This is a text of 1 to 255 characters."),
        ("2026-03-10", "x" * 256, "This is a text of 1 to 255 characters."),
        ("2026-03-10", "a\x00b", "This has a character that cannot be printed."),
    ):
        answer = browser.post(NOTES, day=day, text=text)
        assert answer.status_code == 422, (day, text)
        assert said in answer.get_data(as_text=True)
    monkeypatch.setattr(notes, "MOST", 0)
    browser.post(NOTES, day="2026-03-10", text="One more")
    assert "Take away one that is no longer needed" in text_of(browser)


def test_members_without_form_editing_only_read(
    browser: Browser, client: FlaskClient, engine: Engine, shop: ShopBuilder
) -> None:
    browser.post(NOTES, day="2026-03-10", text="Sale")
    [note_id] = ids(text_of(browser))
    bea = add_member(engine, shop, "bea@example.com", ["connections:manage"])
    reader = Browser(client, REMOTE_ADDR="192.0.2.9").signed_in(bea)
    page = text_of(reader)
    assert "Sale" in page
    assert "Take away" not in page
    token = reader.form("/settings/account")
    for path in (NOTES, f"{NOTES}/{note_id}/delete"):
        answer = reader.client.post(path, data=token | {"day": "2026-03-10", "text": "x"})
        assert answer.status_code == 403
    # Nor does a member of another shop reach it.
    other = ShopBuilder(engine, "other.example")
    add_member(engine, other, "cy@example.com")
    stranger = Browser(client, REMOTE_ADDR="192.0.2.10").signed_in("cy@example.com")
    form = stranger.form(NOTES)
    stranger.client.post(f"{NOTES}/{note_id}/delete", data=form)
    assert "Sale" not in text_of(stranger)
    assert ids(text_of(browser)) == [note_id]


def test_the_days_of_a_page_have_their_notes_in_csv(browser: Browser) -> None:
    assert "Note" not in text_of(browser, CSV)
    browser.post(NOTES, day="2026-03-10", text="=Sale")
    heading, *lines = text_of(browser, CSV).removeprefix("\N{BYTE ORDER MARK}").splitlines()
    assert heading.endswith(",Note")
    assert [line.endswith(",'=Sale") for line in lines] == [False, True, False]
    browser.post(NOTES, day="2026-03-10", text="New form")
    assert set(text_of(browser, CSV).splitlines()[2].rpartition(",")[2].split("; ")) in (
        {"'=Sale", "New form"},
        {"=Sale", "New form"},
    )


def test_it_stands_on_every_curve_of_days(browser: Browser, shop: ShopBuilder) -> None:
    form_id = shop.form("01900000-0000-7000-8000-000000000001")
    # Where there are no figures there is no chart.
    shop.daily("attribution", "2026-03-10", type="unattributed", orders=1, gross=100)
    browser.post(NOTES, day="2026-03-10", text="</script><b>Autumn</b>")
    days = "range=2026-03-09..2026-03-11"
    for path, charts in (("/", 1), ("/revenue", 1), (f"/forms/{form_id}", 2)):
        page = text_of(browser, f"{path}?{days}")
        titles = re.findall(r'<svg class="day-notes"><g><title>(.*?)</title>', page)
        assert titles == ["Mar 10: &lt;/script&gt;&lt;b&gt;Autumn&lt;/b&gt;"] * charts, path
        assert "<b>Autumn" not in page
        assert "</script><b>" not in page
        before = text_of(browser, f"{path}?range=2026-03-01..2026-03-05")
        assert "day-notes" not in before
