"""Raw rows in, answers out, each worked out by hand from a sentence of the contract.

The oracle recomputes random worlds with code; what its author and the product's misread alike, it
cannot find. Here the expected figures are literals, and nothing computes them.
"""
