"""The description of the API: an OpenAPI 3.1 document at `/v1/openapi.json`, and `/docs` to read it.

The document is generated from the declarations that serve requests: `web/api/endpoint.py`, the types in
`web/api/schemas/`, the error codes in `web/http/errors.py`. Only its chapters are written by hand.

START HERE: `document.py`. It is assembled from `operations.py` (one per endpoint), `responses.py` (errors
and headers) and `schemas.py` (JSON Schema of the types). `examples.json` has recorded answers of the
demo shop; `python -m tests.web.openapi.record_examples` writes it.
"""
