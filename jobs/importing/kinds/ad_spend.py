"""Ad spend, which platforms restate for weeks: one row per shop, provider, account, campaign, day and
segment, as it was imported last."""

from typing import ClassVar, Final

import pyarrow as pa

from jobs.importing.kinds.ad_spend_file import AdSpendFile
from jobs.importing.kinds.base import RowsOfFile, Written
from jobs.importing.kinds.replace_last import STAGED, ReplaceLast, Upsert
from jobs.importing.shops import SHOP_ID
from jobs.importing.values.fields import COUNT, CURRENCY, DAY, DECIMAL, ID, NAME, PROVIDER, Field
from warehouse.connections.arrow import ArrowConnection
from warehouse.tables import ad_spend

_DATE: Final = Field("date", DAY, "taken as the shop's day", required=True)
# The count of campaign days that have rows of different levels, which add up.
_MIXED: Final = "mixed_levels"
_DAY: Final = ("shop_key", "provider", "account_id", "campaign_id", "day")
# The level of a segment that a format composed (`adset=1/ad=2`): the number of its keys and the name of
# the first. A producer's own texts have the level of no segment; a hash has no known level.
_LEVEL: Final = (
    "CASE WHEN t.segment LIKE '%=%' THEN "
    "CAST(LENGTH(t.segment) - LENGTH(REPLACE(t.segment, '=', '')) AS TEXT) "
    "|| SUBSTR(t.segment, 1, 3) ELSE '' END"
)
_MIXED_DAYS: Final = (
    f"SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT DISTINCT {', '.join(_DAY)} FROM {STAGED}) k "
    f"CROSS JOIN ad_spend t WHERE {' AND '.join(f't.{name} = k.{name}' for name in _DAY)} "
    f"AND t.segment NOT LIKE 'sha256=%' GROUP BY {', '.join(f'k.{name}' for name in _DAY)} "
    f"HAVING MIN({_LEVEL}) <> MAX({_LEVEL})) mixed"
)


class AdSpendKind(ReplaceLast):
    name = "ad-spend"
    keeps_others = True
    fields: ClassVar = (
        SHOP_ID,
        Field("provider", PROVIDER, "meta, google, tiktok, ...", required=True),
        Field("account_id", ID, "the account, if there are several"),
        Field("campaign_id", ID, "the platform's id", required=True),
        _DATE,
        Field(
            "segment", ID, "any finer key (ad set, ad, device); rows of different segments add up"
        ),
        Field("campaign_name", NAME, "the platform's name", required=True),
        Field("currency", CURRENCY, "of `spend`", required=True),
        Field("spend", DECIMAL, "in major units; may be negative", required=True),
        Field("impressions", COUNT, "how often ads were shown", required=True),
        Field("clicks", COUNT, "how often ads were clicked", required=True),
        Field(
            "reported_conversions",
            DECIMAL,
            "conversions that the platform claims; kept, and in no figure",
        ),
        Field("reported_value", DECIMAL, "their value, in `currency`; kept, and in no figure"),
    )
    upsert = Upsert(
        ad_spend,
        ("shop_key", *("day" if field is _DATE else field.name for field in fields[1:])),
        keys=6,
    )

    def of_file(self) -> RowsOfFile:
        return AdSpendFile()

    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """As `ReplaceLast`; also counts the campaign days that now have rows of several levels."""
        written = super().write(connection, rows, import_id)
        if written.new and (days := int(connection.value(_MIXED_DAYS) or 0)):
            written.more[_MIXED] = days
        return written
