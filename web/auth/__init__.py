"""API keys, members, permissions, sign-ins and the audit trail: rules and SQL.

Nothing here knows Flask: a function takes a connection, the present instant and plain values. A change
that cannot be made is an `OperatorError`; rows come from SQL as their readers want them. Forms
and pages belong in `web/pages`, commands in `web/cli`, and the check of a request's key in
`web/http/api_key_auth.py`.

Start with `api_keys.py` for keys, `members.py` for people, and `permissions.py` for the rules between
them. Functions that change something take a `Change` (`audit.py`): the connection, who does it and when. They
write to the audit trail in the same transaction, and leave the commit to the caller.
"""
