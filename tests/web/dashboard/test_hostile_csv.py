"""No cell of any table is a formula, headings among them, whatever strangers have sent."""

import csv
import io
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from tests.support.commands import run_web
from tests.support.import_files import order, spend
from tests.web.dashboard.two_shops import EARLIER, HTML, A, TwoShops
from web.reports import ENDPOINTS

TEXTS = (
    *('=HYPERLINK("http://evil")', "+1+cmd|' /C calc'!A0", "@SUM(1)", "-2+3", "\t=1", "\r=1"),
    *("＝1+1", "＋1", "－1", "＠1", "'=1", '"><script>alert(1)</script>', " =1", "\n=1"),
)
PAGES = ("/", "/forms", "/revenue", "/discounts", "/ads", "/customers")
FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")


def calls() -> Iterator[dict[str, Any]]:
    """Tracking calls in which each text stands wherever a text may stand."""
    for number, text in enumerate(TEXTS):
        for event, more in (
            ("Form Viewed", {}),
            ("Form Started", {}),
            ("Form Step Viewed", {"step_id": text, "step_name": text, "step_index": 0}),
            ("Form Question Answered", {"field_id": text, "field_type": "choice", "value": text}),
            (
                "Form Question Answered",
                {"field_id": f"{text}2", "field_type": "choice", "value": text},
            ),
            ("Form Subscribed", {"email": f"p{number}@x.example", "discount_code": text}),
            ("Form Completed", {"discount_code": text}),
        ):
            yield {
                "event": event,
                "messageId": f"{number} {event} {more}",
                "anonymousId": f"v{number}",
                "timestamp": EARLIER.isoformat(),
                "properties": {
                    "form_id": text,
                    "form_name": text,
                    "form_session_id": f"s{number}",
                    **more,
                },
                "context": {
                    "campaign": dict.fromkeys(
                        ("name", "source", "medium", "term", "content"), text
                    ),
                    "page": {"path": f"/{text}"},
                },
            }


def test_whole_files_of_a_hostile_shop(two: TwoShops, tmp_path: Path) -> None:
    file = tmp_path / "calls.ndjson"
    file.write_text("".join(f"{json.dumps(call)}\n" for call in calls()))
    two.jobs("import", "events", "--format", "segment", "--shop", A, str(file))
    codes = [{"code": text, "amount_cents": 1} for text in TEXTS]
    created = EARLIER.isoformat()
    two.load("orders", [order(shop_id=A, created_at=created, discount_codes=codes)])
    campaigns = [
        spend(shop_id=A, provider="meta", campaign_id=text, campaign_name=text, date=created[:10])
        for text in TEXTS
    ]
    two.load("ad-spend", campaigns)
    two.jobs("rollup")
    tables = dict(pages_of(two)) | dict(answers_of(two))
    cells = {
        (name, cell)
        for name, text in tables.items()
        for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
        for cell in row
        if FORMULA.match(cell) and not re.fullmatch(r"-?[\d.]+", cell)
    }
    assert cells == set()
    # Their texts are there.
    for heading in ("pairs", "discounts"):
        assert any("HYPERLINK" in text for name, text in tables.items() if heading in name), heading


def pages_of(two: TwoShops) -> Iterator[tuple[str, str]]:
    """The tables of all pages, and of all forms."""
    forms = re.findall(r'href="(/forms/[0-9a-f-]{36})', two.page(A, "/forms?range=30d"))
    for page in (*PAGES, *dict.fromkeys(forms)):
        for link in dict.fromkeys(
            re.findall(r'href="([^"]*[?&;]csv=[^"#]*)', two.page(A, f"{page}?range=30d"))
        ):
            address = unescape(link)
            answer = two.browsers[A].get(
                address if address.startswith("/") else f"{page}{address}", headers=HTML
            )
            assert answer.status_code == 200, address
            yield f"{page} {address}", answer.text


def answers_of(two: TwoShops) -> Iterator[tuple[str, str]]:
    """The tables of all endpoints."""
    client = two.app.test_client(use_cookies=False)
    minted = run_web(
        two.url,
        "keys",
        "mint",
        "--shop",
        A,
        "--scopes",
        "analytics:read,customers:read,discounts:read",
        "--name",
        "x",
    )
    key = re.search(r"frk_\w+", minted.output)
    assert key
    headers = {"Authorization": f"Bearer {key[0]}"}
    listed = json.loads(client.get("/v1/forms", headers=headers).text)
    forms = [row["id"] for row in listed["data"]]
    for endpoint in ENDPOINTS:
        if endpoint.method != "GET":
            continue
        dimensions = [] if hasattr(endpoint.data, "inner") else list(endpoint.data)
        for form in forms if "{id}" in endpoint.path else [""]:
            for dimension in dimensions or [""]:
                address = endpoint.address.replace("{id}", form)
                query = {"format": "csv"} | ({"dimension": dimension} if dimension else {})
                answer = client.get(address, query_string=query, headers=headers)
                if answer.mimetype == "text/csv":
                    yield f"{address} {dimension}", answer.text
