"""`python -m tests.web.openapi.record_examples`: ask the demo's shop for the description's examples."""

from contextlib import redirect_stderr
from io import StringIO
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from tests.web.openapi.described import QUESTIONS, described, shown
from tests.web.openapi.refused import codes_of, example, refused
from web.openapi.responses import EXAMPLES_FILE
from web.reports import ENDPOINTS


def main() -> None:
    examples: dict[str, dict[str, Any]] = {"answers": {}, "requests": {}, "errors": {}}
    # The service logs each request there.
    with (
        redirect_stderr(StringIO()),
        TemporaryDirectory() as folder,
        described(f"sqlite:///{folder}/demo.db") as service,
    ):
        for asked in QUESTIONS:
            named = examples["answers"].setdefault(asked.operation, {})
            named[asked.name] = shown(service.ask(asked))
            if asked.body:
                examples["requests"][asked.operation] = asked.body
        for endpoint in ENDPOINTS:
            for code in codes_of(endpoint):
                if code not in examples["errors"]:
                    examples["errors"][code] = example(refused(service, endpoint, code))
    EXAMPLES_FILE.write_bytes(orjson.dumps(examples, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
