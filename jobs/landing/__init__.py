"""The landing folder: a file that appears complete in `IMPORT_DIR/KIND/` is imported once and moved.

`folder` says which files are there, `turns` which is next, `held_file` opens and moves one of them, `land`
imports them; start there. How a file is imported is in `importing/`.
"""
