"""The declared tables (`tables/`) as SQLAlchemy's: what the API queries, and migrations compare with."""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql

from warehouse import columns, tables

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
    }
)

_TYPES: Final[dict[columns.Kind, Any]] = {
    # Text is ordered by code point on both databases (contract 1); SQLite compares bytes by default.
    "text": Text().with_variant(Text(collation="C"), "postgresql"),
    "whole": BigInteger(),
    "small": SmallInteger(),
    "serial": BigInteger().with_variant(Integer, "sqlite"),
    "blob": LargeBinary(),
}


def _column(declared: columns.Column) -> Column[Any]:
    return Column(
        declared.name,
        _TYPES[declared.kind],
        nullable=False,
        primary_key=declared.key,
        autoincrement=declared.kind == "serial",
        server_default=None if declared.default is None else str(declared.default),
    )


def _index(declared: columns.Index) -> Index:
    where = sql(declared.where) if declared.where else None
    return Index(
        declared.name,
        *declared.columns,
        unique=declared.unique,
        sqlite_where=where,
        postgresql_where=where,
    )


def _made(declared: columns.Table) -> Table:
    return Table(
        declared.name,
        metadata,
        *map(_column, declared.columns),
        *(UniqueConstraint(*unique.columns) for unique in declared.uniques),
        *map(_index, declared.indexes),
        sqlite_with_rowid=not declared.clustered,
    )


ad_account: Final = _made(tables.ad_account)
ad_spend: Final = _made(tables.ad_spend)
allowance: Final = _made(tables.allowance)
api_key: Final = _made(tables.api_key)
audit_event: Final = _made(tables.audit_event)
dim_code: Final = _made(tables.dim_code)
dim_step: Final = _made(tables.dim_step)
dim_text: Final = _made(tables.dim_text)
dim_utm: Final = _made(tables.dim_utm)
edition: Final = _made(tables.edition)
edition_batch: Final = _made(tables.edition_batch)
exchange_rate: Final = _made(tables.exchange_rate)
fact_answer: Final = _made(tables.fact_answer)
fact_code: Final = _made(tables.fact_code)
fact_email: Final = _made(tables.fact_email)
fact_form_session: Final = _made(tables.fact_form_session)
fact_issue: Final = _made(tables.fact_issue)
fact_order: Final = _made(tables.fact_order)
fact_order_code: Final = _made(tables.fact_order_code)
fact_step: Final = _made(tables.fact_step)
failed_batch: Final = _made(tables.failed_batch)
form: Final = _made(tables.form)
form_creation: Final = _made(tables.form_creation)
import_batch: Final = _made(tables.import_batch)
job_lease: Final = _made(tables.job_lease)
member: Final = _made(tables.member)
membership: Final = _made(tables.membership)
password_link: Final = _made(tables.password_link)
raw_event: Final = _made(tables.raw_event)
raw_order: Final = _made(tables.raw_order)
reject: Final = _made(tables.reject)
run: Final = _made(tables.run)
secret: Final = _made(tables.secret)
shop: Final = _made(tables.shop)
sign_in: Final = _made(tables.sign_in)
DAILY: Final = {name: _made(declared) for name, declared in tables.DAILY.items()}
