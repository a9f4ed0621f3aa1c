"""Who is admitted to a request, by its key: looked up with every request, at once and in its snapshot."""

from flask import current_app, g, request

from web.callers import bearer, found, looked_up


def admit(now: int) -> None:
    """Find the caller of the request at hand, at the instant `now`: `g.caller`, and whether the form
    of the address is theirs, `g.form_is_known`. Raises the 401."""
    key = bearer(request.headers.get("Authorization"))
    wanted = g.looked_up = looked_up(key, (request.view_args or {}).get("form_id", ""))
    g.caller, g.form_is_known = found(current_app.extensions["look_up"].one(wanted), now)


def take_snapshot(now: int) -> None:
    """Let the rest of the request look at one snapshot, `g.connection`, and have it see key and shop
    as they are in there. Raises the 401 where the key has stopped meanwhile."""
    g.connection = current_app.extensions["database"].read()
    row = current_app.extensions["look_up"].within(g.connection, g.looked_up)
    g.caller, g.form_is_known = found(row, now)
