"""Shopify's orders: `rest` answers of the REST Admin API, `bulk` operations of the GraphQL Admin API.

`orders` maps the orders of both; `parent_child_join` brings the lines of a bulk file together.
"""
