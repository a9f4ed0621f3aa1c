"""`python -m tests.web.openapi.record_examples`: ask the demo's shop for the description's examples."""

from tempfile import TemporaryDirectory
from typing import Any

import orjson

from tests.web.openapi.described import QUESTIONS, described, shown
from tests.web.openapi.refused import example, refused
from web.app import RESOURCES
from web.openapi.examples import FILE
from web.openapi.operations import operation_id
from web.openapi.refusals import own_refusals


def main() -> None:
    examples: dict[str, Any] = {}
    with TemporaryDirectory() as folder, described(f"sqlite:///{folder}/demo.db") as service:
        for asked in QUESTIONS:
            kept = examples.setdefault(asked.operation, {"answers": {}, "refusals": {}})
            kept["answers"][asked.name] = shown(service.ask(asked))
            if asked.body:
                kept["request"] = asked.body
        for endpoint in (one for resource in RESOURCES for one in resource.blueprint.endpoints):
            refusals = examples[operation_id(endpoint.answer)]["refusals"]
            for _, code in own_refusals(endpoint):
                refusals[code] = example(refused(service, endpoint, code))
    FILE.write_bytes(orjson.dumps(examples, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
