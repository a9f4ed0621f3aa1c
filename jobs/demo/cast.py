"""The shop of the demo, and its forms with their steps, fields and discount codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from warehouse.domain.zones import zone

SHOP_ID: Final = "demo.myshopify.com"
SHOP: Final = {
    "shop_id": SHOP_ID,
    "name": "Demo Botanicals",
    "currency": "USD",
    "timezone": "America/New_York",
}
ZONE: Final = zone(SHOP["timezone"])


@dataclass(frozen=True)
class FormField:
    """One question. `choices` maps each answer to (its weight, its factor on the chance of an order),
    `labels` those answers to their labels that need one; `answered` is the chance that it is answered at
    all."""

    id: str
    label: str
    type: str
    choices: dict[Any, tuple[float, float]] | None = None
    answered: float = 0.95
    labels: Mapping[Any, str] = field(default_factory=dict)

    @property
    def schema(self) -> dict[str, Any]:
        options = [
            {"value": value, "label": self.labels.get(value, str(value).capitalize())}
            for value in self.choices or ()
        ]
        return {"id": self.id, "type": self.type, "label": self.label, "options": options}


@dataclass(frozen=True)
class FormStep:
    """One step of a form; `completed` is the chance that a visitor who sees it completes it."""

    id: str
    name: str
    fields: tuple[FormField, ...]
    completed: float


@dataclass(frozen=True)
class DemoForm:
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


EMAIL: Final = FormField("email", "Your e-mail address", "email", answered=1.0)

WELCOME: Final = DemoForm(
    "0192a000-0000-7000-8000-000000000001",
    "Welcome pop-up",
    "popup",
    share=0.40,
    started=0.17,
    buys=0.16,
    steps=(FormStep("email", "Your e-mail", (EMAIL,), 0.74),),
    completes=False,
    subscribes=1.0,
    single_use="WELCOME",
)

QUIZ: Final = DemoForm(
    "0192a000-0000-7000-8000-000000000002",
    "Skin type quiz",
    "quiz",
    share=0.20,
    started=0.58,
    buys=0.12,
    steps=(
        FormStep(
            "skin",
            "Your skin",
            (
                FormField(
                    "skin_type",
                    "How is your skin?",
                    "choice",
                    {"dry": (3, 1.3), "oily": (3, 0.9), "mixed": (4, 1.0), "sensitive": (2, 1.7)},
                ),
            ),
            0.90,
        ),
        FormStep(
            "concerns",
            "What bothers you",
            (
                FormField(
                    "concerns",
                    "What bothers you?",
                    "multi_choice",
                    {
                        "redness": (3, 1.3),
                        "wrinkles": (3, 1.5),
                        "acne": (4, 0.8),
                        "dark spots": (2, 1.1),
                    },
                ),
            ),
            0.83,
        ),
        FormStep(
            "routine",
            "Your routine",
            (
                FormField(
                    "routine_effort",
                    "How much time do you take for your skin?",
                    "scale",
                    {1: (1, 0.5), 2: (2, 0.7), 3: (4, 1.0), 4: (3, 1.3), 5: (2, 1.7)},
                    labels={1: "1, none", 5: "5, every day"},
                ),
                FormField("allergies", "Which allergies do you have?", "text", answered=0.35),
                FormField("birthday", "When is your birthday?", "date", answered=0.25),
            ),
            0.88,
        ),
        FormStep("result", "Where to send the result", (EMAIL,), 0.72),
    ),
    subscribes=0.85,
    code=("QUIZ15", "disc_1002"),
)

FINDER: Final = DemoForm(
    "0192a000-0000-7000-8000-000000000003",
    "Gift finder",
    "product_finder",
    share=0.17,
    started=0.66,
    buys=0.13,
    steps=(
        FormStep(
            "who",
            "Who is it for",
            (
                FormField(
                    "recipient",
                    "Who is the gift for?",
                    "choice",
                    {"partner": (4, 1.5), "parent": (3, 1.2), "friend": (3, 0.8), "me": (2, 1.1)},
                ),
            ),
            0.92,
        ),
        FormStep(
            "budget",
            "How much",
            (
                FormField(
                    "budget",
                    "How much may it cost?",
                    "choice",
                    {"under 30": (4, 0.7), "30 to 60": (4, 1.2), "over 60": (2, 1.6)},
                    labels={
                        "under 30": "Under $30",
                        "30 to 60": "$30 to $60",
                        "over 60": "Over $60",
                    },
                ),
                FormField(
                    "gift_wrap",
                    "Shall we wrap it?",
                    "boolean",
                    {True: (2, 1.4), False: (3, 0.9)},
                    labels={True: "Yes", False: "No"},
                ),
            ),
            0.85,
        ),
        FormStep(
            "contact",
            "Shall we remind you",
            (
                FormField("email", "Your e-mail address", "email", answered=0.45),
                FormField("phone", "Your phone number", "phone", answered=0.15),
                FormField("days_left", "In how many days?", "number", answered=0.5),
            ),
            0.90,
        ),
    ),
    subscribes=0.30,
)

EXIT: Final = DemoForm(
    "0192a000-0000-7000-8000-000000000004",
    "Before you go",
    "exit_intent",
    share=0.15,
    started=0.11,
    buys=0.15,
    steps=(
        FormStep(
            "why",
            "What stopped you",
            (
                FormField(
                    "reason",
                    "What keeps you from buying?",
                    "choice",
                    {"price": (5, 1.2), "shipping": (3, 1.4), "just looking": (4, 0.3)},
                    answered=0.8,
                ),
                EMAIL,
            ),
            0.66,
        ),
    ),
    subscribes=1.0,
    code=("STAY10", "disc_1004"),
)

FOOTER: Final = DemoForm(
    "0192a000-0000-7000-8000-000000000005",
    "Footer sign-up",
    "embedded",
    share=0.08,
    started=0.06,
    buys=0.13,
    steps=(FormStep("email", "Newsletter", (EMAIL,), 0.9),),
    completes=False,
    subscribes=1.0,
)

SURVEY: Final = DemoForm(
    "0192a000-0000-7000-8000-000000000006",
    "After-delivery survey",
    "survey",
    share=0.0,
    started=0.0,
    buys=0.0,
    steps=(
        FormStep(
            "stars",
            "How was it",
            (
                FormField(
                    "stars", "How was your delivery?", "scale", dict.fromkeys(range(1, 6), (1, 1))
                ),
            ),
            1,
        ),
    ),
    status="draft",
)

FORMS: Final = (WELCOME, QUIZ, FINDER, EXIT, FOOTER, SURVEY)
