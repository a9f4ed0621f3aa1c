"""One visit to a form, as the events that it sends."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from jobs.demo.cast import SHOP_ID, Campaign, DemoForm, FormField, FormStep
from jobs.demo.people import Visitor

Event = dict[str, Any]

# Factors by device on the chance that a step is completed, and on that of an order.
PATIENCE = {"desktop": 1.05, "mobile": 0.93, "tablet": 1.0, "other": 0.85}
_BUYING = {"desktop": 1.5, "mobile": 0.8, "tablet": 1.0, "other": 0.6}


@dataclass
class Visit:
    """One form session so far. `at` is the time of its last event; `appeal` multiplies the chance of an
    order; `code` is the issued code and its discount id (or "")."""

    id: str
    form: DemoForm
    visitor: Visitor
    campaign: Campaign
    at: datetime
    appeal: float = 1.0
    email_known: bool = False
    submitted_at: datetime | None = None
    code: tuple[str, str] | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def send(self, type_: str, **more: Any) -> None:
        event = {
            "event_id": f"{self.id}.{len(self.events):02d}",
            "shop_id": SHOP_ID,
            "form_id": self.form.id,
            "form_session_id": self.id,
            "visitor_id": self.visitor.id,
            "type": type_,
            "occurred_at": self.at.isoformat(timespec="milliseconds"),
        }
        if not self.events:
            event |= {"device_type": self.visitor.device} | self.campaign.utm
        self.events.append(event | more)


def play(visit: Visit, chance: Random) -> Visit:
    """Add the events of a visitor who sees the form, and goes as far as they go."""
    patience = PATIENCE[visit.visitor.device]
    visit.appeal *= _BUYING[visit.visitor.device] * visit.campaign.quality * visit.visitor.keenness
    visit.send("view")
    if chance.random() > visit.form.started * patience:
        return visit
    _wait(visit, chance, 6)
    visit.send("start")
    for index, step in enumerate(visit.form.steps):
        where = {"step_id": step.id, "step_index": index, "step_name": step.name}
        visit.send("step_view", **where)
        if chance.random() > step.completed * patience:
            if chance.random() < 0.3:
                _answer(visit, step.fields[0], step, chance)
            return visit
        for question in step.fields:
            if chance.random() < question.answered:
                _wait(visit, chance, 7)
                _answer(visit, question, step, chance)
        _wait(visit, chance, 3)
        visit.send("step_complete", **where)
    person: dict[str, Any] = {"email": visit.visitor.email} if visit.email_known else {}
    if visit.visitor.has_account and visit.email_known:
        person["customer_id"] = visit.visitor.customer_id
    if visit.email_known and visit.form.single_use:
        visit.code = (f"{visit.form.single_use}-{visit.id[2:].upper()}", "")
        person["discount_code"] = visit.code[0]
    elif visit.email_known and visit.form.code:
        visit.code = visit.form.code
        person |= dict(zip(("discount_code", "discount_id"), visit.code, strict=True))
    if visit.email_known and chance.random() < visit.form.subscribes:
        visit.submitted_at = visit.at
        visit.send("subscribe", **person)
    if visit.form.completes:
        _wait(visit, chance, 1)
        visit.submitted_at = visit.submitted_at or visit.at
        visit.send("complete", **person)
    return visit


def _wait(visit: Visit, chance: Random, seconds: float) -> None:
    # Reading times are skewed: most are short, a few are long.
    visit.at += timedelta(milliseconds=round(1000 * seconds * chance.lognormvariate(0, 0.7)))


def _answer(visit: Visit, question: FormField, step: FormStep, chance: Random) -> None:
    value: Any
    if question.choices:
        weights = [one.weight for one in question.choices]
        picked = chance.choices(question.choices, weights, k=1)
        if question.type == "multi_choice":
            others = [other for other in question.choices if other not in picked]
            picked += [other for other in others if chance.random() < 0.3]
        for choice in picked:
            visit.appeal *= choice.factor
        answers = [choice.answer for choice in picked]
        value = answers if question.type == "multi_choice" else answers[0]
    else:
        value = {
            "email": visit.visitor.email,
            "phone": f"+1 555 01{chance.randrange(100):02d}",
            "number": chance.randint(1, 40),
            "date": f"{chance.randint(1960, 2005)}-{chance.randint(1, 12):02d}-15",
        }.get(question.type, "none that I know of")
    if question.type == "email":
        visit.email_known = True
    visit.answers[question.id] = value
    visit.send(
        "answer",
        step_id=step.id,
        field_id=question.id,
        field_type=question.type,
        value=value,
    )
