"""The entry point of `python -m jobs`."""

import gc
import os
import sys
from functools import partial

from jobs.cli import main
from jobs.run.signals import run_interruptibly

# The warehouse, its backups and the folders are the business of their own user alone.
os.umask(0o077)

# Imported rows are many small objects that form no cycles: Python looks for cycles once in a million
# new objects. `make bench` shows the difference in its imports of other systems' formats.
gc.set_threshold(1_000_000)

sys.exit(run_interruptibly(partial(main, prog_name="python -m jobs")))
