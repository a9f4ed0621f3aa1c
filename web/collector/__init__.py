"""The collector: events of a shop's visitors over HTTP, into the landing folder.

It is a process and a port of its own (`python -m web collect`), and asks the warehouse for nothing while a
request waits. It takes the tracking calls that the format `segment` reads. Start in `app.py`: how a request
passes. `calls.py` reduces a call to a line, `landing_writer.py` brings lines to the disk, `known_keys.py`
has the write keys, `limits.py` the limits, `server.py` starts the processes. `warehouse_writer.py` brings the
warehouse what it is told: how many calls were not kept, which forms were seen, that the host collects.
`README.md` is for those who send events.
"""
