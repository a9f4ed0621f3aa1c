"""The WSGI server: granian, with its own options only. Nothing here knows a request.

START HERE: `wsgi_server.py`. Each worker serves the application of `web/app.py`.
"""
