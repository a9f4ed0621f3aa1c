"""Ad spend, which platforms restate for weeks: one row per shop, provider, account, campaign, day and
segment, as it was imported last.

A report of a platform states whole campaign-days: what was said of one before, and is not in the report, is
withdrawn. Without the ids of campaigns it states whole days of the account, since a renamed campaign is
another one there. Its parts (chunks of a file, several files of one command, streams of one pull) are one
statement, in force once the last part is there. Rows in this program's own fields withdraw nothing.

`ad_spend_stated` has the campaign-days of each import. Whether a row is withdrawn follows from it and from
who said the row since, which its versions tell: so an undo is exact.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from jobs.importing.kinds import replace_last
from jobs.importing.kinds.ad_spend_file import AdSpendFile
from jobs.importing.kinds.base import Written
from jobs.importing.kinds.replace_last import (
    STAGED,
    ReplaceLast,
    TakenBack,
    Upsert,
    keep_stored,
    last_note,
    same_key,
    settle,
)
from jobs.importing.shops import SHOP_ID, ImportedShops
from jobs.importing.values.columns import ChunkColumns
from jobs.importing.values.fields import COUNT, CURRENCY, DAY, DECIMAL, ID, NAME, PROVIDER, Field
from warehouse.connections.arrow import ArrowConnection, names
from warehouse.editions.pending_batches import sql_list
from warehouse.intake.imports import NO_IMPORT
from warehouse.tables import ad_spend

_DATE: Final = Field("date", DAY, "taken as the shop's day", required=True)
# The counts of rows that the import withdrew, and of campaign days that have rows of different levels, which
# add up.
_WITHDRAWN: Final = "withdrawn"
_MIXED: Final = "mixed_levels"

NO_IDS: Final = "names_are_ids"
"""The column of a format that tells its rows whose campaign has a name alone."""

_ACCOUNT: Final = ("shop_key", "provider", "account_id")
_DAY: Final = (*_ACCOUNT, "campaign_id", "day")
# The column of checked rows with the campaign that they state whole, "" for all of the account.
_STATED: Final = "stated"
_STATED_ROWS: Final = "staged_stated"
# The statements of a version's campaign-day.
_OF_VERSION: Final = (
    f"FROM ad_spend_stated s WHERE {same_key((*_ACCOUNT, 'day'), 's', 'v')} "
    "AND s.campaign_id IN ('', v.campaign_id)"
)
_IS_SAID_SINCE: Final = "({0}.import_id >= {1} OR " + last_note("{0}") + " >= {1})"
# The stored rows `t` of the campaign-days that some imports state.
_OF_IMPORTS: Final = (
    f"SELECT t.* FROM (SELECT DISTINCT {names(_DAY)} FROM ad_spend_stated WHERE import_id IN ({{0}}) "
    f"AND campaign_id <> '') s CROSS JOIN {{1}} t WHERE {same_key(_DAY, 't', 's')} "
    f"UNION SELECT t.* FROM (SELECT DISTINCT {names(_ACCOUNT)} FROM ad_spend_stated "
    f"WHERE import_id IN ({{0}}) AND campaign_id = '') s CROSS JOIN {{1}} t "
    f"WHERE {same_key(_ACCOUNT, 't', 's')} AND EXISTS (SELECT 1 FROM ad_spend_stated d "
    f"WHERE {same_key((*_ACCOUNT, 'day'), 'd', 't')} AND d.campaign_id = '' AND d.import_id IN ({{0}}))"
)
# The level of a segment that a format composed (`adset=1/ad=2`): the number of its keys and the name of
# the first. A producer's own texts have the level of no segment; a hash has no known level.
_LEVEL: Final = (
    "CASE WHEN t.segment LIKE '%=%' THEN "
    "CAST(LENGTH(t.segment) - LENGTH(REPLACE(t.segment, '=', '')) AS TEXT) "
    "|| SUBSTR(t.segment, 1, 3) ELSE '' END"
)
_HAS_CHANGED: Final = "rows_new + rows_replaced > 0 LIMIT 1"
_MIXED_DAYS: Final = (
    f"SELECT COUNT(*) FROM (SELECT 1 FROM ({_OF_IMPORTS}) t WHERE t.segment NOT LIKE 'sha256=%' "
    f"GROUP BY {names(_DAY, 't.')} HAVING MIN({_LEVEL}) <> MAX({_LEVEL})) mixed"
)


class AdSpendKind(ReplaceLast):
    name = "ad-spend"
    keeps_others = True
    of_file = AdSpendFile
    fields: ClassVar = (
        SHOP_ID,
        Field("provider", PROVIDER, "meta, google, tiktok, ...", required=True),
        Field("account_id", ID, "the account, if there are several", decides=True),
        Field("campaign_id", ID, "the platform's id", required=True),
        _DATE,
        Field(
            "segment",
            ID,
            "any finer key (ad set, ad, device); rows of different segments add up",
            decides=True,
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
    # The upsert of rows that later statements may have withdrawn.
    _restated = replace(
        upsert,
        withdrawn=f"EXISTS (SELECT 1 {_OF_VERSION} AND NOT EXISTS (SELECT 1 FROM ad_spend_version w "
        f"WHERE {same_key(upsert.key, 'w', 'v')} AND {_IS_SAID_SINCE.format('w', 's.since')}))",
    )

    def check(self, columns: ChunkColumns, shops: ImportedShops) -> pa.Table:
        """The columns of the upsert's rows; of a platform's report also `_STATED`."""
        rows = super().check(columns, shops)
        if not columns.chunk.format:
            return rows
        has_id = pa.array(columns.missing(NO_IDS))
        return rows.append_column(_STATED, pc.if_else(has_id, rows["campaign_id"], ""))

    def write(self, connection: ArrowConnection, rows: pa.Table, import_id: int) -> Written:
        """Write as `ReplaceLast` does, and store which campaign-days the rows state. They count from `finish`
        on."""
        connection.lock_table(ad_spend.name)
        later = connection.value(
            f"SELECT 1 FROM ad_spend_stated WHERE import_id > {import_id} LIMIT 1"
        )
        upsert = self._restated if later else self.upsert
        if _STATED in rows.column_names:
            columns = (*_ACCOUNT, _STATED, "day")
            stated = rows.select(columns).group_by(list(columns)).aggregate([])
            connection.stage(_STATED_ROWS, stated)
            connection.execute(
                f"INSERT INTO ad_spend_stated ({names(_DAY)}, import_id) SELECT {names(columns)}, "
                f"{import_id} FROM {_STATED_ROWS} WHERE true ON CONFLICT DO NOTHING"
            )
            rows = rows.drop_columns([_STATED])
        return replace_last.write(connection, upsert, rows, import_id, notes_all=True)

    def finish(self, connection: ArrowConnection, imports: Sequence[int]) -> dict[str, int]:
        """Withdraw what was said before of the campaign-days that these imports stated, and not said again;
        the further counts. Commits."""
        connection.lock_table(ad_spend.name)
        listed = sql_list(imports)
        of_imports = f"FROM ad_spend_stated WHERE import_id IN ({listed})"
        counts: dict[str, int] = {}
        if connection.value(f"SELECT 1 {of_imports} LIMIT 1"):
            # A reject of the import that is accepted now is a part of the same statement.
            since = connection.value(f"SELECT MIN(since) {of_imports} AND since > 0") or min(
                imports
            )
            connection.execute(
                f"UPDATE ad_spend_stated SET since = {since} WHERE import_id IN ({listed})"
            )
            key, said = self.upsert.key, _IS_SAID_SINCE.format("w", since)
            unsaid = connection.rows_of(
                ad_spend,
                f"SELECT {names(key)} FROM ({_OF_IMPORTS.format(listed, 'ad_spend')}) t WHERE NOT EXISTS "
                f"(SELECT 1 FROM ad_spend_version w WHERE {same_key(key, 'w', 't')} AND {said})",
            )
            gone = 0
            if unsaid.num_rows:
                connection.stage(STAGED, unsaid)
                keep_stored(connection, self.upsert)
                _, _, gone = settle(connection, self._restated)
            if gone:
                counts[_WITHDRAWN] = gone
            # A report that says nothing new was told so when it came first, and it takes a while to look.
            is_new = f"SELECT 1 FROM import_file WHERE import_id IN ({listed}) AND {_HAS_CHANGED}"
            if (gone or connection.value(is_new)) and (
                mixed := int(connection.value(_MIXED_DAYS.format(listed, "ad_spend")))
            ):
                counts[_MIXED] = mixed
        connection.commit()
        return counts

    def take_back(self, connection: ArrowConnection, import_id: int) -> TakenBack:
        """Restore the rows that the import withdrew."""
        connection.lock_table(ad_spend.name)
        stated = _OF_IMPORTS.format(import_id, "ad_spend_version")
        key = names(self.upsert.key)
        others = connection.rows_of(ad_spend, f"SELECT DISTINCT {key} FROM ({stated}) t")
        connection.execute(f"DELETE FROM ad_spend_stated WHERE import_id = {import_id}")
        return replace_last.take_back(connection, self._restated, import_id, others=others)

    def forget(self, connection: ArrowConnection, expired: str) -> None:
        """Drop for good the rows that expired imports withdrew."""
        connection.lock_table(ad_spend.name)
        of_expired = f"s.import_id IN ({expired})"
        if connection.value(f"SELECT 1 FROM ad_spend_stated s WHERE {of_expired} LIMIT 1"):
            is_said = _IS_SAID_SINCE.format("v", "s.since")
            connection.execute(
                f"DELETE FROM ad_spend_version AS v WHERE (v.import_id = {NO_IMPORT} OR v.import_id IN "
                f"({expired})) AND EXISTS (SELECT 1 {_OF_VERSION} AND {of_expired} AND NOT {is_said})"
            )
            connection.execute(f"DELETE FROM ad_spend_stated AS s WHERE {of_expired}")
        replace_last.forget(connection, self.upsert, expired, f"EXISTS (SELECT 1 {_OF_VERSION})")
