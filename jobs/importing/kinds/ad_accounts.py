"""Ad accounts: how the last pull of each went."""

from typing import ClassVar, Final

from jobs.importing import cells
from jobs.importing.rows import Field, names_of
from jobs.importing.standing import Standing
from jobs.importing.upserts import Upsert
from warehouse.tables import ad_account

_FIELDS: Final = (
    Field("provider", cells.lowered),
    Field("account_id", cells.identifier, ""),
    Field("status", cells.one_of("ok", "error")),
    Field("synced_at", cells.instant),
    Field("message", cells.name, ""),
)


class AdAccounts(Standing):
    """One row per shop, provider and account, as it was imported last."""

    name = "ad-accounts"
    reads = _FIELDS
    fields: ClassVar = ("shop_id", *names_of(_FIELDS))
    way = Upsert(ad_account, ("shop_key", *names_of(_FIELDS)), keys=3)
