"""A source: how it is set up, and how one pull of it becomes files in the landing folder."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final, NamedTuple
from urllib.parse import quote, quote_plus

import msgspec

from jobs.landing.folder import LandingPlace
from jobs.pulls.landing_file import new_file
from warehouse.domain.landing_names import PULLED
from warehouse.operations.shop_pulls import Pull

Json = dict[str, Any]

# Shorter values, such as `true` or a version, are no secrets, and stand in many words.
_MIN_SECRET: Final = 5


class PullOutcome(NamedTuple):
    """One pull: the state to go on from next time, and what it brought."""

    state: Json
    rows: int
    bytes: int


class AdAccount(msgspec.Struct, forbid_unknown_fields=True):
    """The ad account that a pull reads, as answers name it."""

    provider: str
    account_id: str = ""


@dataclass
class PullRun:
    """One pull, with all that it works with. `now`: when it began, in UTC."""

    pull: Pull
    credentials: Json
    landing: Path
    now: datetime

    def new_file(
        self, kind: str, format: str, ending: str, label: str = ""
    ) -> AbstractContextManager[BinaryIO]:
        """A new file (`landing_file.py`) in the landing folder: of a format, in the folder of the shop; of a
        kind of our own (format ""), in the folder of the kind. `label` tells the files of one pull apart."""
        shop_id = self.pull.shop_id if format else ""
        name = f"{self.pull.name}~{label}" if label else self.pull.name
        stamp = self.now.strftime("%Y%m%dT%H%M%S%fZ")
        return new_file(
            self.landing,
            LandingPlace(kind, format, shop_id),
            f".{name}.part",
            f"{PULLED}{name}~{stamp}{ending}",
        )


class Source(ABC):
    """Where data come from. `schedule`: when its pulls run unless they say otherwise (cron, in UTC).
    `lookback_days`: how far behind the last pull each one begins, since sources change their past.
    `needs_shop`: whether what it brings belongs to a shop."""

    name: ClassVar[str]
    schedule: ClassVar[str]
    lookback_days: ClassVar[int] = 0
    needs_shop: ClassVar[bool] = True

    @abstractmethod
    def check(self, config: Json, shop_id: str) -> None:
        """Raises ValueError with what is wrong in the configuration of a pull."""

    @abstractmethod
    def pull(self, run: PullRun) -> PullOutcome:
        """Fetch what is new, and put it whole into the landing folder. Raises PullFailed."""

    def ad_account(self, config: Json) -> AdAccount | None:
        """The ad account whose state each pull tells; None if it reads none."""
        return None


def without_secrets(text: str, credentials: Mapping[str, Any]) -> str:
    """A text in which no value of the credentials stands, however deep in them it is."""
    # The longest first: one value may begin with another.
    for secret in sorted(set(_texts(credentials)), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    elif isinstance(value, str | int) and len(str(value)) >= _MIN_SECRET:
        yield from _spellings(str(value))


def _spellings(secret: str) -> Iterator[str]:
    """A secret as it is, and as addresses and JSON write it."""
    yield from (secret, quote(secret), quote(secret, safe=""), quote_plus(secret))
    yield msgspec.json.encode(secret).decode()[1:-1]
