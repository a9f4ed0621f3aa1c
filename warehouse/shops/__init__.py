"""Shops as their pages and commands see them: the list of shops, what came in, the state of the data, notes,
and a report beside the figures.

START HERE: `shop_registry.py`. Deletion and export of a whole shop are in `warehouse/tenants`.
"""
