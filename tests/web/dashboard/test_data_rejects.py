"""Rejected rows on the Data page: whose they are, what of them is shown, and another import of them."""

import json
import re

from jobs.importing.kinds import KINDS
from jobs.importing.shops import SHOP_ID
from tests.support.import_files import as_ndjson, order
from tests.support.people import Browser, add_member
from tests.support.shop_builder import known_shop
from tests.web.dashboard.page_text import sections
from tests.web.dashboard.two_shops import HTML, PATH, A, B, TwoShops
from web.dashboard import data as page_of_data


def hostile() -> list[bytes]:
    """Lines of one file with rows of both shops, and of nobody."""
    pounds = {"currency": "GBP", "customer_id": "a customer of A"}
    rows = [
        order(order_id="1", **pounds),
        order(order_id="<script>alert(2)</script>", currency="<i>"),
        order(order_id="3", total_cents="\u202etxt"),
        order(order_id="4", customer_id="secret customer" * 20),
        order(order_id="5", discount_codes=[{"code": "SECRETCODE" * 30}]),
        order(order_id="6", shop_id=B, **pounds),
        order(order_id="7", shop_id="nobody.example", **pounds),
        order(order_id="8", shop_id=None, **pounds),
        order(order_id="9" * 201, created_at="soon", email="eve@mail.example"),
    ]
    return [
        *(json.dumps(row).encode() for row in rows),
        b'{"shop_id": "a.example", "order_id": "10',
    ]


def test_rejects_by_reason(two: TwoShops) -> None:
    two.take("orders", b"\n".join(hostile()))
    (row,) = two.rows("SELECT DISTINCT rejected_at AS at FROM reject")
    at, key = two.text(A, row.at), "Orders"
    iso = "is not an ISO 8601 time; an example is 2026-01-31T23:59:59Z"
    correct = "Correct the rows in their file, and import the file again."
    currency = "Send these rows in the shop's currency, and import the file again."

    def line(reason: str, remedy: str, example: str) -> list[str]:
        return [key, f"{reason} {remedy} {example}", "1", at]

    lacks = "These rows count, without this field. Where it matters, correct it, and import the file again."
    expected = [
        line(
            f"created_at: … {iso}",
            correct,
            f"line 9, order_id {'9' * 200}… : created_at: 'soon' {iso}",
        ),
        line(
            "currency: … is not a currency code of three letters",
            currency,
            "line 2, order_id <script>alert(2)</script> : "
            "currency: '<i>' is not a currency code of three letters",
        ),
        line(
            "currency: … is not the shop's currency (EUR)",
            currency,
            "line 1, order_id 1 : currency: 'GBP' is not the shop's currency (EUR)",
        ),
        line(
            "kept without customer_id: … is longer than 255 characters",
            lacks,
            "line 4, order_id 4 : kept without customer_id: … is longer than 255 characters",
        ),
        line(
            "kept without discount_codes: code: … is longer than 255 characters",
            lacks,
            "line 5, order_id 5 : kept without discount_codes: code: … is longer than 255 characters",
        ),
        line(
            "total_cents: … is a text, not a number; write it without quotes",
            correct,
            "line 3, order_id 3 : total_cents: '\\u202etxt' is a text, not a number; write it "
            "without quotes",
        ),
    ]
    two.section(A, "Rejected rows").check(
        expected,
        others=[
            "4 rows of this shop could not be imported, and are in no figure. 2 rows were imported "
            "without a field that cannot be used, and count. The newest examples stand below each "
            "reason.",
            "This helps where the cause was not in the rows: after a correction of the shop, or an "
            "update of this service. A row that is wrong in itself is refused again, and stays "
            "listed for 30 days.",
        ],
    )
    page = two.page(A)
    assert "<script>alert" not in page
    for private in ("a customer of A", "secret customer", "SECRETCODE", "eve@", "the file of both"):
        assert private not in page, private
    of_b = two.section(B, "Rejected rows")
    assert [row[1:3] for row in of_b.tables[0]] == [
        [
            f"currency: … is not the shop's currency (EUR) {currency} "
            "line 6, order_id 6 : currency: 'GBP' is not the shop's currency (EUR)",
            "1",
        ]
    ]


def test_advice_and_values_do_not_hang_on_the_words(two: TwoShops) -> None:
    """A program decides by the code and the field of a reject, whatever a file puts in its words."""
    private = {"discount_codes": [{"code": "SECRETCODE" * 30}]}
    two.load("orders", [order(order_id="1", discount_cents="x", **private)])
    two.load("orders", [order(order_id="2", total_cents=None)])
    two.load("orders", [order(order_id="3", total_cents="kept without x: missing")])
    stored = two.rows("SELECT code, field FROM reject ORDER BY reject_id")
    assert [tuple(row) for row in stored] == [
        ("kept", ""),
        ("missing", "total_cents"),
        ("", "total_cents"),
    ]
    two.change("UPDATE reject SET reason = 'other words'")
    assert [row[2] for row in two.section(A, "Rejected rows").tables[0]] == ["1", "1", "1"]
    page = two.page(A)
    assert "SECRETCODE" not in page
    for advice in ("These rows count, without", "Add this field", "Correct the rows in"):
        assert page.count(advice) == 1, advice


def test_another_system_s_file_is_named_and_its_values_are_not(two: TwoShops) -> None:
    file = two.folder / "Our <spend>.csv"
    file.write_text(
        "Date,Platform,Campaign,Currency,Cost,Impr.,Clicks\n2026-01-02,meta,S,EUR,secret,1,1\n"
    )
    two.jobs("import", "ad-spend", "--shop", A, str(file))
    (row,) = two.section(A, "Rejected rows").tables[0]
    assert row[1].endswith("Our <spend>.csv, record 2 : spend: … is not a number")
    assert str(two.folder) not in two.page(A)
    assert "secret" not in two.page(A)
    assert "No row of this shop was rejected in the last 30 days." in two.page(B)
    assert "spend" not in "".join(two.section(B, "Rejected rows").others)


def test_many_reasons_stay_light(two: TwoShops) -> None:
    # The reasons differ by the names of the months, which stand outside of quotation marks.
    rows = [order(order_id=str(n), currency="GBP") for n in range(1, 500)]
    two.take("orders", as_ndjson(rows))
    two.change("UPDATE reject SET reason = 'reason ' || reject_id")
    page = two.page(A)
    assert len(page) < 150_000
    assert "The 20 most frequent of 499 reasons." in page
    assert len(sections(page)["Rejected rows"].tables[0]) == 20


def test_a_retry_and_its_outcome(two: TwoShops) -> None:
    wrong = [order(order_id=str(number), currency="GBP") for number in range(3)]
    wrong.append(order(order_id="9", shop_id=B, currency="GBP"))
    two.take("orders", as_ndjson(wrong))
    two.change("UPDATE shop SET currency = 'GBP'")
    browser = two.browsers[A]
    assert browser.client.post("/data/retry").status_code == 400, "without the token of the form"
    assert two.rows("SELECT * FROM task") == []
    fields = browser.form(PATH)
    answer = browser.client.post("/data/retry", data=fields)
    assert (answer.status_code, answer.location) == (302, "/data#rejects")
    page = two.page(A)
    assert "The next refresh imports the rejected rows again." in page
    assert "wait to be imported again by the next refresh" in page
    assert "Import them again" not in page
    assert "wait to be imported" not in two.page(B)
    browser.client.post("/data/retry", data=fields)
    assert "already wait for the next refresh" in two.page(A)
    trail = two.rows("SELECT actor, shop_key FROM audit_event WHERE action = 'rejects_retried'")
    assert trail == [(f"ada@{A}", known_shop(two.engine, A).key)], "asked once"
    assert "Asked to import rejected rows again" in two.page(A, "/settings/activity")
    assert "Asked to import" not in two.page(B, "/settings/activity")
    two.jobs("rollup", "--refresh")
    (row,) = two.rows("SELECT ended_at FROM task")
    outcome = two.section(A, "Rejected rows")
    outcome.check(
        others=[
            "No row of this shop was rejected in the last 30 days.",
            two.text(A, row.ended_at),
            "they were imported again: 3 accepted. Those that were refused again are listed.",
        ]
    )
    assert len(two.section(B, "Rejected rows").tables[0]) == 1
    two.change("""UPDATE task SET result = '{"reason": "it <b> broke"}'""")
    assert "3 accepted; then it &lt;b&gt; broke. Those" in two.page(A)


def test_only_members_who_manage_connections_see_it(two: TwoShops) -> None:
    add_member(two.engine, known_shop(two.engine, A), "bob@a.example", ["forms:edit"])
    two.take("orders", as_ndjson([order(currency="GBP")]))
    bob = Browser(two.app.test_client()).signed_in("bob@a.example")
    page = bob.get("/", headers=HTML).get_data(as_text=True)
    assert not re.search(r'href="/data["?#]', page)
    assert "a member with the Connections permission sees why on the Data page." in page
    refused = bob.get(PATH, headers=HTML)
    assert refused.status_code == 403
    assert "Only a member with the Connections permission" in refused.get_data(as_text=True)
    token = bob.form("/settings/account")
    assert bob.client.post("/data/retry", data=token).status_code == 403
    assert two.rows("SELECT * FROM task") == []
    own = two.page(A, "/")
    assert '<a href="/data?' in own
    assert "#rejects" in own
    assert Browser(two.app.test_client()).get(PATH, headers=HTML).status_code == 302


def test_every_kind_of_a_shop_has_its_words() -> None:
    kinds = {name for name, kind in KINDS.items() if SHOP_ID in kind.fields}
    assert page_of_data.KINDS.keys() == page_of_data._KEYS.keys() == kinds
    fields = {field for name in kinds for field in KINDS[name].field_names()}
    assert fields >= page_of_data._SHOWN_VALUES
