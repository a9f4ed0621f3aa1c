"""Where a warehouse is: its URL names the same database to ADBC and to SQLAlchemy."""

import adbc_driver_manager
import pytest
from sqlalchemy import make_url

from tests.conftest import NewUrl
from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import backend_of
from warehouse.connections.errors import is_outage
from warehouse.connections.postgresql import PostgresBackend
from warehouse.connections.sqlite import SqliteBackend
from warehouse.setting_values import SettingError
from warehouse.settings import WAREHOUSE_URL


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///var/warehouse.db", "var/warehouse.db"),
        ("sqlite:////srv/warehouse.db", "/srv/warehouse.db"),
        ("sqlite:///a%20b/warehouse.db?timeout=5", "a b/warehouse.db"),
        ("sqlite://", ""),
    ],
)
def test_a_file_is_the_one_that_sqlalchemy_opens(url: str, file: str) -> None:
    backend = backend_of(url)
    assert isinstance(backend, SqliteBackend)
    assert backend.file == file == (make_url(url).database or "")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://user:secret@db.example.com:5433/warehouse?sslmode=require",
        "postgresql+psycopg://postgres@/warehouse?host=/run/postgresql",
        "postgresql+psycopg://us%40er:p%3Aa%2Fs%40s@[::1]:5432/warehouse",
        "postgresql+psycopg://user:p#a/s:s[w]ord%@db/warehouse",
    ],
)
def test_libpq_is_given_the_same_server(url: str) -> None:
    backend = backend_of(url)
    assert isinstance(backend, PostgresBackend)
    given, asked = make_url(backend.libpq_uri()), make_url(url)
    assert given.set(query={}) == asked.set(drivername="postgresql", query={})
    # A link that is cut is noticed; the operator's own parameters count.
    assert given.query["tcp_user_timeout"] == "12000"
    assert dict(given.query) == dict(given.query) | dict(asked.query)


def test_the_operators_own_parameters_count() -> None:
    backend = backend_of("postgresql+psycopg://db/warehouse?keepalives_idle=99")
    assert isinstance(backend, PostgresBackend)
    assert make_url(backend.libpq_uri()).query["keepalives_idle"] == "99"


def test_a_lock_is_waited_for_or_not(new_warehouse_url: NewUrl) -> None:
    url = new_warehouse_url()
    with open_arrow(url) as holder, open_arrow(url, wait_for_locks=False) as other:
        holder.lock_table("shop")
        assert other.value("SELECT COUNT(*) FROM shop") == 0
        other.rollback()
        with pytest.raises(adbc_driver_manager.Error) as refused:
            other.lock_table("shop")
        assert is_outage(refused.value)
        holder.rollback()


def test_a_shop_is_quiet_while_nobody_imports_rows_of_it(postgres_url: str) -> None:
    with open_arrow(postgres_url) as one, open_arrow(postgres_url) as other:
        one.execute("INSERT INTO shop (shop_id) VALUES ('a'), ('b')")
        one.commit()
        one.keep_shops("1")
        assert other.lock_quiet_shops("1, 2") == "2"
        other.commit()
        one.commit()
        assert other.lock_quiet_shops("1, 2") == "1, 2"


def test_an_import_of_one_shop_does_not_wait_for_the_lock_of_another(postgres_url: str) -> None:
    with (
        open_arrow(postgres_url) as one,
        open_arrow(postgres_url, wait_for_locks=False) as other,
    ):
        one.execute("INSERT INTO shop (shop_id) VALUES ('a'), ('b')")
        one.commit()
        one.lock_shops("1")
        other.keep_shops("2")
        with pytest.raises(adbc_driver_manager.Error):
            other.keep_shops("1")


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_usual_name_of_postgresql_means_its_one_driver(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "WAREHOUSE_URL", f"{scheme}://us%40er:se%3Acret@[::1]:5433/w?sslmode=require"
    )
    assert (
        WAREHOUSE_URL.get() == "postgresql+psycopg://us%40er:se%3Acret@[::1]:5433/w?sslmode=require"
    )


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:secret@db/warehouse",
        "postgresql+psycopg2://user:secret@db/warehouse",
        "postgresql://user:secret@db:port/warehouse",
        "var/warehouse.db",
    ],
)
def test_another_url_is_refused_without_showing_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", url)
    with pytest.raises(SettingError) as refused:
        WAREHOUSE_URL.get()
    assert str(refused.value) == (
        "WAREHOUSE_URL: must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME, "
        "as in WAREHOUSE_URL=sqlite:///var/warehouse.db"
    )
