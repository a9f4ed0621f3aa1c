"""A program that waits for a line, makes a warehouse of a database, and prints a hash under its secret."""

import sys

from warehouse.connections.arrow import open_arrow
from warehouse.connections.engine import open_engine
from warehouse.migrations.migrate import migrate
from warehouse.persons.hash_secret import email_hasher

if __name__ == "__main__":
    engine = open_engine(sys.argv[1])
    sys.stdin.readline()
    migrate(engine)
    engine.dispose()
    with open_arrow(sys.argv[1]) as connection:
        print(email_hasher(connection).keyed("0" * 64))
