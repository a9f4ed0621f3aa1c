"""Who plays in the demo: the shop, its forms with their steps and fields, its campaigns and codes."""

from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

SHOP_ID: Final = "demo.myshopify.com"
SHOP: Final = {
    "shop_id": SHOP_ID,
    "name": "Demo Botanicals",
    "currency": "USD",
    "timezone": "America/New_York",
}
ZONE: Final = ZoneInfo(SHOP["timezone"])
DAYS: Final = 120


@dataclass(frozen=True)
class Field:
    """One question; `choices` maps an answer to (how often, how it moves the chance of an order)."""

    id: str
    type: str
    choices: dict[Any, tuple[float, float]] | None = None
    answered: float = 0.95


@dataclass(frozen=True)
class Step:
    id: str
    name: str
    fields: tuple[Field, ...]
    completed: float


@dataclass(frozen=True)
class Form:
    """One form. `share` is of all visits, `started` of its views; `buys` is the chance of an order."""

    id: str
    name: str
    kind: str
    share: float
    started: float
    buys: float
    steps: tuple[Step, ...]
    completes: bool = True
    subscribes: float = 0.0
    code: tuple[str, str] | None = None
    single_use: str | None = None
    status: str = "published"

    @property
    def schema(self) -> dict[str, Any]:
        steps = [
            {
                "id": step.id,
                "name": step.name,
                "fields": [
                    {"id": field.id, "type": field.type, "choices": list(field.choices or ())}
                    for field in step.fields
                ],
            }
            for step in self.steps
        ]
        return {"kind": self.kind, "steps": steps}


EMAIL: Final = Field("email", "email", answered=1.0)

WELCOME: Final = Form(
    "0192a000-0000-7000-8000-000000000001",
    "Welcome pop-up",
    "popup",
    share=0.40,
    started=0.17,
    buys=0.16,
    steps=(Step("email", "Your e-mail", (EMAIL,), 0.74),),
    completes=False,
    subscribes=1.0,
    single_use="WELCOME",
)

QUIZ: Final = Form(
    "0192a000-0000-7000-8000-000000000002",
    "Skin type quiz",
    "quiz",
    share=0.20,
    started=0.58,
    buys=0.12,
    steps=(
        Step(
            "skin",
            "Your skin",
            (
                Field(
                    "skin_type",
                    "choice",
                    {"dry": (3, 1.3), "oily": (3, 0.9), "mixed": (4, 1.0), "sensitive": (2, 1.7)},
                ),
            ),
            0.90,
        ),
        Step(
            "concerns",
            "What bothers you",
            (
                Field(
                    "concerns",
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
        Step(
            "routine",
            "Your routine",
            (
                Field(
                    "routine_effort",
                    "scale",
                    {1: (1, 0.5), 2: (2, 0.7), 3: (4, 1.0), 4: (3, 1.3), 5: (2, 1.7)},
                ),
                Field("allergies", "text", answered=0.35),
                Field("birthday", "date", answered=0.25),
            ),
            0.88,
        ),
        Step("result", "Where to send the result", (EMAIL,), 0.72),
    ),
    subscribes=0.85,
    code=("QUIZ15", "disc_1002"),
)

FINDER: Final = Form(
    "0192a000-0000-7000-8000-000000000003",
    "Gift finder",
    "product_finder",
    share=0.17,
    started=0.66,
    buys=0.13,
    steps=(
        Step(
            "who",
            "Who is it for",
            (
                Field(
                    "recipient",
                    "choice",
                    {"partner": (4, 1.5), "parent": (3, 1.2), "friend": (3, 0.8), "me": (2, 1.1)},
                ),
            ),
            0.92,
        ),
        Step(
            "budget",
            "How much",
            (
                Field(
                    "budget",
                    "choice",
                    {"under 30": (4, 0.7), "30 to 60": (4, 1.2), "over 60": (2, 1.6)},
                ),
                Field("gift_wrap", "boolean", {True: (2, 1.4), False: (3, 0.9)}),
            ),
            0.85,
        ),
        Step(
            "contact",
            "Shall we remind you",
            (
                Field("email", "email", answered=0.45),
                Field("phone", "phone", answered=0.15),
                Field("days_left", "number", answered=0.5),
            ),
            0.90,
        ),
    ),
    subscribes=0.30,
)

EXIT: Final = Form(
    "0192a000-0000-7000-8000-000000000004",
    "Before you go",
    "exit_intent",
    share=0.15,
    started=0.11,
    buys=0.15,
    steps=(
        Step(
            "why",
            "What stopped you",
            (
                Field(
                    "reason",
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

FOOTER: Final = Form(
    "0192a000-0000-7000-8000-000000000005",
    "Footer sign-up",
    "embedded",
    share=0.08,
    started=0.06,
    buys=0.13,
    steps=(Step("email", "Newsletter", (EMAIL,), 0.9),),
    completes=False,
    subscribes=1.0,
)

SURVEY: Final = Form(
    "0192a000-0000-7000-8000-000000000006",
    "After-delivery survey",
    "survey",
    share=0.0,
    started=0.0,
    buys=0.0,
    steps=(
        Step(
            "stars", "How was it", (Field("stars", "scale", dict.fromkeys(range(1, 6), (1, 1))),), 1
        ),
    ),
    status="draft",
)

FORMS: Final = (WELCOME, QUIZ, FINDER, EXIT, FOOTER, SURVEY)
