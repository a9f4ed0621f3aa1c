"""The product as its users have it: the commands, and the API over HTTP.

The only place in the tests that knows how to reach them without starting a process for each call.
Nothing here looks into the warehouse, but for `empty`, which gives a fresh one between examples, and
`in_portions`, which makes much of little.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from click.testing import CliRunner
from werkzeug.test import TestResponse

from tests.support.oracle.records import Row
from tests.support.oracle.row_limit import LIMITS, RowLimits
from warehouse.tables.base import metadata

SCOPES = "analytics:read,customers:read,discounts:read,forms:write"


class Product:
    """The service over one warehouse."""

    def __init__(self, url: str, limits: RowLimits = LIMITS, now: int | None = None) -> None:
        """`limits`: how many rows an answer has at most. `now`: the instant of all requests, in microseconds;
        without it they have the time of day."""
        self.url = url
        self.limits = limits
        self.now = now
        self._client: Any = None
        self._keys: dict[str, str] = {}
        self._batches = 0

    def load(self, kind: str, records: list[Row], rejected: int = 0) -> dict[str, int]:
        """Import records as one NDJSON file, of which so many are rejected; the counts that the
        command prints."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"{kind}.ndjson")
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in records)
            file.write_text("".join(lines), encoding="utf-8")
            return self.take(kind, [file], rejected)

    def take(self, kind: str, files: list[Path], rejected: int = 0) -> dict[str, int]:
        """Import files, as `load` does."""
        status, printed = self._run_jobs("import", kind, *map(str, files), "--json")
        assert status == (3 if rejected else 0), f"import {kind}: exit {status}\n{printed}"
        counts: dict[str, int] = json.loads(printed.splitlines()[-1])
        assert counts["rejected"] == rejected
        return counts

    def last_import(self) -> int:
        """The id of the last import of a file."""
        printed = self._jobs("imports", "list", "--limit", "1", "--json")
        return int(json.loads(printed)["import_id"])

    def undo(self, import_id: int) -> None:
        self._jobs("imports", "undo", str(import_id))

    def purged_imports(self) -> set[int]:
        """The imports that cannot be undone, since events of them are gone."""
        engine = sa.create_engine(self.url)
        with engine.connect() as connection:
            rows = connection.execute(
                sa.text("SELECT import_id FROM import_batch WHERE purged > 0")
            )
            found = set(rows.scalars())
        engine.dispose()
        return found

    def rollup(self) -> None:
        self._jobs("rollup")

    def backfill(self, first: date, last: date) -> None:
        self._jobs("backfill", "--from", first.isoformat(), "--to", last.isoformat())

    def rebuild(self) -> None:
        self._jobs("rebuild")

    def purge(self, raw_days: int | None = None) -> None:
        """Purge; raw events too, if they are that old."""
        before = os.environ.pop("RAW_DAYS", None)
        try:
            if raw_days:
                os.environ["RAW_DAYS"] = str(raw_days)
            self._jobs("purge")
        finally:
            os.environ.pop("RAW_DAYS", None)
            if before is not None:
                os.environ["RAW_DAYS"] = before

    def forget(self, shop_id: str, kind: str, text: str, *, keep_orders: bool = False) -> str:
        """Forget a person by an identifier (email, customer, visitor); what the command prints."""
        more = ["--keep-orders"] if keep_orders else []
        return self._jobs("forget", "--shop", shop_id, f"--{kind}", text, *more)

    def verify_all(self) -> bool:
        """Whether what is stored is what it would be anew from raw."""
        status, printed = self._run_jobs("verify", "--all")
        assert status in (0, 1), f"verify --all: exit {status}\n{printed}"
        if status:
            print(printed)
        return status == 0

    def get(self, path: str, query: dict[str, str], shop_id: str) -> tuple[int, Any]:
        """Status and body of a GET with a key of the shop."""
        answer = self.ask("GET", path, shop_id, query_string=query)
        return answer.status_code, answer.get_json()

    def ask(self, method: str, path: str, shop_id: str, **options: Any) -> TestResponse:
        """The whole answer to a request with a key of the shop."""
        with self._environment():
            if self._client is None:
                from web.api import row_limit
                from web.api.endpoint import ROW_LIMITS
                from web.app import create_app

                now = self.now
                app = create_app() if now is None else create_app(clock=lambda: now)
                if self.limits != LIMITS:
                    app.config[ROW_LIMITS] = row_limit.RowLimits(**asdict(self.limits))
                self._client = app.test_client()
            headers = {"Authorization": f"Bearer {self.key(shop_id)}"}
            headers |= options.pop("headers", {})
            answer: TestResponse = self._client.open(
                path, method=method, headers=headers, **options
            )
            return answer

    def empty(self) -> None:
        """Take everything out of the warehouse again."""
        engine = sa.create_engine(self.url)
        with engine.begin() as connection:
            for table in reversed(metadata.sorted_tables):
                connection.execute(table.delete())
        engine.dispose()
        self.close()
        self._client, self._keys, self._batches = None, {}, 0

    def in_portions(self) -> None:
        """Have what was imported since the last call taken in by one process in many portions, as if it were
        as many rows as that takes; and what came before in one."""
        engine = sa.create_engine(self.url)
        with engine.begin() as connection:
            connection.execute(
                sa.text(
                    "UPDATE import_batch SET rows = CASE WHEN batch_id > :before THEN 200000 ELSE 1 END"
                ),
                {"before": self._batches},
            )
            self._batches = (
                connection.scalar(sa.text("SELECT MAX(batch_id) FROM import_batch")) or 0
            )
        engine.dispose()

    def close(self) -> None:
        """Let go of the warehouse, once the writes beside the requests are made; the next question opens it
        again."""
        if self._client is not None:
            from web.http.services import services_of

            services = services_of(self._client.application)
            services.background_writes.settle()
            services.database.close()

    def key(self, shop_id: str) -> str:
        """A key of the shop, minted the first time that it is asked for."""
        if shop_id not in self._keys:
            from web.cli import main

            args = ["keys", "mint", "--shop", shop_id, "--scopes", SCOPES]
            with self._environment():
                result = CliRunner().invoke(main, args, catch_exceptions=False)
            assert result.exit_code == 0, result.output
            self._keys[shop_id] = result.stdout.splitlines()[-1]
        return self._keys[shop_id]

    def _jobs(self, *args: str) -> str:
        status, printed = self._run_jobs(*args)
        assert status == 0, f"jobs {' '.join(args)}: exit {status}\n{printed}"
        return printed

    def _run_jobs(self, *args: str) -> tuple[int, str]:
        from jobs.cli import main

        # In a process of its own, as in operation, this would be of no concern to the jobs.
        self.close()
        with self._environment():
            result = CliRunner().invoke(main, list(args), catch_exceptions=False)
        return result.exit_code, result.stdout if result.exit_code == 0 else result.output

    @contextmanager
    def _environment(self) -> Iterator[None]:
        """The settings that the product reads when it is called."""
        before = os.environ.get("WAREHOUSE_URL")
        os.environ["WAREHOUSE_URL"] = self.url
        try:
            yield
        finally:
            if before is None:
                del os.environ["WAREHOUSE_URL"]
            else:
                os.environ["WAREHOUSE_URL"] = before
