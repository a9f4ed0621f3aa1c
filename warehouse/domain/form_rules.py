"""The rules of a shop: which forms count as another one, as two, or not at all, and which codes are whose.

A rule says of a form that its events count as those of another form, or that they do not count; of its events
on a page, that they count as those of a form of their own; of a discount code, that every submission of a
form was issued it. The rules of a shop are one text, which its editions record beside its time zone: figures
are those of events that had been imported with the other form's id, or not at all, and with the code.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

LEFT_OUT: Final = ""
"""In place of another form's id: the form's events do not count."""

# In the text, rules on forms have the form's id for a key. The others begin so.
_CODE: Final = "code "
_PAGE: Final = "page "


@dataclass(frozen=True)
class FormRules:
    """Rules as a shop's members made them.

    - `forms`: by form, the form that it counts as, LEFT_OUT for none
    - `codes`: by code in upper case, the form whose submissions were issued it
    - `pages`: by form and path of a page, the form as which its events on that page count
    """

    forms: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def named(self) -> set[str]:
        """All forms that a rule names."""
        split = {form_id for form_id, _ in self.pages}
        others = (self.forms.values(), self.codes.values(), self.pages.values())
        return split.union(self.forms, *others)

    def counted_as(self, form_id: str, path: str = "") -> str:
        """The form that a form's events on a page count for, through all rules: LEFT_OUT for none."""
        form_id = self.pages.get((form_id, path), form_id)
        while form_id in self.forms:
            form_id = self.forms[form_id]
        return form_id


def parse(text: str) -> FormRules:
    """The rules in a stored text."""
    forms: dict[str, str] = {}
    codes: dict[str, str] = {}
    pages: dict[tuple[str, str], str] = {}
    for name, form_id in (json.loads(text) if text else {}).items():
        if name.startswith(_CODE):
            codes[name.removeprefix(_CODE)] = form_id
        elif name.startswith(_PAGE):
            of_form, _, path = name.removeprefix(_PAGE).partition(" ")
            pages[of_form, path] = form_id
        else:
            forms[name] = form_id
    return FormRules(forms, codes, pages)


def stored(rules: FormRules) -> str:
    """The text of rules. Equal rules have equal texts: an undo leads back to the text before."""
    every = {
        **rules.forms,
        **{f"{_CODE}{code}": form_id for code, form_id in rules.codes.items()},
        **{f"{_PAGE}{of} {path}": form_id for (of, path), form_id in rules.pages.items()},
    }
    return json.dumps(dict(sorted(every.items()))) if every else ""
