"""Resources that requests share: slots to work in (`slots.py`), connections of a process (`connections.py`),
calls within a time (`gcra.py`). START HERE: `slots.py`.

Nothing here knows a key, a shop or a figure.
"""
