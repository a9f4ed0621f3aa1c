"""A shop to look at: believable input files of all seven kinds, made up to the minute.

`cast.py` says who plays: forms, campaigns, codes. `people.py` has the visitors, `visits.py` what they do
on a form, `purchases.py` what they buy, `spending.py` what the ads cost. `story.py` plays the days
and `files.py` writes it all down. What happens on a day follows from the day alone, so that
a later run tells the same story and goes on with it.
"""
