"""Calls the service with the client that openapi-python-client has generated."""

import os
from uuid import UUID

from generated import AuthenticatedClient
from generated.api.customers import lifetime_value
from generated.api.form_analytics import form_funnel
from generated.api.forms import all_forms_funnel, create_form, get_form, list_forms
from generated.models import (
    AllFormsFunnelResponse,
    CreateFormResponse,
    Error,
    FormDraftSchemaType0,
    FormFunnelResponse,
    GetFormResponse,
    LifetimeValueDimension,
    LifetimeValueResponse,
    ListFormsResponse,
    LtvByForm,
    NewForm,
    NewFormSchema,
)

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])
form_id = UUID(os.environ["FORM_ID"])

listed = list_forms.sync(client=client, limit=1)
assert isinstance(listed, ListFormsResponse)
assert len(listed.data) == 1
assert listed.meta.next_cursor

funnels = all_forms_funnel.sync(client=client, range_=os.environ["RANGE"])
assert isinstance(funnels, AllFormsFunnelResponse)
assert funnels.data[0].form_name
assert funnels.meta.data_through

funnel = form_funnel.sync(form_id, client=client, range_=os.environ["RANGE"])
assert isinstance(funnel, FormFunnelResponse)
assert funnel.data.stages[0].count == funnel.data.views > 0

refused = form_funnel.sync(form_id, client=client, range_="tomorrow")
assert isinstance(refused, Error)
assert refused.error.code == "invalid_range"

values = lifetime_value.sync(client=client, dimension=LifetimeValueDimension.FORM)
assert isinstance(values, LifetimeValueResponse)
assert isinstance(values.data, LtvByForm)

schema = NewFormSchema.from_dict({"steps": []})
made = create_form.sync(client=client, body=NewForm(name="Generated", schema=schema))
assert isinstance(made, CreateFormResponse)
shown = get_form.sync(made.data.id, client=client)
assert isinstance(shown, GetFormResponse)
assert isinstance(shown.data.draft_schema, FormDraftSchemaType0)
assert shown.data.draft_schema.to_dict() == {"steps": []}

print("The Python client works.")
