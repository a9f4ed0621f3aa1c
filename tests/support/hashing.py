"""The hashes of e-mail addresses as a warehouse under test stores them."""

from warehouse.domain.email_hash import EmailHasher, hashed_email

_SECRET = "the secret of warehouses under test"
HASHER = EmailHasher(_SECRET)


# Has a migrated warehouse hash as HASHER does.
USE_KNOWN_SECRET = (
    f"INSERT INTO secret (name, value) VALUES ('e-mail hash', '{_SECRET}') "
    "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)


def keyed(address: str, hasher: EmailHasher = HASHER) -> str:
    """The hash that is stored for an e-mail address."""
    return hasher.keyed(hashed_email(address))


def marked(address: str) -> str:
    """The text that is stored in the place of an id that is an e-mail address, and in kept rejects."""
    return HASHER.mark(hashed_email(address))
