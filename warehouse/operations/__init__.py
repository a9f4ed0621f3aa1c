"""The record of the jobs themselves: which ran, and which process may run one now.

Leases of editions are in `warehouse/editions/leases.py`.
"""
