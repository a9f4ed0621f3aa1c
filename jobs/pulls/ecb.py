"""The European Central Bank's reference rates of all days. See `ecb.md`."""

import zipfile
from typing import IO, Any, ClassVar, Final

import msgspec

from jobs.pulls import http
from jobs.pulls.base import Json, PullFailed, PullOutcome, PullRun, Source

URL: Final = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.zip"
_NOT_MODIFIED: Final = 304
_WHAT: Final = "the ECB's rates"
# The file of 27 years has 0.7 MB.
_MAX_BYTES: Final = 50_000_000


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    url: str = URL


class EcbSource(Source):
    name = "ecb"
    # New rates are published on work days at about 16:00 in Frankfurt.
    schedule = "30 16 * * *"
    needs_shop: ClassVar = False

    def check(self, config: Json, shop_id: str) -> None:
        http.checked_address(msgspec.convert(config, _Config).url)

    def pull(self, run: PullRun) -> PullOutcome:
        url = msgspec.convert(run.pull.config, _Config).url
        state = dict(run.pull.state or {})
        known = {"If-None-Match": state["etag"]} if state.get("url") == url else {}
        with (
            http.plain_errors(_WHAT, url),
            http.open_session() as session,
            session.get(url, headers=known, timeout=http.TIMEOUTS, stream=True) as answer,
        ):
            if answer.status_code == _NOT_MODIFIED:
                return PullOutcome(state, 0, 0)
            http.refuse(answer, _WHAT)
            return _landed(run, url, answer)


def _landed(run: PullRun, url: str, answer: Any) -> PullOutcome:
    is_zip = url.lower().endswith(".zip")
    with run.new_file("exchange-rates", "ecb", ".zip" if is_zip else ".csv") as file:
        size = 0
        for piece in http.pieces(answer):
            size += len(piece)
            if size > _MAX_BYTES:
                raise PullFailed(f"{_WHAT}: the file has more than {_MAX_BYTES} bytes")
            file.stream.write(piece)
        days = _days_in_zip(file.stream) if is_zip else _days(file.stream)
        file.publish()
    etag = answer.headers.get("ETag")
    return PullOutcome({"etag": etag, "url": url} if etag else {}, days, size)


def _days_in_zip(stream: IO[bytes]) -> int:
    """The days in the packed table. Raises PullFailed if it is not whole."""
    try:
        with zipfile.ZipFile(stream) as archive:
            (name,) = archive.namelist()
            with archive.open(name) as table:
                return _days(table)
    except (zipfile.BadZipFile, ValueError, EOFError):
        raise PullFailed(f"{_WHAT}: the file is no whole zip with one table in it") from None


def _days(table: IO[bytes]) -> int:
    """The days in a table. Raises PullFailed if it is not whole."""
    table.seek(0)
    lines, last = 0, b""
    for last in table:
        if not lines and not last.startswith(b"Date"):
            raise PullFailed(f"{_WHAT}: the file does not begin with a column Date")
        lines += 1
    if not last.endswith(b"\n"):
        raise PullFailed(f"{_WHAT}: the file was cut off")
    return lines - 1
