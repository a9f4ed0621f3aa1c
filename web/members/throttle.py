"""How often a sign-in may be tried: per account and per address, counted in the warehouse.

Flask-Limiter would count in memory, which each worker has of its own, or in Redis, which this service
does not need otherwise. `web/allowances.py` says how it is counted instead.

An attempt counts before the password is looked at, and whether or not the account exists. A sign-in
gives the account its allowance back, and so does the operator's link to set a new password, so that a
stranger who tries keeps a member out of the sign-in form for a while, never out of the account.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection, delete, select, text

from warehouse.days import MICROS_PER_SECOND
from warehouse.schema import allowance
from web.allowances import Allowance, network, take

WINDOW: Final = 15 * 60 * MICROS_PER_SECOND
PER_ACCOUNT: Final = 10
PER_ADDRESS: Final = 30


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try to sign in to an account (an e-mail address as typed) from a client's address."""

    email: str
    address: str

    @property
    def account_subject(self) -> str:
        # What was typed is nobody's to read: it can be a password in the wrong field.
        return "account " + sha256(self.email.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def address_subject(self) -> str:
        return f"address {network(self.address)}"


def admit(connection: Connection, attempt: Attempt, now: int) -> int:
    """0 where the attempt may be made, else the seconds after which one may be. To be committed
    whatever follows."""
    wait = _take(connection, attempt.address_subject, PER_ADDRESS, now)
    wait = wait or _take(connection, attempt.account_subject, PER_ACCOUNT, now)
    # Last, and past what others hold: so nobody waits for one who waits for them.
    whole = (
        select(allowance.c.subject)
        .where(allowance.c.whole_at <= now)
        .with_for_update(skip_locked=True)
    )
    connection.execute(delete(allowance).where(allowance.c.subject.in_(whole)))
    return wait


def give_back(connection: Connection, email: str) -> None:
    """The account's whole allowance."""
    subject = Attempt(email, "").account_subject
    connection.execute(delete(allowance).where(allowance.c.subject == subject))


def _take(connection: Connection, subject: str, allowed: int, now: int) -> int:
    return take(
        lambda statement, values: connection.execute(text(statement), values).scalar(),
        subject,
        Allowance(allowed, WINDOW),
        now,
    ).wait
