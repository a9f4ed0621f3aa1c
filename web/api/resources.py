"""All resources of the API, in the order of its endpoints: for the application and for the pages."""

from typing import Final

from web.api import (
    ad_spend,
    attribution,
    customer_ltv,
    discounts,
    form_analytics,
    forms,
    revenue_by_utm,
)

RESOURCES: Final = (
    forms,
    form_analytics,
    attribution,
    discounts,
    revenue_by_utm,
    ad_spend,
    customer_ltv,
)
