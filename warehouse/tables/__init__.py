"""Every table, once, as SQLAlchemy's. Data goes from shops through raw, facts and dimensions to daily rows.

All but the shop-wide tables (raw, ads, shops, members) have `edition` in their key (see
`warehouse/editions`). `base.py` has the metadata, the column types and what callers ask of a table.
"""

from typing import Final

from warehouse.tables.ads import ad_account, ad_spend, exchange_rate
from warehouse.tables.daily import DAILY, dim_discount_code, dim_step, dim_text, dim_utm
from warehouse.tables.facts import (
    code_usage,
    fact_answer,
    fact_code_issued,
    fact_email,
    fact_form_session,
    fact_order,
    fact_order_code,
    fact_step,
)
from warehouse.tables.imports import (
    REPEATED,
    VERSIONS,
    ad_spend_stated,
    form_seen,
    form_version,
    import_file,
)
from warehouse.tables.members import (
    audit_event,
    invitation,
    member,
    membership,
    one_time_link,
    rate_bucket,
    secret,
    sign_in,
)
from warehouse.tables.operations import collector, job_run, pull, scheduler
from warehouse.tables.queue import (
    difference,
    edition,
    edition_batch,
    import_batch,
    reject,
    task,
    zone_rules,
)
from warehouse.tables.raw import kept_facts, kept_key, raw_event, raw_order
from warehouse.tables.shops import (
    api_key,
    deleted_shop,
    forgotten,
    form,
    form_creation,
    form_forgotten,
    form_sighting,
    note,
    shop,
    uncollected,
    write_key,
)

# The tables that an edition owns, daily rows last.
FACTS: Final = (
    fact_form_session,
    fact_step,
    fact_answer,
    fact_code_issued,
    fact_order,
    fact_order_code,
    fact_email,
    code_usage,
)
DIMENSIONS: Final = (dim_text, dim_utm, dim_step, dim_discount_code)
OWNED: Final = (*FACTS, *DIMENSIONS, *DAILY.values())
