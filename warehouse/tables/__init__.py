"""Every table, by the way that data goes: shops → raw → facts → dimensions → daily rows.

All but the shop-wide raw tables are keyed by `edition`: one complete set of facts and summaries of
one shop, built under recorded settings (see `editions.py`). A rebuild fills a new edition beside the
one that is read, then takes its place in one step.

These are declarations; what SQLAlchemy makes of them is in `schema.py`.
"""

from typing import Final

from warehouse.tables.ads import ad_account, ad_spend, exchange_rate
from warehouse.tables.daily import DAILY
from warehouse.tables.dimensions import dim_code, dim_step, dim_text, dim_utm
from warehouse.tables.facts import (
    fact_answer,
    fact_code,
    fact_email,
    fact_form_session,
    fact_issue,
    fact_order,
    fact_order_code,
    fact_step,
)
from warehouse.tables.members import (
    allowance,
    audit_event,
    member,
    membership,
    password_link,
    secret,
    sign_in,
)
from warehouse.tables.operations import failed_batch, job_lease, run
from warehouse.tables.queue import edition, edition_batch, import_batch, reject
from warehouse.tables.raw import raw_event, raw_order
from warehouse.tables.shops import api_key, form, form_creation, shop

__all__ = [
    "DAILY",
    "DIMENSIONS",
    "FACTS",
    "OWNED",
    "ad_account",
    "ad_spend",
    "allowance",
    "api_key",
    "audit_event",
    "dim_code",
    "dim_step",
    "dim_text",
    "dim_utm",
    "edition",
    "edition_batch",
    "exchange_rate",
    "fact_answer",
    "fact_code",
    "fact_email",
    "fact_form_session",
    "fact_issue",
    "fact_order",
    "fact_order_code",
    "fact_step",
    "failed_batch",
    "form",
    "form_creation",
    "import_batch",
    "job_lease",
    "member",
    "membership",
    "password_link",
    "raw_event",
    "raw_order",
    "reject",
    "run",
    "secret",
    "shop",
    "sign_in",
]

# The tables that one edition owns, daily rows last.
FACTS: Final = (
    fact_form_session,
    fact_step,
    fact_answer,
    fact_issue,
    fact_order,
    fact_order_code,
    fact_email,
    fact_code,
)
DIMENSIONS: Final = (dim_text, dim_utm, dim_step, dim_code)
OWNED: Final = (*FACTS, *DIMENSIONS, *DAILY.values())
