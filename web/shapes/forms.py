"""Forms, and the funnels and devices of forms (1 to 6, 9, 13)."""

from typing import Annotated, Any, Final, Literal, TypedDict

from msgspec import Meta

from web.shapes.figures import (
    Completions,
    DeviceType,
    FormFigures,
    FormId,
    FormRates,
    OfDay,
    OfForm,
    Subscriptions,
    Views,
)


class FormSummary(TypedDict):
    """A form."""

    id: FormId
    name: Annotated[str, Meta(description="Its name.")]
    status: Annotated[
        str,
        Meta(description="`draft` for a form created here; an imported one has its platform's."),
    ]
    updatedAt: Annotated[
        str,
        Meta(
            description="When the form or its draft last changed.",
            extra_json_schema={"format": "date-time"},
        ),
    ]


# What `web/bodies.py` takes: 1 to 255 characters between blanks, and no NUL.
_BLANK: Final = r"\s\u001c-\u001f"
_NAME: Final = rf"^[{_BLANK}]*[^{_BLANK}\u0000]([^\u0000]{{0,253}}[^{_BLANK}\u0000])?[{_BLANK}]*$"


class NewForm(TypedDict):
    """A form to be created. Unknown fields are ignored."""

    name: Annotated[
        str,
        Meta(
            pattern=_NAME,
            description="Its name: 1 to 255 characters, not counting blanks around it, which are not kept.",
        ),
    ]
    schema: Annotated[
        dict[str, Any],
        Meta(description="What the form is made of: any object, kept as it is written."),
    ]


class DraftReplacement(TypedDict):
    """A form's new draft. Unknown fields are ignored."""

    draft_schema: Annotated[
        dict[str, Any],
        Meta(description="What the form is to be made of: any object, kept as it is written."),
    ]


class AllFormsRow(OfForm):
    """One form in the window. Order: views descending, then formId."""

    views: Views
    subscriptions: Subscriptions
    completions: Completions


StageName = Literal["view", "start", "submit", "convert"]


class Stage(TypedDict):
    """A stage of a funnel."""

    stage: Annotated[
        StageName,
        Meta(description="Stands for `views`, `starts`, `submissions`, `convertedSubmissions`."),
    ]
    count: Annotated[int, Meta(ge=0, description="How many form sessions reached it.")]
    rateFromPrevious: Annotated[
        float,
        Meta(
            ge=0,
            description="`count` in percent of the stage before; of the first, of itself.",
        ),
    ]
    rateFromFirst: Annotated[
        float, Meta(ge=0, description="`count` in percent of the first stage.")
    ]


class FunnelRates(TypedDict):
    """How many of those who see a form go on."""

    startRate: Annotated[float, Meta(ge=0, description="`starts` / `views` x 100.")]
    subscriptionRate: Annotated[float, Meta(ge=0, description="`subscriptions` / `views` x 100.")]
    completionRate: Annotated[float, Meta(ge=0, description="`completions` / `views` x 100.")]


class Funnel(OfForm, FormFigures, FunnelRates, FormRates):
    """A form over the whole window. Orders and revenue are those that followed, to date, from the
    window's submissions (submission clock)."""

    stages: Annotated[list[Stage], Meta(description="The four stages, from view to order.")]


class OfDevice(TypedDict):
    """What is about one kind of device."""

    deviceType: DeviceType


class DeviceRow(OfDevice, FormFigures, FormRates):
    """A kind of device. Orders and revenue are those that followed, to date, from the window's
    submissions (submission clock). Order: views descending, then deviceType."""

    shareOfViews: Annotated[
        float, Meta(ge=0, description="`views` in percent of all devices' in the window.")
    ]


class TrendRow(OfDay, FormFigures, FormRates):
    """A day of the window. Orders and revenue are those attributed to the form, by the day of the
    order (order clock), all else by its own day. Order: date; no day is left out."""
