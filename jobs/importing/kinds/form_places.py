"""The choice of the seen forms that have the places of a shop, once there are more of them than places.

Anyone can send events, so who came first says nothing. Forms rank by their distinct visitors in the figures,
then by when an import last named them. A form that has a place gives way to one that ranks higher, if the
figures have its events, it has one visitor or nobody submitted it for QUIET_DAYS, and no member has made
anything of it. Forms of pages that the shop's write keys name have places of their own.
"""

from typing import Final, NamedTuple

import pyarrow as pa

from warehouse.catalogue import SUMMARY
from warehouse.connections.arrow import ArrowConnection
from warehouse.daily import writer
from warehouse.domain.form_rules import parse
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import NEVER, local_day
from warehouse.forms.seen_forms import BY_MEMBER, LAST_DAY, VISITORS, most_visitors

QUIET_DAYS: Final = 7

_SUBMITTED: Final = (
    f"SELECT form, MAX(day) AS day FROM {SUMMARY['funnel'].table} "
    "WHERE edition = $1 AND submissions > 0 GROUP BY form"
)
_TOLD: Final = (
    "SELECT s.form_id, s.seen_at, COALESCE(f.on_own_page, s.own) AS own, f.form_id IS NULL AS is_new, "
    f"f.named_at < {BY_MEMBER} AND f.draft_schema = '' AS is_only_seen "
    "FROM (SELECT form_id, MAX(seen_at) AS seen_at, MAX(on_own_page) AS own FROM form_seen "
    "WHERE shop_key = $1 GROUP BY form_id) s "
    "LEFT JOIN form f ON f.shop_key = $1 AND f.form_id = s.form_id"
)
_TAKEN: Final = (
    "SELECT on_own_page AS own, COUNT(*) AS taken FROM form "
    f"WHERE shop_key = $1 AND first_event_at < {NEVER} GROUP BY on_own_page"
)


class Moves(NamedTuple):
    """The ids of forms that get a place, and of those that give way."""

    come: list[str]
    go: list[str]


class _Ranked(NamedTuple):
    visitors: int
    seen_at: int
    form_id: str


def decide(connection: ArrowConnection, shop_key: int, places: int) -> Moves:
    """The forms that are to have the places of a shop, so many on its own pages and so many elsewhere."""
    (shop,) = connection.table(
        "SELECT edition, timezone, form_rules FROM shop WHERE shop_key = $1", shop_key
    ).to_pylist()
    days = pa.table({"edition": [shop["edition"]], "first": [0], "last": [LAST_DAY]})
    seen = writer.rows_of_spans(connection, SUMMARY["all_forms"], days)["form"].unique().to_pylist()
    counted = connection.table(VISITORS.format(shop["edition"])).to_pylist()
    # The distinct visitors of each form that has events in the figures, by the id of its text.
    visitors = most_visitors(seen, ((row["form"], row["visitors"]) for row in counted))
    quiet_since = local_day(connection.now_micros(), shop["timezone"]) - QUIET_DAYS
    submitted = connection.table(_SUBMITTED, shop["edition"]).to_pylist()
    is_busy = {row["form"] for row in submitted if row["day"] > quiet_since}
    ruled = parse(shop["form_rules"]).named
    taken = {row["own"]: row["taken"] for row in connection.table(_TAKEN, shop_key).to_pylist()}
    candidates: dict[int, list[_Ranked]] = {0: [], 1: []}
    weak: dict[int, list[_Ranked]] = {0: [], 1: []}
    for row in connection.table(_TOLD, shop_key).to_pylist():
        form_id, form = row["form_id"], text_id(row["form_id"])
        ranked = _Ranked(visitors.get(form, 1), row["seen_at"], form_id)
        if row["is_new"]:
            candidates[row["own"]].append(ranked)
        elif (
            row["is_only_seen"]
            and form in visitors
            and (ranked.visitors <= 1 or form not in is_busy)
            and form_id not in ruled
        ):
            weak[row["own"]].append(ranked)
    come, go = list[str](), list[str]()
    for own, new in candidates.items():
        new.sort(reverse=True)
        free = max(places - taken.get(own, 0), 0)
        come += [candidate.form_id for candidate in new[:free]]
        for candidate, other in zip(new[free:], sorted(weak[own]), strict=False):
            if candidate[:2] <= other[:2]:
                break
            come.append(candidate.form_id)
            go.append(other.form_id)
    return Moves(come, go)
