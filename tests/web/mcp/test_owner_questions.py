"""Twenty questions of an owner, each with the calls that answer it and the figure that is the answer.

The list is a document: it says what an assistant is expected to do with the tools. Each call is made on a
random shop, and the figure is in its answer, with the sentence that says how it is counted.
"""

from typing import Any, Final

from tests.support.fixtures import Loaded
from tests.support.product import Product
from tests.support.worlds import world
from tests.web.mcp.asking import call

SOME: Final = world(20, size=60)
Calls = list[tuple[str, dict[str, Any]]]

# The question, the calls, and a figure of the last answer ("" where the answer is a row). `FORM` and `ORDER`
# stand for ids that a first call has given.
QUESTIONS: Final[list[tuple[str, Calls, str]]] = [
    ("Which forms do I have?", [("list_forms", {})], ""),
    (
        "Which form was shown most last week?",
        [("ask_report", {"report": "allFormsFunnel", "range": "7d"})],
        "views",
    ),
    (
        "How many of those who saw my form signed up?",
        [("list_forms", {}), ("ask_report", {"report": "formFunnel", "form_id": "FORM"})],
        "submissionRate",
    ),
    (
        "How much did the form bring?",
        [
            (
                "ask_report",
                {"report": "formTrends", "form_id": "FORM", "clock": "order", "range": "90d"},
            )
        ],
        "netRevenueCents",
    ),
    (
        "Do sign-ups buy more than they used to?",
        [
            ("ask_report", {"report": "formFunnel", "form_id": "FORM", "within": 3, "range": days})
            for days in ("2026-01-01..2026-01-31", "30d")
        ],
        "conversionRate",
    ),
    (
        "At which step do people leave?",
        [("ask_report", {"report": "stepDropoff", "form_id": "FORM", "range": "90d"})],
        "dropoffs",
    ),
    (
        "How long does it take to fill in?",
        [("ask_report", {"report": "timeToComplete", "form_id": "FORM", "range": "90d"})],
        "p50Ms",
    ),
    (
        "Is the form worse on phones?",
        [("ask_report", {"report": "formDevices", "form_id": "FORM", "range": "90d"})],
        "submissionRate",
    ),
    (
        "How many different people saw it, and how many bought?",
        [("ask_report", {"report": "visitorConversion", "form_id": "FORM"})],
        "purchasers",
    ),
    (
        "Which answer goes with the most revenue?",
        [("ask_report", {"report": "responseRevenue", "form_id": "FORM", "range": "90d"})],
        "netRevenueCents",
    ),
    (
        "How long after signing up do people buy?",
        [("ask_report", {"report": "timeToOrder", "form_id": "FORM", "range": "90d"})],
        "conversionRate",
    ),
    (
        "Which form brings the most money?",
        [("ask_report", {"report": "revenueByForm", "range": "90d"})],
        "netRevenueCents",
    ),
    (
        "How much of my revenue follows from forms at all?",
        [("ask_report", {"report": "attribution", "range": "30d"})],
        "shareOfRevenue",
    ),
    (
        "On which day did revenue fall?",
        [("ask_report", {"report": "attributionDaily", "range": "7d"})],
        "netRevenueCents",
    ),
    (
        "Which discount code is used most?",
        [("ask_report", {"report": "discountPerformance", "range": "90d"})],
        "redemptionRate",
    ),
    (
        "Which campaign brings sign-ups that buy?",
        [("ask_report", {"report": "revenueByUtm", "dimension": "campaign", "range": "90d"})],
        "rows.conversionRate",
    ),
    (
        "Do my ads pay?",
        [("ask_report", {"report": "adSpend", "range": "90d"})],
        "rows.roas",
    ),
    (
        "How much is a customer of each form worth?",
        [("ask_report", {"report": "lifetimeValue", "dimension": "form", "range": "90d"})],
        "rows.ltvCents",
    ),
    (
        "How much comes from new customers?",
        [("ask_report", {"report": "newReturning", "range": "30d"})],
        "shareOfRevenue",
    ),
    (
        "Why is this order credited to that form?",
        [
            ("describe_report", {"report": "oneOrder"}),
            ("list_orders", {"type": "discount_code", "range": "90d"}),
            ("explain_order", {"order_id": "ORDER"}),
        ],
        "netRevenueCents",
    ),
]


def test_there_are_twenty() -> None:
    assert len({question for question, _, _ in QUESTIONS}) == 20


def test_each_is_answered(loaded: Loaded) -> None:
    product = Product(loaded(SOME))
    shop = next(iter(SOME.casts))
    orders = product.get("/v1/orders", {"range": "90d"}, shop)[1]["data"]
    ids: dict[str, Any] = {"FORM": SOME.casts[shop].forms[0], "ORDER": orders[0]["orderId"]}
    for question, calls, figure in QUESTIONS:
        for tool, arguments in calls:
            result, _ = call(product, shop, tool, **filled(arguments, ids))
            assert not result["isError"], (question, result)
        content = result["structuredContent"]
        assert content["data"] or question == "At which step do people leave?", question
        if figure:
            assert content["about"]["figures"][figure], question
            assert values(content["data"], figure), question
    product.close()


def filled(arguments: dict[str, Any], ids: dict[str, Any]) -> dict[str, Any]:
    return {name: ids.get(str(value), value) for name, value in arguments.items()}


def values(data: Any, name: str) -> list[Any]:
    """The values of a field, whose name leads through the rows of an answer."""
    for part in name.split(".")[:-1]:
        data = data[part]
    rows = data if isinstance(data, list) else [data]
    return [row[name.rpartition(".")[2]] for row in rows]
