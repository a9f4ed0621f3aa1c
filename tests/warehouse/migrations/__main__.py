"""`python -m tests.warehouse.migrations`: store what this version is remembered by, for its release.

PostgreSQL's backup is read by the programs of the server's version and newer ones: TEST_POSTGRES_URL may name
an old server.
"""

import os
import tempfile
from pathlib import Path

from tests.support import postgres
from tests.warehouse.migrations.stored import Release
from warehouse import VERSION

if __name__ == "__main__":
    server = postgres.server_url(f"pid{os.getpid()}")
    os.environ["PATH"] = f"{postgres.programs(server)}:{os.environ['PATH']}"
    os.environ |= {"ENV_FILE": os.devnull, "RATE_LIMIT": "off"}
    with tempfile.TemporaryDirectory() as folder, postgres.new_database(server) as url:
        urls = {"sqlite": f"sqlite:///{folder}/warehouse.db", "postgresql": url}
        Release(VERSION).store(urls, Path(folder))
