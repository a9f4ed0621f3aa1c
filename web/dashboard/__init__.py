"""The pages on which members see their figures: the answers of the API, drawn.

START HERE: `page.py`, which says what every page is made of; then one module a page. A page reads the
reports of `web/reports` through `answers.py`, so its figures are the API's; the Data page and the line on
freshness read `warehouse/operations`. A page shows data: cards and tables (`table.py`) of rows
beside their former ones (`compare.py`). The address is in `selection.py`, uncertainty in `statistics.py`,
what got worse beyond chance in `losses.py`, the language of numbers in `formatting.py`. Charts have their
geometry in `charts/`. `static/dashboard.js` adds a crosshair and keys, and nothing that a page needs.
"""
