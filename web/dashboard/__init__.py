"""The pages on which members see their figures: the answers of the API, drawn.

START HERE: `page.py`, which says what every page is made of; then one module a page. A page reads the reports
of `web/reports` through `answers.py`, so its figures are the API's; the Data page and the line on freshness
read `warehouse/shops`. A figure has one way to its cell: a `Column` (`table.py`), made of what a report's row
declares; its `Value` of a row, beside the former one (`compare.py`); the `Cell` with its chip (`changes.py`);
the macros of `figures.html`. Cards and tables are made of columns. The address is in `selection.py`,
uncertainty in `statistics.py`, what got worse beyond chance in `worth_a_look.py`, the language of numbers in
`formatting.py`. Charts have their geometry in `charts/`. `static/dashboard.js` adds a crosshair and keys, and
nothing that a page needs.
"""
