"""`Vary`: which headers of a request an answer depends on."""

from flask import Response


def vary_by(response: Response, name: str) -> None:
    """Say that the answer depends on this header, too. (The library's own set would read and write
    the whole header anew, with every answer.)"""
    said = response.headers.get("Vary")
    if said is None:
        response.headers["Vary"] = name
    elif name not in said.split(", "):
        response.headers["Vary"] = f"{said}, {name}"
