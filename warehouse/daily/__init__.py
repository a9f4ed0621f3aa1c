"""Daily rows, the only thing that answers are summed from. `writer.py` is their only writer, for jobs;
`reader.py` their only reader, for the API.

Start in `warehouse/catalogue.py`, which declares what the rows are. Figures are computed in
`jobs/rollups`, not here.
"""
