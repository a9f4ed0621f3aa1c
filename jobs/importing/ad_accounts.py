"""Ad accounts: how the last pull of each went."""

from typing import Final

from jobs.importing import cells
from jobs.importing.rows import Field
from jobs.importing.upserts import Upsert
from warehouse.tables import ad_account

FIELDS: Final = (
    Field("shop_id", cells.identifier),
    Field("provider", cells.lowered),
    Field("account_id", cells.identifier, ""),
    Field("status", cells.one_of("ok", "error")),
    Field("synced_at", cells.instant),
    Field("message", cells.name, ""),
)

WAY: Final = Upsert(
    ad_account,
    ("shop_key", "provider", "account_id", "status", "synced_at", "message"),
    keys=3,
)
