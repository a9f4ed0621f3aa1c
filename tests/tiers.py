"""What `make test` leaves to `make test-all`.

`make test` is everything on SQLite, a core on PostgreSQL, and one browser, in five minutes. `make test-all`
has all of it. Nothing lands without both; a test is here since its fault is rare, not since it matters less.

An entry is a folder, a file or a test below `tests/`. Where a few values of a parameter are enough for
`make test`, `thorough` gives the mark to the others.
"""

from collections.abc import Iterable
from typing import Any, Final

import pytest

THOROUGH: Final = (
    # random worlds
    "contract/test_credits.py",
    "contract/test_forgetting.py",
    "contract/test_life.py::test_random_worlds_keep_their_answers",
    "contract/test_raw_days.py",
    "contract/test_removal.py",
    "contract/test_undo.py",
    "warehouse/tenants/test_export.py",
    # kills at every place
    "system/faults",
    "jobs/importing/test_imports.py::test_an_undo_that_was_killed_is_ended_by_the_next_rollup",
    "warehouse/backups/test_backups.py",
    "warehouse/migrations/test_migrations.py::test_a_migration_that_is_killed_has_done_nothing",
    # clusters, and several processes at once
    "jobs/executors/test_dask_cluster.py",
    "system/test_connection_limits.py",
    "system/test_processes.py",
    "web/db/test_read_replica.py",
    "web/server/test_greedy_tenants.py",
    "system/test_readme.py::test_the_demo_run_again_keeps_its_key_and_its_member",
    # floods, and files of many megabytes
    "jobs/importing/test_ceilings.py",
    *(
        f"jobs/importing/test_hostile_files.py::test_what_unpacks_to_much_more[{name}]"
        for name in ("reopened quotes", "broken lines", "many values", "string", "records")
    ),
    "system/test_fuzz.py",
    "web/openapi/test_conformance.py",
    # every page on every screen
    "system/browser/test_looks.py",
    # tools
    "bench",
)

# Together they send PostgreSQL every statement of the product that the whole run sends
# (`tests/support/statements.py`). The other tests of both databases run on SQLite in `make test`.
POSTGRES_CORE: Final = (
    "contract/test_life.py",
    "jobs/importing/test_ads.py",
    "jobs/importing/test_inserting.py",
    "warehouse/connections",
    "warehouse/daily",
    "warehouse/editions",
    "warehouse/migrations/test_migrations.py::test_migrated_warehouse_has_the_declared_tables",
    "warehouse/operations",
    "web/auth/test_gcra.py",
    "web/cli/test_shops.py",
    "web/db",
)


def names(entries: Iterable[str], test: str) -> bool:
    """Whether one of the entries is this test, its function, or a file or folder that it is in."""
    return any(
        test == entry or test.startswith((f"{entry}/", f"{entry}::", f"{entry}["))
        for entry in entries
    )


def thorough(values: Iterable[Any]) -> list[Any]:
    """Values of a parameter that only `make test-all` tries."""
    return [pytest.param(value, marks=pytest.mark.thorough) for value in values]


def mark(item: pytest.Item) -> None:
    """Mark a test that only `make test-all` runs."""
    test = item.nodeid.removeprefix("tests/")
    parameters = getattr(item, "callspec", None)
    on_postgres = parameters is not None and "postgresql" in parameters.params.values()
    if names(THOROUGH, test) or (on_postgres and not names(POSTGRES_CORE, test)):
        item.add_marker(pytest.mark.thorough)
