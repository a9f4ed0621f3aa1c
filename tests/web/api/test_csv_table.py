"""Answers as CSV: the same rows and figures as in JSON, under columns that are always the same."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.support.fixtures import Clock
from tests.support.product import Product
from tests.support.refusals import refused
from tests.support.shop_builder import ShopBuilder
from tests.support.worlds import world
from web.api.csv_table import guarded_text, write_table
from web.api.rows import DATE, Row
from web.api.rows import text as words

FORM = "11111111-1111-4111-8111-111111111111"
RANGE = "2026-03-01..2026-03-02"


@pytest.fixture
def headers(shop: ShopBuilder) -> dict[str, str]:
    return {"Authorization": f"Bearer {shop.mint()}"}


def table(answer: TestResponse) -> list[list[str]]:
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    text = answer.get_data().decode()
    assert text.endswith("\r\n")
    return list(csv.reader(StringIO(text, newline=""), strict=True))


def found(row: Any, path: list[str]) -> Any:
    """The value that a column's name leads to in a row of JSON; None where the row has no such element."""
    for part in path:
        if isinstance(row, list):
            named = [each for each in row if part in (each.get("stage"), str(each.get("days")))]
            row = named[0] if named else row[int(part)] if int(part) < len(row) else {}
        else:
            row = (row or {}).get(part)
    return row


def figures(row: Any) -> Iterator[Any]:
    """Everything in a row of JSON that a cell should have, but what names an element of a list, and objects
    that are missing."""
    if isinstance(row, dict):
        for name, value in row.items():
            if name in ("schema", "draftSchema"):
                yield value
            elif name == "fromEarlierSubmissions" and value is None:
                continue
            elif name != "stage" and not (name == "days" and "ltvCents" in row):
                yield from figures(value)
    elif isinstance(row, list):
        for each in row:
            yield from figures(each)
    else:
        yield row


def spelled(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def test_every_endpoint_has_the_same_figures_as_in_json(warehouse_url: str) -> None:
    given = world(11, 20)
    product = Product(warehouse_url)
    for kind in ("shops", "forms", "events", "orders", "ad-spend", "ad-accounts", "exchange-rates"):
        product.load(kind, given.records[kind])
    product.rollup()
    headed: dict[str, list[str]] = {}
    with_rows = set()
    for shop_id, cast in given.casts.items():
        whole = {"range": f"{cast.days[0]}..{cast.days[-1]}"}
        empty = {"range": "2001-01-01"}
        asked = given.questions(shop_id)
        asked += [("/v1/forms", {}), (f"/v1/forms/{cast.forms[0]}", {})]
        for path, query in asked:
            named = path.replace(cast.forms[0], "{id}").replace(cast.forms[1], "{id}")
            named += query.get("dimension", "")
            is_ranged = named not in ("/v1/forms", "/v1/forms/{id}")
            for sent in ({**query, **whole}, {**query, **empty}) if is_ranged else (query,):
                body = product.get(path, sent, shop_id)[1]["data"]
                rows = body if isinstance(body, list) else body.get("rows", [body])
                answer = product.ask("GET", path, shop_id, query_string={**sent, "format": "csv"})
                columns, *lines = table(answer)
                assert headed.setdefault(named, columns) == columns, path
                assert lines == [
                    [spelled(found(row, column.split("."))) for column in columns] for row in rows
                ], path
                for row in rows:
                    cells = [found(row, column.split(".")) for column in columns]
                    assert sorted(map(spelled, figures(row))) == sorted(
                        spelled(cell)
                        for column, cell in zip(columns, cells, strict=True)
                        if not (cell is None and column.startswith(("buckets.", "fromEarlier")))
                    ), path
                if rows:
                    with_rows.add(named)
    # 22 addresses that can be got, two of which have rows by dimension, three and two kinds.
    assert (len(headed), with_rows) == (25, set(headed))


def test_empty_answers_have_their_header(
    client: FlaskClient, shop: ShopBuilder, headers: dict[str, str]
) -> None:
    shop.form(FORM)
    answer = client.get(f"/v1/forms/{FORM}/steps/dropoff?format=csv", headers=headers)
    assert table(answer) == [
        ["stepId", "stepIndex", "stepName", "views", "completions", "dropoffs"]
        + ["completionRate", "dropoffRate", "shareOfDropoffs"]
    ]


def test_what_lies_within_a_row_has_a_dotted_name(
    client: FlaskClient, shop: ShopBuilder, headers: dict[str, str]
) -> None:
    shop.form(FORM)
    shop.daily("funnel", "2026-03-01", form=FORM, views=4, starts=1)
    shop.daily("ltv_form", "2026-03-01", form=FORM, customers=2, orders=1, gross=900, net_30=-50)
    names, cells = table(
        client.get(f"/v1/forms/{FORM}/funnel?range={RANGE}&format=csv", headers=headers)
    )
    funnel = dict(zip(names, cells, strict=True))
    assert (funnel["stages.start.count"], funnel["stages.start.rateFromFirst"]) == ("1", "25.0")
    asked = f"/v1/customers/ltv?dimension=form&range={RANGE}&format=csv"
    names, cells = table(client.get(asked, headers=headers))
    lifetime = dict(zip(names, cells, strict=True))
    assert (lifetime["formId"], lifetime["netRevenueCents"]) == (FORM, "900")
    assert (lifetime["horizons.30.customers"], lifetime["horizons.30.netRevenueCents"]) == (
        "2",
        "-50",
    )
    assert names[-1] == "horizons.365.ltvCents"


def test_formulas_are_harmless_and_numbers_are_numbers(
    client: FlaskClient, shop: ShopBuilder, headers: dict[str, str]
) -> None:
    shop.form(FORM)
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", "''-1"]
    plain = ["it's = 1", "'til", 'a "b", c', "two\r\nlines", "1-1", "Ünïcode 🎉"]
    cells = [("f", text, 1, 0, 1, 0, 100 - place) for place, text in enumerate(texts + plain)]
    shop.daily("response", "2026-03-01", form=FORM, cells=[*cells, ("f", None, 16)])
    shop.daily("funnel", "2026-03-01", form=FORM, submissions=17)
    asked = f"/v1/forms/{FORM}/response-revenue?range={RANGE}"
    rows = client.get(asked, headers=headers).get_json()["data"]
    names, *lines = table(client.get(f"{asked}&format=csv", headers=headers))
    values = [line[names.index("value")] for line in lines]
    made = {text: f"'{text}" for text in texts} | {text: text for text in plain} | {None: ""}
    assert {row["value"] for row in rows} == set(made)
    assert values == [made[row["value"]] for row in rows]
    net = [line[names.index("netRevenueCents")] for line in lines]
    assert net == [str(row["netRevenueCents"]) for row in rows]
    assert "-100" in net


def test_what_meta_says_is_in_headers(
    client: FlaskClient, shop: ShopBuilder, headers: dict[str, str]
) -> None:
    asked = f"/v1/revenue/by-utm?dimension=campaign&range={RANGE}"
    meta = client.get(asked, headers=headers).get_json()["meta"]
    answer = client.get(f"{asked}&format=csv", headers=headers)
    assert answer.headers["X-Range-From"] == meta["range"]["from"] == "2026-03-01T00:00:00.000Z"
    assert answer.headers["X-Range-To"] == meta["range"]["to"] == "2026-03-02T23:59:59.999Z"
    assert answer.headers["X-Shop-Id"] == meta["shopId"]
    assert answer.headers["X-Credential-Id"] == meta["credentialId"]
    assert answer.headers["X-Request-Id"].startswith("req_")
    named = 'attachment; filename="revenue-by-utm-campaign_2026-03-01_2026-03-02.csv"'
    assert answer.headers["Content-Disposition"] == named


def test_pages_of_the_form_list(
    client: FlaskClient, shop: ShopBuilder, headers: dict[str, str]
) -> None:
    ids = [f"{digit * 8}-1111-4111-8111-111111111111" for digit in "54321"]
    for place, form_id in enumerate(ids):
        shop.form(form_id, created_at=-place)
    for accept, sent in (("", "&format=csv"), ("text/csv", "")):
        path, seen = f"/v1/forms?limit=2{sent}", []
        for _ in range(3):
            answer = client.get(path, headers={**headers, "Accept": accept})
            seen += [line[0] for line in table(answer)[1:]]
            link = answer.headers.get("Link", "")
            path = link.removeprefix("<").removesuffix('>; rel="next"')
        assert (seen, path) == (ids, "")
    for form_id in ids[:1]:
        answer = client.get(f"/v1/forms/{form_id}?format=csv", headers=headers)
        assert table(answer)[1][:3] == [form_id, "A form", "draft"]
        named = f'attachment; filename="forms-{form_id}.csv"'
        assert answer.headers["Content-Disposition"] == named


ACCEPTED = {
    "text/csv": "text/csv",
    "TEXT/CSV": "text/csv",
    "text/csv; charset=utf-8": "text/csv",
    "text/*": "text/csv",
    "text/csv, */*;q=0.1": "text/csv",
    "application/json;q=0.5, text/csv;q=0.6": "text/csv",
    "text/csv;q=0.5, application/json": "application/json",
    "text/csv, application/json": "application/json",
    "text/csv;q=0": "application/json",
    "text/html, application/xml;q=0.9, */*;q=0.8": "application/json",
    "*/*": "application/json",
    "": "application/json",
    "image/png": "application/json",
    ";;;,=q": "application/json",
}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "00123",
            "3E5",
            "1e-3",
            "1-2",
            "24/7",
            "MAR1",
            "1 Dec",
            "10 Dec 2026",
            "10%",
            "€5",
            "5 pm",
        ),
        *(
            "12345678901234567890",
            "1.234,5",
            "(12)",
            "true",
            "2026-11-20",
            " 007 ",
            "'00123",
            "10:30",
        ),
    ],
)
def test_a_spreadsheet_gets_a_code_as_a_text(text: str) -> None:
    """It would show another code, or a day."""
    row = Row("Code", "A code.", words("code", "Code", ""), DATE)
    line = {"code": text, "date": "2026-11-20"}
    written = write_table(row, [line], of_spreadsheet=True).decode()
    (_, cells) = csv.reader(StringIO(written.removeprefix("\ufeff"), newline=""))
    assert cells == [f"'{text}", "2026-11-20"]
    # Programs get it as it is.
    assert write_table(row, [line]).decode() == f"code,date\r\n{quoted(text)},2026-11-20\r\n"


def quoted(text: str) -> str:
    return f'"{text}"' if "," in text else text


@pytest.mark.parametrize("text", ["WELCOME", "SAVE10", "MARIA10", "10% off", "12e", "", "Other"])
def test_other_texts_are_as_they_were(text: str) -> None:
    assert guarded_text(text) == text


def test_accept(client: FlaskClient, headers: dict[str, str]) -> None:
    for accept, mimetype in ACCEPTED.items():
        sent = {**headers, "Accept": accept}
        answer = client.get("/v1/attribution", headers=sent)
        assert (answer.status_code, answer.mimetype) == (200, mimetype), accept
        assert "Accept" in answer.vary
        # The address goes before the header.
        for name, named in (("json", "application/json"), ("csv", "text/csv")):
            assert client.get(f"/v1/attribution?format={name}", headers=sent).mimetype == named


def test_a_format_that_there_is_not(client: FlaskClient, headers: dict[str, str]) -> None:
    sent = {**headers, "Accept": "text/csv"}
    for query in ("format=xml", "format=CSV", "format=", "format=csv&format=csv"):
        refused(client.get(f"/v1/attribution?{query}", headers=sent), 400, "invalid_format", query)
    refused(client.get("/v1/attribution?range=x", headers=sent), 400, "invalid_range")
    refused(client.get("/v1/forms/x/funnel?format=x", headers=sent), 404, "not_found")
    refused(client.get("/v1/attribution", headers={"Accept": "text/csv"}), 401, "unauthorized")


def test_a_table_has_a_tag_of_its_own(client: FlaskClient, headers: dict[str, str]) -> None:
    path = "/v1/attribution/daily"
    in_json = client.get(path, headers=headers).headers["ETag"]
    asked = {**headers, "Accept": "text/csv", "Accept-Encoding": "gzip"}
    packed = client.get(path, headers=asked)
    tag = packed.headers["ETag"]
    assert packed.headers["Content-Encoding"] == "gzip"
    assert tag == client.get(f"{path}?format=csv", headers=headers).headers["ETag"] != in_json
    for known, status in ((tag, 304), (in_json, 200)):
        answer = client.get(path, headers={**asked, "If-None-Match": known})
        assert answer.status_code == status
        assert answer.headers["Vary"] == "Authorization, Accept, Accept-Encoding"
    assert client.get(path, headers={**headers, "If-None-Match": tag}).status_code == 200


def test_the_description_names_it(client: FlaskClient) -> None:
    for path, methods in client.get("/v1/openapi.json").get_json()["paths"].items():
        for method, operation in methods.items():
            (answer,) = (
                answer for status, answer in operation["responses"].items() if status < "300"
            )
            has_table = "Content-Disposition" in answer["headers"]
            has_format = {"$ref": "#/components/parameters/Format"} in operation["parameters"]
            assert has_table == has_format == (method == "get"), path


def test_only_what_is_got_has_a_format(
    client: FlaskClient, headers: dict[str, str], clock: Clock
) -> None:
    made = client.post(
        "/v1/forms",
        json={"name": "A form", "schema": {}},
        headers={**headers, "Accept": "text/csv"},
    )
    assert (made.status_code, made.mimetype) == (201, "application/json")
