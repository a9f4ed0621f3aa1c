"""Integer columns as NumPy arrays: group keys, look-ups and joins without a Python object per row.

Nothing here knows what a column means. Frames of facts belong to `jobs/facts`, sums by key to
`warehouse/daily/group_sum.py`.
"""
