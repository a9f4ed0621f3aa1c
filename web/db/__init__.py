"""The ways in which a request reads the warehouse: one snapshot, cached answers and dimensions.

START HERE: `database.py`. SQL of keys and members is in `auth/`; figures are read by `api/query.py`.
"""
