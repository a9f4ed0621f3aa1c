"""The API's description: an OpenAPI 3.1 document at `/v1/openapi.json`, and `/docs` to read it.

The document is made from what serves: the declarations in `web/endpoint.py`, the types in
`web/shapes/`, the codes in `web/errors.py`. START HERE: `document.py`.
"""
