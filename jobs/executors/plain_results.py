"""Results of the workers of a Dask cluster are plain data: they run nothing in the process of the job, which
has all secrets.

Dask reads all that comes with pickle, which runs what a sender likes. A job needs no object of a worker,
which answers with a text. So no class is read but those of plain data, Python's
exceptions, and Dask's own report of a death.
"""

import builtins
import io
import pickle
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Final

from distributed import Client
from distributed.protocol import pickle as dasks

_PLAIN: Final = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
# The parts of the report of a death that the scheduler makes.
_DEATH: Final = {
    *(("distributed.scheduler", name) for name in ("KilledWorker", "WorkerState")),
    ("distributed.core", "Status"),
    *(("collections", name) for name in ("defaultdict", "deque")),
    *(("tblib.pickling_support", f"unpickle_exception{how}") for how in ("", "_with_attrs")),
}


class NotPlain(Exception):
    """A worker sent something else than plain data, which has this name."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(f"a worker sent {module}.{name}, which is no plain data")
        self.name = name


class _PlainData(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> Any:
        known = getattr(builtins, name, None) if module == "builtins" else None
        is_error = isinstance(known, type) and issubclass(known, Exception)
        if known in _PLAIN or is_error or (module, name) in _DEATH:
            return super().find_class(module, name)
        raise NotPlain(module, name)


def _loads(data: Any, *, buffers: Iterable[Any] = ()) -> Any:
    """Plain data, or else a NotPlain in its place, as a task's error or result: Dask would wait for ever for
    one that cannot be read. No traceback of a worker is read."""
    try:
        return _PlainData(io.BytesIO(data), buffers=buffers).load()
    except NotPlain as error:
        return None if error.name == "unpickle_traceback" else error


class PlainClient(Client):
    """A client to which workers send plain data alone, from the first client of the process on."""

    # That of warnings reads them with pickle.
    _default_event_handlers = {}  # noqa: RUF012

    def __init__(self, *args: Any, **options: Any) -> None:
        # All modules of Dask read by way of this one.
        setattr(dasks, "pickle", SimpleNamespace(**{**vars(pickle), "loads": _loads}))  # noqa: B010
        super().__init__(*args, **options)
