"""The command line of the jobs with groups of at most BATCH_ROWS raw rows (of the environment), so that few
rows are many groups.

BATCH_ROWS=1000 python -m tests.bench.small_groups rollup
"""

import os

from jobs.cli import main
from jobs.pipeline import batching

batching.BATCH_ROWS = int(os.environ["BATCH_ROWS"])  # type: ignore[misc]

if __name__ == "__main__":
    main()
