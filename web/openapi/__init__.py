"""The description of the API: an OpenAPI 3.1 document at `/v1/openapi.json`, and `/docs` to read it.

The document is generated from the declarations that serve requests: the endpoints and their rows
(`web/reports/`), the headers and the error codes of `web/http/`. Only its chapters (`description.md`) are
written by hand.

START HERE: `document.py`. It is assembled from `operations.py` (one per endpoint) and `responses.py` (errors
and headers). `examples.json` has recorded answers of the demo shop;
`python -m tests.web.openapi.record_examples` writes it.
"""
