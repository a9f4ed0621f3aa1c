"""The one definition of every value that an import accepts.

`numbers`, `times`, `texts`, `answers` and `order_lists` each read one cell and raise `InvalidValue`.
`fields` declares what a field is; `columns` reads a whole column of a chunk by that declaration, and
has a fast path for clean columns. Start with `fields`. Which fields a kind has is in `kinds/`.
"""
