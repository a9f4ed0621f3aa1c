"""An order that ends the process that rolls it up: inside Python, in every process of a command.

Python loads the module `sitecustomize` when it starts, if there is one on its path.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
DEADLY: Final = "deadly"
"""The id of the order."""

# By name, Python that ends the process, or raises.
WAYS: Final = {
    # As the system does where memory runs out.
    "dies": "os._exit(137)",
    # The process that started it, too: a container, or a service that the system stops as a whole.
    "takes its owner along": (
        "if 'jobs.executors.worker' in sys.orig_argv: os.kill(os.getppid(), 9)\n        os._exit(137)"
    ),
    # Once: a person did that, and no order is to blame.
    "is killed once": "if once.exists(): once.unlink(); os._exit(137)",
    "raises MemoryError": "raise MemoryError",
    "raises OSError": "raise OSError('too many open files')",
    # The database is gone with it.
    "loses the database": (
        "psycopg.connect(os.environ['DEADLY_URL'], autocommit=True).execute(\n"
        "            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity '\n"
        "            'WHERE pid <> pg_backend_pid() AND datname = current_database()')\n"
        "        raise MemoryError"
    ),
}
_MODULE: Final = """
import os, pathlib, psycopg, sys
import jobs.facts.sessions as module

once = pathlib.Path(__file__).with_name("once")
original = module.begin

def deadly(connection, partials, *rest, **named):
    if {order!r} in set(partials.orders["order_id"]):
        {way}
    return original(connection, partials, *rest, **named)

module.begin = deadly
"""


def deadly_path(folder: Path, way: str) -> str:
    """The PYTHONPATH of commands whose rollup ends in this way where it comes to the order."""
    place = folder / "deadly"
    place.mkdir(exist_ok=True)
    (place / "once").touch()
    (place / "sitecustomize.py").write_text(_MODULE.format(order=DEADLY, way=WAYS[way]))
    return f"{place}:{_ROOT}"


def loaded_from(path: str) -> Callable[[], None]:
    """For `before`: a fork loads that module too, as Python does at a start from nothing."""
    return partial(_load, str(Path(path.partition(":")[0], "sitecustomize.py")))


def _load(file: str) -> None:
    exec(compile(Path(file).read_text(), file, "exec"), {"__file__": file})
