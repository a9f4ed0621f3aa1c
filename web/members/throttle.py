"""How often a sign-in may be tried: per account and per address, counted in the warehouse.

Flask-Limiter would count in memory, which each worker has of its own, or in Redis, which this service
does not need otherwise. Instead every subject has one row: the instant at which its whole allowance is
there again (the generic cell rate algorithm, a sliding window without a row per attempt). Each attempt
moves it by one cost; where it would lie further ahead than the window, the attempt is refused. One
statement counts and decides, so that attempts at once, in any process, cannot pass together.

An attempt counts before the password is looked at, and whether or not the account exists. A sign-in
gives the account its allowance back, and so does the operator's link to set a new password, so that a
stranger who tries keeps a member out of the sign-in form for a while, never out of the account.
"""

from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import Final

from sqlalchemy import Connection, delete, select, text

from warehouse.days import MICROS_PER_SECOND
from warehouse.tables import sign_in_allowance

WINDOW: Final = 15 * 60 * MICROS_PER_SECOND
PER_ACCOUNT: Final = 10
PER_ADDRESS: Final = 30

_TAKE: Final = text(
    """
    INSERT INTO sign_in_allowance (subject, whole_at)
    VALUES (:subject, CAST(:now AS BIGINT) + CAST(:cost AS BIGINT))
    ON CONFLICT (subject) DO UPDATE SET whole_at = CAST(:cost AS BIGINT) +
        CASE WHEN sign_in_allowance.whole_at > :now THEN sign_in_allowance.whole_at ELSE :now END
    WHERE sign_in_allowance.whole_at + CAST(:cost AS BIGINT) <= CAST(:now AS BIGINT) + :window
    RETURNING whole_at
    """
)


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
        return f"address {_network(self.address)}"


def admit(connection: Connection, attempt: Attempt, now: int) -> int:
    """0 where the attempt may be made, else the seconds after which one may be. To be committed
    whatever follows."""
    wait = _take(connection, attempt.address_subject, PER_ADDRESS, now)
    wait = wait or _take(connection, attempt.account_subject, PER_ACCOUNT, now)
    # Last, and past what others hold: so nobody waits for one who waits for them.
    whole = (
        select(sign_in_allowance.c.subject)
        .where(sign_in_allowance.c.whole_at <= now)
        .with_for_update(skip_locked=True)
    )
    connection.execute(delete(sign_in_allowance).where(sign_in_allowance.c.subject.in_(whole)))
    return wait


def give_back(connection: Connection, email: str) -> None:
    """The account's whole allowance."""
    subject = Attempt(email, "").account_subject
    connection.execute(delete(sign_in_allowance).where(sign_in_allowance.c.subject == subject))


def _take(connection: Connection, subject: str, allowed: int, now: int) -> int:
    cost = WINDOW // allowed
    taken = {"subject": subject, "now": now, "cost": cost, "window": WINDOW}
    if connection.execute(_TAKE, taken).first() is not None:
        return 0
    whole_at = connection.execute(
        select(sign_in_allowance.c.whole_at).where(sign_in_allowance.c.subject == subject)
    ).scalar_one()
    return -(-(whole_at + cost - WINDOW - now) // MICROS_PER_SECOND)


def _network(address: str) -> str:
    """An address; of IPv6 the /64, since one customer has as many addresses as they like."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return str(parsed)
