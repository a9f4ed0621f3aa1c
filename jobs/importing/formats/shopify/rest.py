"""Shopify's orders as the REST Admin API answers: a list, `{"orders": [...]}`, or one a line. See
`rest.md`."""

from jobs.importing.formats.base import Sample, SourceField
from jobs.importing.formats.shopify.orders import ShopifyOrders


class Shopify(ShopifyOrders):
    name = "shopify"
    title = "Shopify's orders, as its API gives them"
    list_members = ("orders", "order")
    source_fields = (
        SourceField("id", "order_id"),
        SourceField("processed_at", "created_at"),
        SourceField("created_at", "created_at"),
        SourceField("updated_at", "updated_at"),
        SourceField("total_price_set.shop_money.currency_code", "currency"),
        SourceField("currency", "currency"),
        SourceField("total_price_set.shop_money.amount", "total_cents"),
        SourceField("total_price", "total_cents"),
        SourceField("total_discounts_set.shop_money.amount", "discount_cents"),
        SourceField("total_discounts", "discount_cents"),
        SourceField("customer.id", "customer_id"),
        SourceField("email", "email"),
        SourceField("contact_email", "email"),
        SourceField("customer.email", "email"),
        SourceField("note_attributes[].name", "visitor_id"),
        SourceField("note_attributes[].value", "visitor_id"),
        SourceField("discount_codes[].code", "discount_codes"),
        SourceField("discount_codes[].amount", "discount_codes"),
        SourceField("discount_applications[].code", "discount_codes"),
        SourceField("refunds[].id", "refunds"),
        SourceField("refunds[].created_at", "refunds"),
        SourceField("refunds[].transactions[].kind", "refunds"),
        SourceField("refunds[].transactions[].status", "refunds"),
        SourceField("refunds[].transactions[].amount", "refunds"),
        SourceField("refunds[].transactions[].currency", "refunds"),
        SourceField("current_total_price_set.shop_money.amount", "refunds"),
        SourceField("current_total_price", "refunds"),
        SourceField("total_price_set.presentment_money.amount", "refunds"),
        SourceField("total_price_set.presentment_money.currency_code", "refunds"),
        SourceField("cancelled_at", "cancelled_at"),
        SourceField("test", "test"),
        SourceField("landing_site", "utm_*"),
    )

    def matches(self, sample: Sample) -> bool:
        """Whether a record has what all orders have, by Shopify's names."""
        names = {"id", "created_at", "total_price", "currency"}
        return any(names <= record.keys() for record in sample.records)
