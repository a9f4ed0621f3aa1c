"""Ad accounts: how the last pull of each went. One row per shop, provider and account."""

from typing import ClassVar

import pyarrow as pa

from jobs.importing.kinds.replace_last import ReplaceLast, Upsert
from jobs.importing.shops import SHOP_ID
from jobs.importing.values.fields import ID, NAME, OLD_INSTANT, PROVIDER, Field, FieldType
from jobs.importing.values.texts import word_of
from warehouse.tables import ad_account

STATUS = FieldType(
    "ok or error", word_of({"ok": "ok", "error": "error"}, any_case=True), arrow=pa.string()
)


class AdAccountsKind(ReplaceLast):
    name = "ad-accounts"
    fields: ClassVar = (
        SHOP_ID,
        Field("provider", PROVIDER, "meta, google, tiktok, ...", required=True),
        Field("account_id", ID, "the account, if there are several", decides=True),
        Field("status", STATUS, "how the last pull ended", required=True),
        Field("synced_at", OLD_INSTANT, "when it ended", required=True),
        Field("message", NAME, "the error, for people"),
    )
    upsert = Upsert(
        ad_account,
        ("shop_key", "provider", "account_id", "status", "synced_at", "message"),
        keys=3,
    )
