"""The shop of the demo, and from `cast.json` its forms and the campaigns that visitors come from."""

from datetime import date
from pathlib import Path
from typing import Any, Final

import msgspec

from warehouse.domain.time import zone

SHOP_ID: Final = "demo.myshopify.com"
SHOP: Final = {
    "shop_id": SHOP_ID,
    "name": "Demo Botanicals",
    "currency": "USD",
    "timezone": "America/New_York",
}
ZONE: Final = zone(SHOP["timezone"])


class Choice(msgspec.Struct, array_like=True, frozen=True):
    """An answer that can be chosen. `factor` multiplies the chance of an order."""

    answer: str | int | bool
    weight: float
    factor: float
    label: str = ""


class FormField(msgspec.Struct, frozen=True):
    """One question. `answered` is the chance that it is answered at all."""

    id: str
    label: str
    type: str
    choices: tuple[Choice, ...] = ()
    answered: float = 0.95

    @property
    def schema(self) -> dict[str, Any]:
        options = [
            {"value": one.answer, "label": one.label or str(one.answer).capitalize()}
            for one in self.choices
        ]
        return {"id": self.id, "type": self.type, "label": self.label, "options": options}


class FormStep(msgspec.Struct, frozen=True):
    """One step of a form; `completed` is the chance that a visitor who sees it completes it."""

    id: str
    name: str
    fields: tuple[FormField, ...]
    completed: float


class DemoForm(msgspec.Struct, frozen=True):
    """One form. `share` is its share of all visits, `started` the share of views that start it, `buys`
    the chance of an order after a submission, `subscribes` that of a subscription. It hands out one
    `code` (text, discount id) to all, or a `single_use` code that begins so to each."""

    id: str
    name: str
    kind: str
    share: float
    started: float
    buys: float
    steps: tuple[FormStep, ...]
    completes: bool = True
    subscribes: float = 0.0
    code: tuple[str, str] | None = None
    single_use: str | None = None
    status: str = "published"

    @property
    def schema(self) -> dict[str, Any]:
        steps = [
            {"id": step.id, "name": step.name, "fields": [each.schema for each in step.fields]}
            for step in self.steps
        ]
        return {"kind": self.kind, "steps": steps}


class Campaign(msgspec.Struct, frozen=True):
    """One source of visits.

    `weight` is its share of the visits (relative to the others); `quality` multiplies the chance of an
    order. A paid campaign has a provider, the provider's id for it, and a daily budget in `currency`.
    It runs in the first weeks of each period: `every` is (weeks of the period, weeks it runs).

    Meta tags its links with the campaign's id; Google's carry its name only, and TikTok's, whose account
    bills in euros, the id in `utm_campaign`. One has a flat fee: no spend is imported, so its orders match
    no ad campaign.
    """

    utm: dict[str, str]
    weight: float
    quality: float
    provider: str = ""
    campaign_id: str = ""
    name: str = ""
    currency: str = ""
    budget: float = 0.0
    every: tuple[int, int] = (1, 1)

    def runs(self, day: date) -> bool:
        period, weeks_on = self.every
        return day.toordinal() // 7 % period < weeks_on


class _Cast(msgspec.Struct):
    forms: tuple[DemoForm, ...]
    campaigns: tuple[Campaign, ...]


_CAST: Final = msgspec.json.decode(Path(__file__).with_name("cast.json").read_bytes(), type=_Cast)
FORMS: Final = _CAST.forms
WELCOME, QUIZ, FINDER, EXIT, FOOTER, SURVEY = FORMS
CAMPAIGNS: Final = _CAST.campaigns
