"""A small file system in memory, which fills up as a disk does. Only an account that may mount has it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NoSmallDisk(Exception):
    """This account may not mount one; the message is the system's."""


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """Make the folder `place`, a file system of its own. Raises NoSmallDisk."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "formrevenue-test", place],
        capture_output=True,
        text=True,
    )
    if mounted.returncode:
        raise NoSmallDisk(mounted.stderr.strip())
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
