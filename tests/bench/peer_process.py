"""DuckDB or ClickHouse in a process of its own, which imports nothing of the project.

`python tests/bench/peer_process.py duckdb|chdb FOLDER`, with JSON on standard input: statements by phase, and
questions by name. It prints, as JSON, the seconds by the clock and of processors of each phase and of each
question, and the rows of each question.
"""

import json
import sys
import time
from typing import Any

THREADS = 2


def open_duckdb(folder: str) -> Any:
    import duckdb

    connection = duckdb.connect(f"{folder}/peer.duckdb", config={"threads": THREADS})
    return lambda sql: connection.execute(sql).fetchall()


def open_chdb(folder: str) -> Any:
    # In an environment of its own, which the types' is not.
    from chdb.session import Session  # type: ignore[import-not-found]

    session = Session(f"{folder}/clickhouse")

    def ask(sql: str) -> Any:
        found = session.query(sql, "JSONCompact").bytes()
        return json.loads(found)["data"] if found else []

    for setting in (
        f"max_threads = {THREADS}",
        # The standard's own meaning of the SQL that both are given.
        "join_use_nulls = 1",
        "cast_keep_nullable = 1",
        "prefer_column_name_to_alias = 1",
        "output_format_json_quote_64bit_integers = 0",
    ):
        ask(f"SET {setting}")
    return ask


def took(action: Any) -> tuple[dict[str, float], Any]:
    began, cpu = time.perf_counter(), time.process_time()
    found = action()
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}, found


def main(engine: str, folder: str) -> None:
    work = json.load(sys.stdin)
    ask = {"duckdb": open_duckdb, "chdb": open_chdb}[engine](folder)
    phases, questions, rows = {}, {}, {}
    for name, statements in work["phases"].items():
        phases[name], _ = took(lambda statements=statements: [ask(sql) for sql in statements])
    for name, sql in work["questions"].items():
        questions[name], rows[name] = took(lambda sql=sql: ask(sql))
    json.dump({"phases": phases, "questions": questions, "rows": rows}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
