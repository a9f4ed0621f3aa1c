"""The hashes of e-mail addresses as a warehouse under test stores them."""

from sqlalchemy import Engine, update

from warehouse.connections.arrow import open_arrow
from warehouse.domain.email_hash import EmailHasher, hashed_email
from warehouse.operations.hash_secret import email_hasher
from warehouse.tables import secret

_SECRET = "the secret of warehouses under test"
HASHER = EmailHasher(_SECRET)


def use_known_secret(engine: Engine) -> None:
    """Have a migrated warehouse hash as HASHER does."""
    with engine.begin() as connection:
        connection.execute(update(secret).values(value=_SECRET))


def keyed(address: str, hasher: EmailHasher = HASHER) -> str:
    """The hash that is stored for an e-mail address."""
    return hasher.keyed(hashed_email(address))


def marked(address: str, hasher: EmailHasher = HASHER) -> str:
    """The text that is stored in the place of an id that is an e-mail address, and in kept rejects."""
    return hasher.mark(hashed_email(address))


def hasher_of(url: str) -> EmailHasher:
    """The hasher of the warehouse at a URL."""
    with open_arrow(url) as connection:
        return email_hasher(connection)
