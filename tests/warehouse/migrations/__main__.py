"""`python -m tests.warehouse.migrations URL...`: store warehouses of the newest revision."""

import sys

from tests.warehouse.migrations.stored import backup_of, make, story_of
from warehouse.connections.backends import backend_of
from warehouse.migrations.migrate import HEAD

if __name__ == "__main__":
    for url in sys.argv[1:]:
        make(url, backup_of(HEAD, backend_of(url).name)).write(story_of(HEAD))
