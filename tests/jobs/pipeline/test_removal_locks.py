"""A removal of raw rows and another command that locks wait for each other, but never in a circle."""

import json

import pytest

from tests.support.connections import own
from tests.support.form_calls import call
from tests.support.import_files import event
from tests.support.job_commands import SHOP, Commands

WAITING = "SELECT COUNT(*) >= {} FROM pg_locks WHERE NOT granted"


@pytest.mark.parametrize("other", ["import shops", "undo of an import of forms' events"])
def test_a_person_is_forgotten_meanwhile(postgres_commands: Commands, other: str) -> None:
    commands = postgres_commands
    commands.take("shops", [SHOP])
    commands.take("events", [event(visitor_id="ada")])
    calls = commands.folder / "calls.ndjson"
    calls.write_text(json.dumps(call("popup-1")))
    for _ in range(2):
        commands("import", "events", str(calls), "--format", "segment", "--shop", SHOP["shop_id"])
    commands("rollup")
    renamed = commands.folder / "renamed.ndjson"
    renamed.write_text(json.dumps(SHOP | {"name": "A"}))
    # The row of the first import of the calls stays, since the second one has it.
    words = (
        ["import", "shops", str(renamed)] if other == "import shops" else ["imports", "undo", "3"]
    )
    with own(commands.url) as third, third.transaction():
        # Has the removal wait in the middle of its transaction.
        third.execute("LOCK TABLE repeated_event IN SHARE MODE")
        forgetting = commands.start("forget", "--shop", SHOP["shop_id"], "--visitor", "ada")
        commands.wait_until(WAITING.format(1))
        others = commands.start(*words)
        commands.wait_until(WAITING.format(2))
    forgetting.finish()
    others.finish()
    commands("verify", "--all")
