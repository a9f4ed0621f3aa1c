"""The landing folder: what appears complete in `IMPORT_DIR/<kind>/` is imported once, and moved.

`folder.py` says what is there, `claims.py` whose a file is and how it gets to `done/` or `failed/`
whatever dies on the way, `importing.py` imports.
"""
