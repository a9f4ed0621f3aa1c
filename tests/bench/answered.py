"""The filtered questions that peers are asked too, and the service's answers in the form of SQL's."""

import http.client
import json
from contextlib import closing
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from tests.bench.data import FIRST, LAST
from tests.bench.servers import serving
from tests.bench.service import ENDPOINTS, SERVICE, mint

Figures = list[tuple[Any, ...]]
_FUNNEL: Final = (
    *("views", "starts", "subscriptions", "completions", "submissions", "convertedSubmissions"),
    *("orders", "grossRevenueCents", "totalRefundedCents"),
)


class Question(NamedTuple):
    """An endpoint of a form over the 90 days, of some of its sessions."""

    endpoint: str
    filter: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.endpoint}, {' '.join(self.filter.values())}"


QUESTIONS: Final = (
    Question("funnel", {"device": "mobile"}),
    Question("funnel", {"utm_source": "google", "visitor": "new"}),
    Question("visitor conversion", {"device": "desktop"}),
)


def answered(url: str) -> dict[str, Figures]:
    """The figures of each question, by its name."""
    key = mint(url)
    found = {}
    with (
        serving(url, *SERVICE) as server,
        closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection,
    ):
        for each in QUESTIONS:
            query = urlencode({"range": f"{FIRST}..{LAST}", **each.filter})
            target = f"{ENDPOINTS[each.endpoint][1]}?{query}"
            connection.request("GET", target, headers={"Authorization": f"Bearer {key}"})
            data = json.loads(connection.getresponse().read())["data"]
            found[each.name] = [tuple(_figures(each.endpoint, data))]
    return found


def _figures(endpoint: str, data: Any) -> list[int]:
    if endpoint == "funnel":
        return [data[name] for name in _FUNNEL]
    return [row[level] for row in data for level in ("visitors", "submitters", "purchasers")]


def same(found: Figures, expected: Figures) -> bool:
    """Whether these are the same figures: some engines write whole numbers with a point."""
    return [[int(value) for value in row] for row in found] == [list(row) for row in expected]
