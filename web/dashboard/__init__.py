"""The pages on which members see their figures: the answers of the API, drawn.

START HERE: `page.py`, which says what every page is made of; then one module a page. A page reads the
endpoints of `web/api` through `answers.py`, so its figures are the API's; the Data page and the line on
freshness read `warehouse/operations`. The days that are asked for are in `selection.py`, changes in
`comparison.py`, uncertainty in `statistics.py`, the language of numbers in `formatting.py`, the order of
tables in `sorting.py`. Charts have their geometry in `charts/` and their SVG in
`templates/dashboard/charts/`. `static/dashboard.js` adds a crosshair and keys, and nothing that a page
needs.
"""
