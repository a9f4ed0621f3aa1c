"""The address that pg_dump and pg_restore get."""

from sqlalchemy import make_url

from warehouse.backups.postgresql import _plain as without_password


def test_it_has_no_password_and_nothing_in_its_place() -> None:
    url = make_url(
        "postgresql+psycopg://me:secret@db.example:5433/formrevenue?sslmode=require&application_name=me"
    )
    plain = "postgresql://me@db.example:5433/formrevenue?sslmode=require"
    assert without_password(url) == plain
