"""Sessions, submissions and credited orders by SQL, the same for SQLite, PostgreSQL and DuckDB.

`STEPS` are SELECTs on one another, by name, over two relations that whoever uses them brings:

- event: form_id, form_session_id, visitor_id, type (code), instant, device, customer_id, email, code, the
  UTM fields
- purchase: order_id, instant, gross, refunded, customer_id, email, visitor_id, code, the UTM fields

with "" (device: 0) for what is missing, and instants in microseconds. They lean on what is so in the
benchmark's data: a session has one visitor, device, set of UTM values, customer, e-mail and code, so
the greatest tells which; an order has one code, one version and no cancellation, and is no test.
"""

from typing import Final

from warehouse.domain.time import MICROS_PER_DAY
from warehouse.domain.vocabulary import COMPLETE, START, SUBSCRIBE, UTM_FIELDS, VIEW
from warehouse.settings import ATTRIBUTION_WINDOW_DAYS

_WINDOW: Final = int(ATTRIBUTION_WINDOW_DAYS.default) * MICROS_PER_DAY

_SESSION = f"""
SELECT form_id, form_session_id, MIN(instant) AS first_at,
  MIN(CASE WHEN type = {VIEW} THEN instant END) AS viewed_at,
  MIN(CASE WHEN type = {START} THEN instant END) AS started_at,
  MIN(CASE WHEN type = {SUBSCRIBE} THEN instant END) AS subscribed_at,
  MIN(CASE WHEN type = {COMPLETE} THEN instant END) AS completed_at,
  MIN(CASE WHEN type IN ({SUBSCRIBE}, {COMPLETE}) THEN instant END) AS submitted_at,
  MAX(visitor_id) AS visitor_id, MAX(device) AS device, MAX(customer_id) AS customer_id,
  MAX(email) AS email, MAX(code) AS code,
  {", ".join(f"MAX({name}) AS {name}" for name in UTM_FIELDS)}
FROM event GROUP BY form_id, form_session_id"""

# The customer last seen with an e-mail, on an event or an order.
_KNOWN = """
SELECT email, customer_id FROM (
  SELECT email, customer_id,
    ROW_NUMBER() OVER (PARTITION BY email ORDER BY instant DESC, customer_id DESC) AS place
  FROM (
    SELECT email, customer_id, instant FROM event WHERE email <> '' AND customer_id <> ''
    UNION ALL
    SELECT email, customer_id, instant FROM purchase WHERE email <> '' AND customer_id <> ''
  ) seen
) ranked WHERE place = 1"""

_KEY = "CASE WHEN {0}.customer_id <> '' THEN {0}.customer_id ELSE COALESCE(k.customer_id, {0}.email) END"

_SUBMISSION = f"""
SELECT s.*, {_KEY.format("s")} AS customer,
  CAST(ROW_NUMBER() OVER (ORDER BY s.submitted_at, s.form_session_id) AS BIGINT) AS place
FROM session s LEFT JOIN known k ON k.email = s.email WHERE s.submitted_at IS NOT NULL"""

_ORDERED = f"""
SELECT p.*, {_KEY.format("p")} AS customer FROM purchase p LEFT JOIN known k ON k.email = p.email"""

# Keys that a submission and an order can have in common, the strongest first; the type of each.
_TIERS: Final = (
    (0, ("code", "customer")),
    (0, ("code", "visitor_id")),
    (0, ("code",)),
    (1, ("customer",)),
    (2, ("visitor_id",)),
)


def _side(relation: str, instant: str, order_id: str, place: str) -> str:
    """The values that can meet in each tier, of submissions or of orders."""
    parts = []
    for tier, (_, key) in enumerate(_TIERS):
        together, given = " || '|' || ".join(key), " AND ".join(f"{name} <> ''" for name in key)
        parts.append(
            f"SELECT {tier} AS tier, {together} AS k, {instant} AS instant, {order_id} AS order_id, "
            f"{place} AS place FROM {relation} WHERE {given}"
        )
    return " UNION ALL ".join(parts)


# In each tier the latest submission up to the order, by one pass in the order of time.
_LATEST = f"""
SELECT tier, instant, order_id, MAX(place) OVER (
  PARTITION BY tier, k ORDER BY instant, CASE WHEN order_id IS NULL THEN 0 ELSE 1 END
  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS place
FROM ({_side("ordered", "instant", "order_id", "CAST(NULL AS BIGINT)")}
  UNION ALL {_side("submission", "submitted_at", "CAST(NULL AS TEXT)", "place")}) candidate"""

_TYPES = " ".join(f"WHEN {tier} THEN {kind}" for tier, (kind, _) in enumerate(_TIERS))

_CREDIT = f"""
SELECT order_id, place, CASE tier {_TYPES} END AS type FROM (
  SELECT l.order_id, l.place, l.tier,
    ROW_NUMBER() OVER (PARTITION BY l.order_id ORDER BY l.tier) AS strength
  FROM latest l JOIN submission s ON s.place = l.place
  WHERE l.order_id IS NOT NULL AND l.instant - s.submitted_at <= {_WINDOW}
) ranked WHERE strength = 1"""

_OUTCOME = """
SELECT c.place, COUNT(*) AS orders, SUM(p.gross) AS gross, SUM(p.refunded) AS refunded
FROM credit c JOIN purchase p ON p.order_id = c.order_id GROUP BY c.place"""

STEPS: Final = {
    "session": _SESSION,
    "known": _KNOWN,
    "submission": _SUBMISSION,
    "ordered": _ORDERED,
    "latest": _LATEST,
    "credit": _CREDIT,
    "outcome": _OUTCOME,
}
# The UTM values that an order counts under: those of its submission, where it has any.
_HAS_UTM = " || ".join(f"s.{name}" for name in UTM_FIELDS)
EFFECTIVE_UTM: Final = ", ".join(
    f"CASE WHEN {_HAS_UTM} <> '' THEN s.{name} ELSE p.{name} END AS {name}" for name in UTM_FIELDS
)
