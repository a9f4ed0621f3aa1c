"""The words and units that everything shares: instants and days, ids, closed word lists, currencies,
tracking calls, the figures of answers and pages.

Pure functions and constants. Nothing here reads a clock, a file or a database.
"""
