"""The shapes of bodies: answers, requests, errors.

A row is a `TypedDict`. Its fields are in the order of the answer, and the `Meta` of each field describes it
in the API's document. The docstring of a row says what one row is, on which clock its figures are, and how
rows are sorted. Fields that several rows share are declared once, in `figures.py`. CSV columns and the
OpenAPI document follow from these types. START HERE: `forms.py`.
"""
