"""The way from a figure to its rows: the daily rows that it sums, the facts behind them, the raw rows behind
those.

START HERE: `explain.py`. Nothing here is about one summary: a rollup says by itself what each fact adds.
"""
