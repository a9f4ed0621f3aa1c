"""Which forms a shop has counted as another one, or not at all.

A rule says of a form that its events count as those of another form, or that they do not count. The rules of
a shop are one text, which its editions record beside its time zone: figures are those of events that had been
imported with the other form's id, or not at all.
"""

import json
from collections.abc import Mapping
from typing import Final

LEFT_OUT: Final = ""
"""In place of another form's id: the form's events do not count."""


def parse(text: str) -> dict[str, str]:
    """The rules in a stored text, by form: each as its member made it."""
    rules: dict[str, str] = json.loads(text) if text else {}
    return rules


def stored(rules: Mapping[str, str]) -> str:
    """The text of rules. Equal rules have equal texts: an undo leads back to the text before."""
    return json.dumps(dict(sorted(rules.items()))) if rules else ""


def counted_as(rules: Mapping[str, str], form_id: str) -> str:
    """The form that a form's events count for, through all rules: LEFT_OUT for none."""
    while form_id in rules:
        form_id = rules[form_id]
    return form_id
