"""Limits on attempts to sign in, counted in the warehouse, which all workers share.

A browser in which this account signed in before (`web/pages/browser_cookie.py`) has attempts of its
own. All others are counted by the account and the client's network together, by the network alone, and
by the account alone. So a stranger who tries passwords uses up the attempts of their own network; many
networks together use up those of unknown browsers; neither keeps the member out of a browser that they
have used before.

An attempt counts before its password is checked, whether or not the account exists. `web/limits/gcra.py` says
how attempts are counted. A new password lifts all limits of an account, so that a stranger's attempts keep a
member out of the sign-in form of a new browser for a while, and never out of the account.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import Final

from sqlalchemy import Connection, delete, select, text

from warehouse.domain.time import MICROS_PER_SECOND
from warehouse.tables import rate_bucket
from web.limits.gcra import RateLimit, client_network, consume

WINDOW: Final = 15 * 60 * MICROS_PER_SECOND
PER_BROWSER: Final = RateLimit(10, WINDOW)
PER_NETWORK: Final = RateLimit(30, WINDOW)
PER_ACCOUNT_AND_NETWORK: Final = RateLimit(10, WINDOW)
# All unknown browsers of the world together: ASVS allows an account 100 failures an hour.
PER_ACCOUNT: Final = RateLimit(100, 4 * WINDOW)
# Refusals that a process remembers.
_MOST_REFUSALS: Final = 10_000

# Opens a connection to write with.
Writer = Callable[[], AbstractContextManager[Connection]]


class SignInRefused(Exception):
    """The password is wrong, or nobody with this address can sign in."""


class TooManyAttempts(SignInRefused):
    """The next attempt is allowed in `retry_after` seconds; the message is a sentence."""

    def __init__(self, retry_after: int) -> None:
        minutes = -(-retry_after // 60)
        super().__init__(
            f"Too many attempts. Try again in {minutes} minute{'s' if minutes > 1 else ''}."
        )
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt to sign in to an account (an e-mail address as typed, in lower case) from a client's
    address. `known_browser` is the id of a browser in which the account signed in before, else ""."""

    email: str
    address: str
    known_browser: str = ""

    def limits(self) -> list[tuple[str, RateLimit]]:
        """The subjects that the attempt is counted by, with their limits."""
        if self.known_browser:
            return [(f"browser {self.known_browser}", PER_BROWSER)]
        network, account = client_network(self.address), account_hash(self.email)
        return [
            (f"network {network}", PER_NETWORK),
            (f"account {account} {network}", PER_ACCOUNT_AND_NETWORK),
            (f"account {account}", PER_ACCOUNT),
        ]


def account_hash(email: str) -> str:
    """A hash that stands for an e-mail address which must not be read: the text can be a password that was
    typed into the wrong field."""
    return sha256(email.encode("utf-8", "surrogatepass")).hexdigest()


class KnownRefusals:
    """Browsers and networks whose next attempt the warehouse has refused, and until when. A process has one
    object. A browser that goes on trying takes neither a place to hash nor the warehouse's write lock from
    others."""

    def __init__(self) -> None:
        self._until: dict[str, int] = {}
        self._lock = Lock()

    def require(self, attempt: Attempt, now: int) -> None:
        """Raise TooManyAttempts where the warehouse would refuse an attempt."""
        subject, limit = attempt.limits()[0]
        left = self._until.get(subject, 0) - now
        # Further ahead than the limit reaches: a clock was ahead.
        if 0 < left <= limit.window:
            raise TooManyAttempts(-(-left // MICROS_PER_SECOND))

    def remember(self, subject: str, retry_after: int, now: int) -> None:
        with self._lock:
            if len(self._until) >= _MOST_REFUSALS:
                self._until = {one: until for one, until in self._until.items() if until > now}
            if len(self._until) < _MOST_REFUSALS:
                self._until[subject] = now + retry_after * MICROS_PER_SECOND


@contextmanager
def counted(
    write: Writer, known: KnownRefusals, attempt: Attempt, now: int
) -> Iterator[Connection]:
    """Count an attempt, in the transaction in which the block reads what the attempt is compared with.
    Commits, whatever becomes of the attempt. Raises TooManyAttempts."""
    known.require(attempt, now)
    with write() as connection:
        if retry_after := count(connection, known, attempt, now):
            connection.commit()
            raise TooManyAttempts(retry_after)
        yield connection
        connection.commit()


def count(connection: Connection, known: KnownRefusals, attempt: Attempt, now: int) -> int:
    """Count an attempt; returns 0 where it is allowed, else the seconds until one is. Does not
    commit."""
    retry_after = 0
    for place, (subject, limit) in enumerate(attempt.limits()):
        retry_after = consume(
            lambda statement, values: connection.execute(text(statement), values).scalar(),
            subject,
            limit,
            now,
        ).retry_after
        if retry_after:
            # The first alone is remembered: a new password lifts the limits of an account at once.
            if place == 0:
                known.remember(subject, retry_after, now)
            # The next limit does not count it: one network cannot use up an account.
            break
    # Full buckets are deleted last and locked ones are skipped, so that no two attempts wait for
    # each other.
    full = (
        select(rate_bucket.c.subject)
        .where(rate_bucket.c.full_at <= now)
        .with_for_update(skip_locked=True)
    )
    connection.execute(delete(rate_bucket).where(rate_bucket.c.subject.in_(full)))
    return retry_after


def reset(connection: Connection, attempt: Attempt) -> None:
    """Give back what a successful attempt was counted by, but for the counts that strangers share."""
    shared = (PER_NETWORK, PER_ACCOUNT)
    own = [subject for subject, limit in attempt.limits() if limit not in shared]
    connection.execute(delete(rate_bucket).where(rate_bucket.c.subject.in_(own)))


def reset_account(connection: Connection, email: str) -> None:
    """Allow an account all its attempts again, from all networks."""
    subject, account = rate_bucket.c.subject, f"account {account_hash(email)}"
    # Locked in the order in which attempts lock them: the account's own last.
    of_account = (
        select(subject)
        .where(subject >= account, subject <= f"{account} ~")
        .order_by(subject.desc())
        .with_for_update()
    )
    connection.execute(delete(rate_bucket).where(subject.in_(of_account)))
