"""Files into raw rows: read in chunks, checked, written with their rejects.

`import_file` is the whole way of one file: start there. `files/` reads bytes as chunks of cells,
`values/` says which cells are accepted, `kinds/` turns cells into rows and writes them, `formats/` maps
other systems' records to ours. Nothing here computes a figure: that is the work of `pipeline`.
"""
