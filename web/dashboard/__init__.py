"""The pages on which members see their figures: the answers of the API, drawn.

START HERE: `page.py`, which says what every page is made of; then one module a page. A page reads the
endpoints of `web/api` through `answers.py` and nothing else, so its figures are the API's. Uncertainty is
in `statistics.py`, the language of numbers in `formatting.py`, the days that are asked for in
`selection.py`; charts are macros in `templates/dashboard/charts/basic.html`.
"""
