"""START HERE: forms, and the funnels and devices of forms (endpoints 1 to 6, 9, 13)."""

from typing import Annotated, Any, Final, Literal, TypedDict

from msgspec import Meta

from web.api.schemas.figures import (
    Completions,
    DeviceType,
    FormFigures,
    FormId,
    FormRates,
    PerDay,
    PerForm,
    Subscriptions,
    Views,
)

JsonObject = Annotated[dict[str, Any], Meta(extra_json_schema={"additionalProperties": True})]


class FormSummary(TypedDict):
    """A form."""

    id: FormId
    name: Annotated[str, Meta(description="The form's name.")]
    status: Annotated[
        str,
        Meta(
            description="`draft` for a form that was created here. An imported form has the status of its "
            "platform."
        ),
    ]
    updatedAt: Annotated[
        str,
        Meta(
            description="When the form or its draft last changed.",
            extra_json_schema={"format": "date-time"},
        ),
    ]


class Form(FormSummary):
    """A form with its schema and its draft."""

    schema: Annotated[
        JsonObject | None,
        Meta(description="The form's schema, exactly as it was written; null if it has none."),
    ]
    draftSchema: Annotated[
        JsonObject | None,
        Meta(description="The form's draft, exactly as it was written; null if it has none."),
    ]


# `web/http/json_body.py` accepts the same: 1 to 255 characters after trimming, and no NUL.
_BLANK: Final = r"\s\u001c-\u001f"
_NAME: Final = rf"^[{_BLANK}]*[^{_BLANK}\u0000]([^\u0000]{{0,253}}[^{_BLANK}\u0000])?[{_BLANK}]*$"


class NewForm(TypedDict):
    """A form to create. Unknown fields are ignored."""

    name: Annotated[
        str,
        Meta(
            pattern=_NAME,
            description="The form's name: 1 to 255 characters. Blanks around it are removed.",
        ),
    ]
    schema: Annotated[
        JsonObject,
        Meta(description="The form's schema: any JSON object. It is kept exactly as written."),
    ]


class DraftReplacement(TypedDict):
    """A form's new draft. Unknown fields are ignored."""

    draft_schema: Annotated[
        JsonObject,
        Meta(description="The form's new draft: any JSON object. It is kept exactly as written."),
    ]


class AllFormsRow(PerForm):
    """One form in the window. Order: views descending, then formId."""

    views: Views
    subscriptions: Subscriptions
    completions: Completions


StageName = Literal["view", "start", "submit", "convert"]


class Stage(TypedDict):
    """A stage of the funnel."""

    stage: Annotated[
        StageName,
        Meta(
            description="The stages count `views`, `starts`, `submissions` and `convertedSubmissions`."
        ),
    ]
    count: Annotated[int, Meta(ge=0, description="Form sessions that reached the stage.")]
    rateFromPrevious: Annotated[
        float,
        Meta(
            ge=0,
            description="`count` as a percentage of the previous stage. The first stage has 100, or 0 if "
            "its count is 0.",
        ),
    ]
    rateFromFirst: Annotated[
        float, Meta(ge=0, description="`count` as a percentage of the first stage.")
    ]


class FunnelRates(TypedDict):
    """Milestones as percentages of views."""

    startRate: Annotated[float, Meta(ge=0, description="`starts` / `views` x 100.")]
    subscriptionRate: Annotated[float, Meta(ge=0, description="`subscriptions` / `views` x 100.")]
    completionRate: Annotated[float, Meta(ge=0, description="`completions` / `views` x 100.")]


class FunnelFigures(FormFigures, FunnelRates, FormRates):
    """All figures of a funnel, without its stages."""


class Funnel(PerForm, FunnelFigures):
    """A form over the whole window. Orders and revenue followed from the window's submissions, to date
    (submission clock)."""

    stages: Annotated[list[Stage], Meta(description="The four stages, from view to order.")]


class FormFunnel(PerForm, FunnelFigures):
    """A form over the whole window, among all forms: for pages."""

    submissionsByDay: Annotated[
        list[int], Meta(description="Submissions on each day; empty if the form has no figures.")
    ]


class RatedFigures(FormFigures, FormRates):
    """The figures of a device type or a day."""


class PerDevice(TypedDict):
    """The column that says which device type a row is about."""

    deviceType: DeviceType


class DeviceRow(PerDevice, RatedFigures):
    """One device type. Orders and revenue followed from the window's submissions, to date (submission
    clock). Order: views descending, then deviceType."""

    shareOfViews: Annotated[
        float, Meta(ge=0, description="`views` as a percentage of the views of all devices.")
    ]


class TrendRow(PerDay, RatedFigures):
    """One day of the window. Orders and revenue are those credited to the form, by the day of the order
    (order clock). Everything else is dated by its own day. Order: date. No day is left out."""
