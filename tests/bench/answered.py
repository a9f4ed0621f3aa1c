"""The answers of the service over the 90 days, in the form in which SQL finds it."""

import http.client
import json
import math
from collections.abc import Sequence
from typing import Any, Final

from tests.bench.data import FIRST, FORM_IDS, LAST
from tests.bench.servers import serving
from tests.bench.service import ENDPOINTS, SERVICE, mint
from warehouse.domain.vocabulary import DEVICES

FORM: Final = FORM_IDS[0]
Figures = list[tuple[Any, ...]]
_MONEY = ("orders", "grossRevenueCents", "totalRefundedCents")
_FUNNEL = (
    *("views", "starts", "subscriptions", "completions", "submissions", "convertedSubmissions"),
    *_MONEY,
)
_UTM = ("utmSource", "utmCampaign", "utmMedium", "utmTerm", "utmContent")


def answered(url: str) -> dict[str, Figures]:
    """By the name of the endpoint: sorted rows of figures."""
    key = mint(url)
    with serving(url, *SERVICE) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

        def data(name: str) -> Any:
            path = ENDPOINTS[name][1]
            window = f"{'&' if '?' in path else '?'}range={FIRST}..{LAST}"
            connection.request("GET", path + window, headers={"Authorization": f"Bearer {key}"})
            return json.loads(connection.getresponse().read())["data"]

        visitors = [
            row[level]
            for row in data("visitor conversion")
            for level in ("visitors", "submitters", "purchasers")
        ]
        times = [
            (_device(row["deviceType"]), row["completions"], row["averageMs"])
            for row in data("time to complete")
        ]
        return {
            "funnel": [_figures(data("funnel"), _FUNNEL)],
            "visitor conversion": [tuple(visitors)],
            "by UTM": sorted(_figures(row, _UTM + _MONEY) for row in data("by UTM")["rows"]),
            "time to complete": sorted(times),
        }


def same(found: Figures, expected: Figures) -> bool:
    """Whether these are the same figures; an average that was rounded is."""
    return len(found) == len(expected) and all(
        math.isclose(one, other, rel_tol=1e-5) if isinstance(other, float) else one == other
        for ours, theirs in zip(found, expected, strict=True)
        for one, other in zip(ours, theirs, strict=False)
    )


def _device(name: str) -> int:
    return 0 if name == "all" else DEVICES.index(name)


def _figures(row: dict[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)
