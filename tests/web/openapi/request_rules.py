"""Rules for requests that the description cannot state; schemathesis follows them. By hand, against a
service with the demo's shop:

SCHEMATHESIS_HOOKS=tests.web.openapi.request_rules .venv/bin/python -m schemathesis.cli run \\
  --generation-allow-x00 false -H "Authorization: Bearer $KEY" http://localhost:8000/v1/openapi.json
"""

import re
from datetime import date, timedelta
from typing import Any, Final
from uuid import uuid4

import schemathesis

from jobs.demo.cast import QUIZ

_FIRST: Final = date(2026, 3, 1)


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: dict[str, Any]) -> None:
    """Answers are JSON, since the description has no type for CSV. In requests that are meant to be
    valid, days exist and are in order, the two fields differ, `within` is in the attribution window, every
    `Idempotency-Key` is new, and `If-Match` fits. Half of the forms and fields, and all days, are those of
    the demo's shop."""
    query = case.query or {}
    if query.get("format") == "csv":
        query["format"] = "json"
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    days = re.findall("[0-9]{4}-[0-9]{2}-[0-9]{2}", str(query.get("range", "")))
    if days:
        query["range"] = "..".join(map(str, sorted(_day(text) for text in days)))
    if "fieldA" in query and "fieldB" in query and len(query["fieldA"]) % 2:
        query["fieldA"], query["fieldB"] = "skin_type", "concerns"
    elif query.get("fieldA") and query.get("fieldA") == query.get("fieldB"):
        query["fieldB"] += "'"
    if "within" in query:
        query["within"] = 1 + int(query["within"]) % 30
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = str(uuid4())
    if "If-Match" in case.headers:
        case.headers["If-Match"] = "*"
    form_id = (case.path_parameters or {}).get("id")
    if form_id and str(form_id)[-1] in "02468ace":
        case.path_parameters["id"] = QUIZ.id


def _day(text: str) -> date:
    return _FIRST + timedelta(days=int(text.replace("-", "")) % 15)
