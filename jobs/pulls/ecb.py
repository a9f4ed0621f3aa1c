"""The European Central Bank's reference rates. See `ecb.md`."""

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from tempfile import TemporaryFile
from typing import IO, ClassVar, Final

import msgspec

from jobs.pulls import http, limits
from jobs.pulls.base import Json, PullOutcome, PullRun, Source
from jobs.pulls.limits import PullFailed

URL: Final = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.zip"
_NOT_MODIFIED: Final = 304
_WHAT: Final = "the ECB's rates"
_DAY: Final = re.compile(rb"\d{4}-\d\d-\d\d(?=,)")
# The table has a line of 400 bytes for each day, and its zip a megabyte. A small zip may hold a line of
# gigabytes, and a large one a list of files that fills the memory.
_MAX_LINE_BYTES: Final = 64 << 10
_MAX_ZIP_MB: Final = 16
# These unpack as much at a time as is asked for.
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    url: str = ""


class EcbSource(Source):
    name = "ecb"
    # New rates are published on work days at about 16:00 in Frankfurt.
    schedule = "30 16 * * *"
    lookback_days: ClassVar = 7
    needs_shop: ClassVar = False

    def check(self, config: Json, shop_id: str) -> None:
        if url := msgspec.convert(config, _Config).url:
            http.checked_address(url)

    def pull(self, run: PullRun) -> PullOutcome:
        own_url = msgspec.convert(run.pull.config, _Config).url
        url = own_url or URL
        state = dict(run.pull.state)
        if state.get("url") != url:
            state = {}
        unless = {"If-None-Match": state["etag"]} if state.get("etag") else {}
        with (
            http.open_session(own_url) as session,
            http.asking(session, "GET", url, _WHAT, headers=unless) as answer,
            TemporaryFile() as fetched,
        ):
            if answer.status_code == _NOT_MODIFIED:
                return PullOutcome(state, 0, 0)
            http.refuse(answer, _WHAT)
            size = http.download(answer, _WHAT, fetched.write)
            fetched.seek(0)
            is_zip = url.lower().endswith(".zip")
            if is_zip and size > _MAX_ZIP_MB * limits.MEGABYTE:
                raise PullFailed(
                    f"{_WHAT}: the zip has {size // limits.MEGABYTE} MB, and at most {_MAX_ZIP_MB} are read. "
                    "Look at what answers there"
                )
            with run.new_file("exchange-rates", "ecb", ".csv") as file:
                # The first day that is taken, b"" for all days.
                since = b""
                if through := state.get("through"):
                    lookback = timedelta(days=run.pull.lookback_days)
                    since = (date.fromisoformat(through) - lookback).isoformat().encode()
                table = _unpacked(fetched) if is_zip else _lines(fetched)
                days, newest = _keep_days(table, since, file)
        etag = answer.headers.get("ETag", "")
        through = max(newest, state.get("through", ""))
        return PullOutcome({"etag": etag, "url": url, "through": through}, days, size)


def _keep_days(table: Iterable[bytes], since: bytes, kept: IO[bytes]) -> tuple[int, str]:
    """Write the rows of these days; returns how many they are, and the newest day. Rows whose day is written
    in another way, as in the table of one day, are among them. Raises PullFailed if it is not whole."""
    days, size, header, line, newest = 0, 0, b"", b"", b""
    for line in table:
        if not header and not line.startswith(b"Date"):
            raise PullFailed(f"{_WHAT}: the file does not begin with a column Date")
        match = _DAY.match(line)
        day = match[0] if match else b""
        newest = max(newest, day)
        if not header or not day or day >= since:
            days += bool(header)
            size += len(line)
            limits.check_size(_WHAT, size)
            kept.write(line)
        header = header or line
        limits.raise_if_over()
    if not line.endswith(b"\n"):
        raise PullFailed(f"{_WHAT}: the file was cut off")
    return days, newest.decode()


def _lines(table: IO[bytes]) -> Iterator[bytes]:
    while line := table.readline(_MAX_LINE_BYTES + 1):
        if len(line) > _MAX_LINE_BYTES:
            raise PullFailed(
                f"{_WHAT}: a line is longer than {_MAX_LINE_BYTES >> 10} kB, as none of the table is. "
                "Look at what answers there"
            )
        yield line


def _unpacked(fetched: IO[bytes]) -> Iterator[bytes]:
    """The lines of the table in a zip. Raises PullFailed if it is not whole."""
    try:
        with zipfile.ZipFile(fetched) as archive:
            (member,) = archive.infolist()
            if member.compress_type not in _METHODS:
                raise ValueError(member.compress_type)
            with archive.open(member) as table:
                yield from _lines(table)
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, RuntimeError):
        raise PullFailed(f"{_WHAT}: the file is no whole zip with one table in it") from None
