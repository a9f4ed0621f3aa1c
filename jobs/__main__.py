"""The entry point of `python -m jobs`."""

import gc
import os
from functools import partial

from jobs.cli import main as commands
from jobs.run.signals import end_process, run_interruptibly


def main(name: str) -> None:
    """Run the command in `sys.argv` and exit; `name` is what messages call the program."""
    # The warehouse, its backups and the folders are the business of their own user alone.
    os.umask(0o077)

    # Imported rows are many small objects that form no cycles: Python looks for cycles once in a million
    # new objects. Imports of other systems' formats are faster by it.
    gc.set_threshold(1_000_000)

    end_process(run_interruptibly(partial(commands, prog_name=name)))


if __name__ == "__main__":
    main("python -m jobs")
