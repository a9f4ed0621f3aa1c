"""The command line of the jobs with groups of at most so many raw rows, so that few rows are many tasks.

python -m tests.bench.small_groups ROWS rollup
"""

import sys

from jobs.cli import main
from jobs.pipeline import batching

if __name__ == "__main__":
    batching.BATCH_ROWS = int(sys.argv.pop(1))  # type: ignore[misc]
    main()
