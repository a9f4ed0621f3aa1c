"""Files as chunks of rows: `detect` finds out what a file is, `ndjson`, `csv` and `parquet` read it;
`json` reads records of other systems.

A `Chunk` holds cells as the file has them; `values/` decides what they mean. Files of other systems are
read by `formats/`. Start with `detect.chunks_of`.
"""
