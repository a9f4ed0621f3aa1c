"""Pulls: what fetches orders, spend and rates by itself. Each source is one module with a page beside it;
see `README.md`. Start with `base`; `run_pull` is one run, `set_up` lists the sources, `limits` bounds them.

A pull writes files into the landing folder and nothing else: how they become rows is the import's.
"""
