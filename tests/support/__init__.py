"""Helpers of the tests: the product, the oracle, random worlds, databases. No tests are here."""
