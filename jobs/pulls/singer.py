"""Records of any tap, which is a program that writes Singer's or Airbyte's messages. See `singer.md`."""

import json
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any, BinaryIO, ClassVar, Final

import msgspec

from jobs.importing.formats import FORMATS
from jobs.importing.formats.base import at
from jobs.importing.kinds import KINDS
from jobs.pulls import limits, tap
from jobs.pulls.base import Json, PullOutcome, PullRun, Source
from jobs.pulls.limits import PullFailed
from warehouse import command

_AD_SPEND: Final = "ad-spend"
# The key in a row under which the record's unmapped fields are kept.
_OTHERS: Final = "others"


class _Stream(msgspec.Struct, forbid_unknown_fields=True):
    """The rows that a stream becomes: records of a format as they are, or rows of a kind. `fields`: the
    place in a record (`campaign.id`) of each of our fields; `values`: those that are the same in all rows."""

    format: str = ""
    kind: str = ""
    fields: dict[str, str] = {}
    values: dict[str, Any] = {}

    @property
    def lands_as(self) -> str:
        """The kind of the rows in the end."""
        return FORMATS[self.format].kind if self.format else self.kind


class _AdAccount(msgspec.Struct, forbid_unknown_fields=True):
    """The ad account whose state each pull tells (`run_pull.py`), as answers name it."""

    provider: str
    account_id: str = ""


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    """`lookback_field`: the place in `config` where the tap reads from which day on it shall fetch.
    `files_in_folder`: for taps that need the paths of plain files."""

    command: list[str]
    streams: dict[str, _Stream]
    config: Json = {}
    catalog: Json | None = None
    ad_account: _AdAccount | None = None
    lookback_field: str = ""
    files_in_folder: bool = False


class SingerSource(Source):
    name = "singer"
    schedule = "20 4 * * *"
    # Meta restates 28 days, Google 30 at most.
    lookback_days: ClassVar = 28

    def check(self, config: Json, shop_id: str) -> None:
        converted = msgspec.convert(config, _Config)
        if not converted.command or not converted.streams:
            raise ValueError("`command` and `streams` must not be empty")
        formats = [format.name for format in FORMATS.values() if format.needs_shop]
        for name, stream in converted.streams.items():
            format, kind = stream.format, stream.kind
            if bool(format) == bool(kind):
                raise ValueError(f"the stream {name!r} needs either `format` or `kind`")
            if (format or kind) not in (formats if format else KINDS):
                what, known = ("format", formats) if format else ("kind", list(KINDS))
                raise ValueError(
                    f"the stream {name!r}: no {what} {format or kind!r}; there are {', '.join(known)}"
                )
            fields = KINDS[kind].field_names() if kind else (*stream.fields, *stream.values)
            if unknown := {*stream.fields, *stream.values} - {*fields}:
                raise ValueError(
                    f"the stream {name!r}: {kind} has no field {', '.join(sorted(unknown))}; "
                    f"`{command('jobs fields')} {kind}` lists them"
                )
        kinds = {stream.lands_as for stream in converted.streams.values()}
        if _AD_SPEND in kinds and converted.ad_account is None:
            raise ValueError('`ad_account` is missing: {"provider": "meta", "account_id": "1"}')

    def pull(self, run: PullRun) -> PullOutcome:
        config = msgspec.convert(run.pull.config, _Config)
        with ExitStack() as opened:
            landing = _Landing(run, config, opened)
            files = _files(run, config)
            in_folder = config.files_in_folder
            with tap.running(config.command, files, files_in_folder=in_folder) as running:
                for message in running.messages():
                    landing.take(message)
        state = {"tap": landing.state(), "began_at": run.now.isoformat()}
        return PullOutcome(state, landing.rows, landing.bytes)


def _files(run: PullRun, config: _Config) -> dict[str, Any]:
    """The files for the tap: its configuration with the secrets, its state, its catalog."""
    state = run.pull.state
    given = {**config.config, **run.credentials}
    files: dict[str, Any] = {"config": given}
    if config.lookback_field:
        if state:
            began = datetime.fromisoformat(state["began_at"])
            since = began - timedelta(days=run.pull.lookback_days)
            given[config.lookback_field] = f"{since:%Y-%m-%dT00:00:00Z}"
    elif state.get("tap"):
        files["state"] = state["tap"]
    if config.catalog is not None:
        files["catalog"] = config.catalog
    return files


class _Landing:
    """The records of one pull, each stream in a file of its own, and the state that came with them."""

    def __init__(self, run: PullRun, config: _Config, opened: ExitStack) -> None:
        self._run, self._config, self._opened = run, config, opened
        self._files: dict[str, BinaryIO] = {}
        self._singer_state: Any = run.pull.state.get("tap")
        # Airbyte's states by the stream that they are of; "" for one of all streams.
        self._airbyte_states: dict[str, Json] = {}
        if isinstance(self._singer_state, list):
            for state in self._singer_state:
                self._airbyte_states[_stream_of(state)] = state
        self.rows = self.bytes = 0

    def take(self, message: Json) -> None:
        """Take a message. Raises PullFailed for one that says that the tap fails."""
        kind = message.get("type")
        if kind == "RECORD":
            # Airbyte's message has an object `record`, of which Singer's has the members.
            record = message.get("record")
            if isinstance(message.get("stream"), str):
                self._add(message["stream"], record)
            elif isinstance(record, dict):
                self._add(str(record.get("stream")), record.get("data"))
        elif kind == "STATE" and "value" in message:
            self._singer_state = message["value"]
        elif kind == "STATE" and isinstance(state := message.get("state"), dict):
            if state.get("type") in ("STREAM", "GLOBAL"):
                self._airbyte_states[_stream_of(state)] = state
            else:
                self._singer_state = state.get("data")
        elif kind == "TRACE" and message.get("trace", {}).get("type") == "ERROR":
            raise PullFailed(f"the tap says: {message['trace'].get('error', {}).get('message')}")

    def _add(self, stream: str, record: Any) -> None:
        mapping = self._config.streams.get(stream)
        if mapping is None or not isinstance(record, dict):
            return
        if stream not in self._files:
            kind = mapping.lands_as
            file = self._run.new_file(kind, mapping.format, ".ndjson", f"{len(self._files)}")
            self._files[stream] = self._opened.enter_context(file)
        if not mapping.format:
            fields = {ours: at(record, place) for ours, place in mapping.fields.items()}
            row = {"shop_id": self._run.pull.shop_id, **mapping.values, **fields}
            if mapping.kind == _AD_SPEND:
                # Fields that are not mapped tell rows apart that would replace each other.
                places = mapping.fields.values()
                others = {name: value for name, value in record.items() if name not in places}
                row = {_OTHERS: others, **row}
            record = row
        line = json.dumps(record).encode() + b"\n"
        self.rows += 1
        self.bytes += len(line)
        limits.check_size(self._run.pull.name, self.bytes)
        self._files[stream].write(line)

    def state(self) -> Any:
        """The state that the tap is given next time."""
        return list(self._airbyte_states.values()) or self._singer_state


def _stream_of(state: Json) -> str:
    descriptor = state.get("stream", {}).get("stream_descriptor", {})
    return json.dumps([descriptor.get("namespace"), descriptor.get("name")]) if descriptor else ""
