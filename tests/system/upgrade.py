"""`python -m tests.system.upgrade COMMIT`: fill a warehouse with the program of a commit, take it over with
this one, and compare all answers. WAREHOUSE_URL may name an empty PostgreSQL database; else it is SQLite.

Both run on this environment's packages. A commit whose program needs others cannot be tried so.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SHOP = "demo.myshopify.com"
DAYS = "45"
KINDS = ("shops", "forms", "exchange-rates", "ad-accounts", "ad-spend", "events", "orders")
SCOPES = "analytics:read,customers:read,forms:write,discounts:read"
# Runs in either tree, with the key as its argument; prints the answers as JSON.
ASK = """
import json, sys
from web.app import create_app
client, headers = create_app().test_client(), {"Authorization": "Bearer " + sys.argv[1]}
def ask(path, **query):
    answer = client.get(path, query_string=query, headers=headers)
    assert answer.status_code == 200, (path, answer.get_data(as_text=True))
    said[path + str(sorted(query.items()))] = answer.get_json()["data"]
said = {}
ask("/v1/forms")
window = {"range": "90d"}
for form in [form["id"] for form in said["/v1/forms[]"]]:
    ask(f"/v1/forms/{form}")
    for name in ("funnel", "steps/dropoff", "time-to-complete", "devices", "visitor-conversion",
                 "response-revenue", "trends"):
        ask(f"/v1/forms/{form}/{name}", **window)
    ask(f"/v1/forms/{form}/cross-field", fieldA="skin_type", fieldB="concerns", **window)
for path in "forms/funnel attribution attribution/daily discounts/performance ads/spend".split():
    ask(f"/v1/{path}", **window)
for dimension in ("campaign", "attribution", "hierarchy"):
    ask("/v1/revenue/by-utm", dimension=dimension, **window)
for dimension in ("form", "segment"):
    ask("/v1/customers/ltv", dimension=dimension, **window)
print(json.dumps(said))
"""


def run(tree: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=tree, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{tree}: {' '.join(command)[:200]}: {done.stderr or done.stdout}")
    return done.stdout


def jobs(tree: Path, *arguments: str) -> None:
    output = run(tree, "-m", "jobs", *arguments).strip().splitlines()
    print(f"  jobs {' '.join(arguments)[:60]}: {output[-1] if output else ''}", flush=True)


def answers(tree: Path, key: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(run(tree, "-c", ASK, key))
    return said


def main(commit: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, old = Path(name), Path(name) / "old"
        os.environ.setdefault("WAREHOUSE_URL", f"sqlite:///{folder / 'warehouse.db'}")
        old.mkdir()
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", old], input=archive.stdout, check=True)
        print(f"With the program of {commit}:")
        run(
            old,
            "-m",
            "jobs",
            "demo",
            "--files-only",
            "--days",
            DAYS,
            "--folder",
            str(folder / "demo"),
        )
        for kind in KINDS:
            prefix = "eurofxref" if kind == "exchange-rates" else kind
            # The orders come after the upgrade.
            if kind != "orders":
                jobs(old, "import", kind, *map(str, sorted((folder / "demo").glob(f"{prefix}*"))))
        jobs(old, "rollup")
        key = run(
            old, "-m", "web", "keys", "mint", "--shop", SHOP, "--scopes", SCOPES, "--name", "x"
        )
        key = key.split()[-1]
        before = answers(old, key)
        print("With this one:")
        jobs(ROOT, "rollup")
        after = answers(ROOT, key)
        if changed := [path for path in before if before[path] != after.get(path)]:
            sys.exit(f"{len(changed)} answers are others now: {changed}")
        jobs(ROOT, "import", "orders", str(folder / "demo" / "orders.ndjson"))
        jobs(ROOT, "rollup")
        jobs(ROOT, "verify", "--all")
        print(
            f"All {len(before)} answers are the same; orders came in afterwards, and verify agrees."
        )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.system.upgrade COMMIT")
    main(sys.argv[1])
