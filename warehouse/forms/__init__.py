"""The forms of a shop beyond its figures: which were seen, and the rules that its members set on them.

START HERE: `seen_forms.py`. How rules change figures is in `jobs/facts`; what a rule is, in
`warehouse/domain/form_rules.py`.
"""
