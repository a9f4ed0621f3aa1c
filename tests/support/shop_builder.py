"""A warehouse with literal contents: a shop, its forms, its keys, its daily rows.

Rows are given as they stand in the tables, texts as texts: the builder puts ids in their place and
the texts behind them into the dimension tables. Nothing is worked out here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, delete, insert, select, update

from warehouse.catalogue import LOGIC_VERSION, OUTCOMES, SUMMARY, Summary
from warehouse.daily.packed_rows import layout
from warehouse.domain.hash_ids import text_id
from warehouse.domain.time import day_number, to_micros
from warehouse.domain.vocabulary import ATTRIBUTION_TYPES, DEVICES, SCOPES, UTM_FIELDS
from warehouse.tables import (
    DAILY,
    ad_account,
    ad_spend,
    dim_discount_code,
    dim_step,
    dim_text,
    dim_utm,
    edition,
    exchange_rate,
    form,
    shop,
)
from web.auth import api_keys
from web.auth.audit import Actor, Change

# Dimensions whose ids stand for texts.
TEXTS = {"form", "step", "field", "value", "discount", "field_a", "field_b", "value_a", "value_b"}


def day(text: str) -> int:
    return day_number(date.fromisoformat(text))


def instant(text: str) -> int:
    return to_micros(datetime.fromisoformat(text).replace(tzinfo=UTC))


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that says so at once, as the product's do (see warehouse/connections/engine.py)."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        yield connection


class ShopBuilder:
    """One shop with one edition, on a migrated warehouse."""

    def __init__(
        self,
        engine: Engine,
        shop_id: str = "example.myshopify.com",
        *,
        currency: str = "USD",
        timezone: str = "UTC",
        rolled_up: bool = True,
    ) -> None:
        self.engine = engine
        self.shop_id = shop_id
        self._texts: set[str] = set()
        self._utms: set[int] = set()
        with writing(engine) as connection:
            self.key = connection.execute(
                insert(shop).returning(shop.c.shop_key),
                {"shop_id": shop_id, "currency": currency, "timezone": timezone},
            ).scalar_one()
            self.edition = connection.execute(
                insert(edition).returning(edition.c.edition),
                {
                    "shop_key": self.key,
                    "timezone": timezone,
                    "window_days": 30,
                    "logic_version": LOGIC_VERSION,
                },
            ).scalar_one()
            if rolled_up:
                connection.execute(
                    update(shop).where(shop.c.shop_key == self.key).values(edition=self.edition)
                )

    def mint(self, *scopes: str, expires_at: int | None = None) -> str:
        """A key with these scopes (all where none is named)."""
        with writing(self.engine) as connection:
            return api_keys.mint(
                Change(connection, Actor("test", "test"), 0),
                self.shop_id,
                scopes or SCOPES,
                name="",
                expires_at=expires_at,
            )

    def form(self, form_id: str, **columns: Any) -> str:
        row = {
            "shop_key": self.key,
            "form_id": form_id,
            "name": "A form",
            "status": "draft",
            **columns,
        }
        with writing(self.engine) as connection:
            connection.execute(insert(form), row)
        return form_id

    def daily(self, name: str, on: str, **values: Any) -> None:
        """One line of a summary; measures left out are 0. Without `delay`, orders came at once; without
        `submitted`, on the day of their submission. Outcomes of submissions go to the summary that has them,
        of no device where none is given.

        Where a day's lines lie packed as cells, one is given by name like any other, or several as
        tuples in `cells`, with the dimensions that they share (the first ones) by name, and with outcomes
        behind the first measure, which is `submissions`.
        """
        summary = SUMMARY[name]
        days = {"delay": 0, "submitted": day(on)}
        dims = (*summary.dims, *summary.packed_dims)
        key = {dim: self._id(dim, values.pop(dim)) for dim in dims if dim in values}
        cells = values.pop("cells", [()])
        first, *others = summary.measures
        measures = (first, *(OUTCOMES if summary.outcomes else ()), *others)
        figures = {measure: values.pop(measure, 0) for measure in measures}
        assert not values, values
        free = [dim for dim in dims if dim not in key and dim not in days]
        shared = {"edition": self.edition, "day": day(on), **days, **key, **figures}
        lines = [
            shared
            | {dim: self._id(dim, value) for dim, value in zip(free, cell, strict=False)}
            | dict(zip(measures, cell[len(free) :], strict=False))
            for cell in cells
        ]
        self._add(summary, lines)
        if summary.outcomes:
            bought = [{"device": 0, **line} for line in lines if any(line[m] for m in OUTCOMES)]
            self._add(SUMMARY[summary.outcomes], bought)

    def _add(self, summary: Summary, lines: list[dict[str, int]]) -> None:
        """Lines of one key."""
        if not lines:
            return
        table = DAILY[summary.name]
        row: dict[str, Any] = {name: lines[0][name] for name in summary.key}
        with writing(self.engine) as connection:
            if summary.packed_dims:
                same = [table.c[name] == value for name, value in row.items()]
                before = connection.execute(select(table.c.packed_dims).where(*same)).scalar()
                connection.execute(delete(table).where(*same))
                columns = layout(summary)
                packed = [tuple(line[name] for name in columns.names or ()) for line in lines]
                row["packed_dims"] = (before or b"") + np.array(packed, dtype=columns).tobytes()
            else:
                row |= {name: lines[0][name] for name in summary.measures}
            connection.execute(insert(table), row)

    def step(self, form_id: str, step_id: str, index: int, name: str = "") -> None:
        row = {
            "edition": self.edition,
            "form": self.text(form_id),
            "step": self.text(step_id),
            "step_index": index,
            "step_name": name,
        }
        with writing(self.engine) as connection:
            connection.execute(insert(dim_step), row)

    def code(self, code: str, discount: str) -> None:
        row = {
            "edition": self.edition,
            "code": self.text(code),
            "discount": self.text(discount),
        }
        with writing(self.engine) as connection:
            connection.execute(insert(dim_discount_code), row)

    def spend(self, on: str, provider: str, campaign_id: str, spend: str, **columns: Any) -> None:
        row = {
            "shop_key": self.key,
            "provider": provider,
            "account_id": "",
            "campaign_id": campaign_id,
            "day": day(on),
            "segment": "",
            "campaign_name": f"Name of {campaign_id}",
            "currency": "USD",
            "spend": spend,
            **columns,
        }
        with writing(self.engine) as connection:
            connection.execute(insert(ad_spend), row)
            moved = update(shop).where(shop.c.shop_key == self.key)
            connection.execute(moved.values(data_version=shop.c.data_version + 1))

    def account(self, provider: str, status: str, synced_at: str, account_id: str = "") -> None:
        row = {
            "shop_key": self.key,
            "provider": provider,
            "account_id": account_id,
            "status": status,
            "synced_at": instant(synced_at),
        }
        with writing(self.engine) as connection:
            connection.execute(insert(ad_account), row)

    def rate(self, on: str, base: str, quote: str, rate: str) -> None:
        row = {"base": base, "quote": quote, "day": day(on), "rate": rate}
        with writing(self.engine) as connection:
            connection.execute(insert(exchange_rate), row)

    def text(self, text: str) -> int:
        """The id of a text, which the edition knows from now on."""
        if text and text not in self._texts:
            self._texts.add(text)
            row = {"edition": self.edition, "id": text_id(text), "text": text}
            with writing(self.engine) as connection:
                connection.execute(insert(dim_text), row)
        return text_id(text)

    def utm(self, values: Mapping[str, str]) -> int:
        """The id of UTM values given without their prefix: `{"source": "meta"}`."""
        row = {name: values.get(name.removeprefix("utm_"), "") for name in UTM_FIELDS}
        utm = text_id("\0".join(row.values())) if any(row.values()) else 0
        if utm and utm not in self._utms:
            self._utms.add(utm)
            with writing(self.engine) as connection:
                connection.execute(insert(dim_utm), {"edition": self.edition, "utm": utm, **row})
        return utm

    def _id(self, dim: str, value: Any) -> int:
        if dim in TEXTS:
            return self.text(value) if value is not None else 0
        if dim == "device":
            return DEVICES.index(value)
        if dim == "type":
            return ATTRIBUTION_TYPES.index(value)
        if dim == "utm":
            return self.utm(value)
        return int(value)


def data_version(engine: Engine, shop_id: str) -> int:
    with engine.connect() as connection:
        return connection.execute(
            select(shop.c.data_version).where(shop.c.shop_id == shop_id)
        ).scalar_one()


def known_shop(engine: Engine, shop_id: str) -> Any:
    """A shop that was imported, as `add_member` asks for it."""
    with engine.connect() as connection:
        key = connection.execute(
            select(shop.c.shop_key).where(shop.c.shop_id == shop_id)
        ).scalar_one()
    return SimpleNamespace(key=key, shop_id=shop_id)
