"""The files of a landing folder, and a process that writes into it until it is killed."""

import sys
from pathlib import Path

from web.collector.landing_writer import LandingWriter


def files_of(root: Path, *, growing: bool = False) -> list[Path]:
    """The finished files, or those that still grow."""
    found = (path for path in root.glob("events/*") if path.is_file())
    return sorted(path for path in found if path.name.startswith(".") == growing)


def lines_of(root: Path) -> list[str]:
    """The lines of all finished files, with what may have been cut short."""
    return [line for path in files_of(root) for line in path.read_text().split("\n") if line]


def write_until_killed(root: Path, name: str) -> None:
    """Write lines, and print each when it is on disk."""
    writer = LandingWriter(root, finish_seconds=0.05)
    number = 0
    while True:
        number += 1
        text = f"{name}-{number}"
        writer.append(f"{text}:{'x' * 5_000}\n".encode())
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    write_until_killed(Path(sys.argv[1]), sys.argv[2])
