"""A source: how it is set up, and how one pull of it becomes files in the landing folder."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final, NamedTuple
from urllib.parse import quote, quote_plus

import msgspec

from jobs.landing import folder
from jobs.landing.folder import LandingPlace
from warehouse.domain.landing_names import PULLED, aside_of, can_be_folder
from warehouse.intake.landing_folders import open_folder
from warehouse.intake.shop_pulls import Pull

Json = dict[str, Any]

_CREATE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
# Shorter values, such as `true` or a version, are no secrets, and stand in many words.
_MIN_SECRET: Final = 5


class PullOutcome(NamedTuple):
    """One pull: the state to go on from next time, and what it brought."""

    state: Json
    rows: int
    bytes: int


@dataclass
class PullRun:
    """One pull and what it works with. `now`: when it began, in UTC. `keep_state` saves a state that
    the next pull goes on from, if this one does not end well."""

    pull: Pull
    credentials: Json
    landing: Path
    now: datetime
    keep_state: Callable[[Json], None]

    @contextmanager
    def new_file(self, kind: str, format: str, ending: str, label: str = "") -> Iterator[BinaryIO]:
        """A file in the landing folder that appears there at the end of the block, for good; nothing stays of
        it if the block raises. One of a format is in the folder of the shop; one of a kind of our own (format
        "") in that of the kind. `label` tells the files of one pull apart. Raises OSError."""
        name = f"{self.pull.name}~{label}" if label else self.pull.name
        # The same for each try, so that a killed process leaves one file at most.
        aside = aside_of(name)
        stamp = self.now.strftime("%Y%m%dT%H%M%S%fZ")
        place = LandingPlace(kind, format, self.pull.shop_id if format else "")
        folder.make(self.landing)
        if place.shop_id:
            if not can_be_folder(place.shop_id):
                raise OSError(f"the shop's id {place.shop_id!r} cannot be the name of a folder")
            *above, last = place.parts
            with open_folder(self.landing, *above) as parent, suppress(FileExistsError):
                os.mkdir(last, dir_fd=parent)
        with open_folder(self.landing, *place.parts) as opened:
            with suppress(FileNotFoundError):
                os.unlink(aside, dir_fd=opened)
            try:
                descriptor = os.open(aside, _CREATE, 0o600, dir_fd=opened)
                with open(descriptor, "w+b") as stream:
                    yield stream
                    stream.flush()
                    os.fsync(descriptor)
                # Its time is the end: what was renamed before is imported before.
                whole = f"{PULLED}{name}~{stamp}{ending}"
                os.rename(aside, whole, src_dir_fd=opened, dst_dir_fd=opened)
                os.fsync(opened)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(aside, dir_fd=opened)


class Source(ABC):
    """A source of data. `schedule`: when its pulls run unless they say otherwise (cron, in UTC).
    `lookback_days`: how far behind the last pull each one begins, since sources change their past.
    `needs_shop`: whether what it brings belongs to a shop."""

    name: ClassVar[str]
    schedule: ClassVar[str]
    lookback_days: ClassVar[int] = 0
    needs_shop: ClassVar[bool] = True

    @abstractmethod
    def check(self, config: Json, shop_id: str) -> None:
        """Raise ValueError with what is wrong in the configuration of a pull."""

    def lacks(self, pull: Pull) -> str:
        """The things that a pull still needs before it can run, and how it gets them; "" where it has all."""
        return ""

    @abstractmethod
    def pull(self, run: PullRun) -> PullOutcome:
        """Fetch what is new, and put it whole into the landing folder. Raises PullFailed."""


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
        secret = str(value)
        # As it is, and as addresses and JSON write it.
        yield from (secret, quote(secret), quote(secret, safe=""), quote_plus(secret))
        yield msgspec.json.encode(secret).decode()[1:-1]
