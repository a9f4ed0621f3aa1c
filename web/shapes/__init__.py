"""What answers look like: one declaration per row, beside no other.

A row is a `TypedDict`: the types of its fields are checked where it is made, and what they mean, for
those who read the API's description, is in the `Meta` of each. Order is that of the answer. What a
word means wherever it stands is declared once, in `figures.py`; a row's own docstring says what a line
of it is, which clock its figures keep and in which order the rows come.
"""
