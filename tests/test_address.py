"""Where a warehouse is: its URL says the same to ADBC as to SQLAlchemy."""

import pytest
from sqlalchemy import make_url

from warehouse.address import address_of
from warehouse.settings import SettingError


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///var/warehouse.db",
        "sqlite:////srv/warehouse.db",
        "sqlite+pysqlite:///a%20b/warehouse.db?timeout=5",
        "sqlite://",
    ],
)
def test_a_file_is_the_one_that_sqlalchemy_opens(url: str) -> None:
    address = address_of(url)
    assert address.sqlite
    assert address.uri == (make_url(url).database or "")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db.example.com/warehouse",
        "postgresql+psycopg://user:secret@db.example.com:5433/warehouse?sslmode=require",
        "postgresql+psycopg://postgres@/warehouse?host=/run/postgresql",
        "postgresql+psycopg://user:@db/warehouse",
        "postgresql+psycopg://us%40er:p%3Aa%2Fs%40s@[::1]:5432/warehouse",
        "postgresql+psycopg://user:p#a/s:s[w]ord%@db/warehouse",
    ],
)
def test_a_server_is_the_one_that_sqlalchemy_reaches(url: str) -> None:
    address = address_of(url)
    assert not address.sqlite
    assert make_url(address.uri) == make_url(url).set(drivername="postgresql")


@pytest.mark.parametrize("url", ["mysql://user:secret@db/warehouse", "var/warehouse.db", ""])
def test_another_url_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(SettingError) as refused:
        address_of(url)
    assert "secret" not in str(refused.value)
