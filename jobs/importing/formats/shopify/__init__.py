"""Shopify's orders: `rest` answers of the REST Admin API, `bulk` operations of the GraphQL Admin API.

`orders` has what both share; `parent_child_join` brings the lines of a bulk file together.
"""
