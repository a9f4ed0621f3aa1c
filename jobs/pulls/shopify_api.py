"""Shopify's GraphQL Admin API as far as pulls need it: a token, a query, a bulk operation."""

from collections.abc import Iterator
from typing import Any, Final

import requests

from jobs.pulls import http
from jobs.pulls.base import Json, PullFailed
from jobs.run.signals import pause
from warehouse.operations.shop_pulls import SHOPIFY_CREDENTIALS

API_VERSION: Final = "2026-07"

_TOKEN: Final = "access_token"
_WHAT: Final = "Shopify"
_UNAUTHORIZED: Final = 401
# Bulk operations in progress, in earlier and in later versions of the API.
_BUSY: Final = {"OPERATION_IN_PROGRESS", "LIMIT_REACHED"}
_OPERATION: Final = "id status errorCode createdAt objectCount fileSize url partialDataUrl"
_START: Final = (
    "mutation($query: String!) { bulkOperationRunQuery(query: $query) "
    f"{{ bulkOperation {{ {_OPERATION} }} userErrors {{ field message code }} }} }}"
)
_LOOK: Final = f"query($id: ID!) {{ node(id: $id) {{ ... on BulkOperation {{ {_OPERATION} }} }} }}"
_LONGEST_POLL_SECONDS: Final = 60.0
# An operation of all orders of a large shop takes hours. Shopify itself ends it after ten days.
_LONGEST_WAIT_SECONDS: Final = 24 * 3600.0
_FIRST_POLL_SECONDS = 1.0


class ShopifyApi:
    """The API of one shop at an address. The token is fetched when it is first needed, and anew when it
    has expired (after 24 hours, while an operation may still run). It is kept with the credentials, so
    that messages do not show it either."""

    def __init__(self, session: requests.Session, url: str, credentials: Json) -> None:
        self._session, self._url, self._credentials = session, url, credentials

    def run_bulk_query(self, query: str) -> Json:
        """Run a bulk operation to its end; returns it once it is COMPLETED. Waits for others that are
        running. Raises PullFailed."""
        for seconds in _polls("another bulk operation of the app has been running for 24 hours"):
            answer = self.ask(_START, {"query": query})["bulkOperationRunQuery"]
            errors = answer["userErrors"]
            if not errors:
                return self._ended(answer["bulkOperation"])
            if not any(error.get("code") in _BUSY for error in errors):
                raise PullFailed(f"{_WHAT} refuses the query: {_messages(errors)}")
            pause(seconds)
        raise AssertionError

    def _ended(self, operation: Json) -> Json:
        for seconds in _polls("the bulk operation has not ended within 24 hours"):
            status = operation["status"]
            if status == "COMPLETED":
                return operation
            if status not in ("CREATED", "RUNNING", "CANCELING"):
                raise PullFailed(_failure(operation))
            pause(seconds)
            found = self.ask(_LOOK, {"id": operation["id"]})["node"]
            if not found:
                raise PullFailed(f"{_WHAT} no longer knows the bulk operation {operation['id']}")
            operation = found
        raise AssertionError

    def ask(self, query: str, variables: dict[str, str]) -> Json:
        """The data of an answer. Waits where Shopify asks for slower requests. Raises PullFailed."""
        for seconds in http.growing_pauses():
            answer = self._post(query, variables)
            errors = answer.get("errors")
            if not errors:
                data: Json = answer["data"]
                return data
            if not _is_throttled(errors):
                raise PullFailed(f"{_WHAT} answers: {_messages(errors)}")
            pause(max(_throttled_seconds(answer), seconds))
        raise PullFailed(f"{_WHAT} asks for fewer requests, again and again (THROTTLED)")

    def _post(self, query: str, variables: dict[str, str]) -> Json:
        url = f"{self._url}/admin/api/{API_VERSION}/graphql.json"
        body: Json = {"query": query, "variables": variables}
        with http.plain_errors(_WHAT, url):
            for has_expired in (False, True):
                if has_expired or _TOKEN not in self._credentials:
                    self._credentials[_TOKEN] = self._new_token()
                headers = {"X-Shopify-Access-Token": self._credentials[_TOKEN]}
                answer = self._session.post(
                    url, json=body, headers=headers, timeout=http.TIMEOUTS, allow_redirects=False
                )
                if answer.status_code != _UNAUTHORIZED:
                    break
            return _object(answer)

    def _new_token(self) -> str:
        form = {name: self._credentials[name] for name in SHOPIFY_CREDENTIALS}
        form["grant_type"] = "client_credentials"
        url = f"{self._url}/admin/oauth/access_token"
        answer = self._session.post(url, data=form, timeout=http.TIMEOUTS, allow_redirects=False)
        return str(_object(answer).get(_TOKEN, ""))


def _polls(too_long: str) -> Iterator[float]:
    """Seconds between looks, ever more. Raises PullFailed with the reason after a day."""
    waited, seconds = 0.0, _FIRST_POLL_SECONDS
    while waited < _LONGEST_WAIT_SECONDS:
        yield seconds
        waited += seconds
        seconds = min(1.5 * seconds, _LONGEST_POLL_SECONDS)
    raise PullFailed(f"{_WHAT}: {too_long}")


def _object(answer: requests.Response) -> Json:
    """The JSON object in an answer. Raises PullFailed with what it says is wrong."""
    try:
        value = answer.json()
    except ValueError:
        value = None
    if not isinstance(value, dict):
        value = {}
    if answer.ok and not answer.is_redirect and value:
        return value
    said = value.get("error_description") or value.get("error") or value.get("errors")
    reason = f": {said}" if said else ""
    raise PullFailed(f"{_WHAT} answered {answer.status_code} {answer.reason}{reason}")


def _is_throttled(errors: Any) -> bool:
    return isinstance(errors, list) and any(
        error.get("extensions", {}).get("code") == "THROTTLED" for error in errors
    )


def _throttled_seconds(answer: Json) -> float:
    """How long it takes until the query can be afforded, as the answer says."""
    cost = answer.get("extensions", {}).get("cost", {})
    state = cost.get("throttleStatus", {})
    missing = cost.get("requestedQueryCost", 0) - state.get("currentlyAvailable", 0)
    return float(max(missing, 0) / (state.get("restoreRate") or 50))


def _messages(errors: Any) -> str:
    if not isinstance(errors, list):
        return str(errors)
    return "; ".join(str(error.get("message", error)) for error in errors)


def _failure(operation: Json) -> str:
    code = f" ({operation['errorCode']})" if operation.get("errorCode") else ""
    partial = (
        ". Shopify kept the part that it had (partialDataUrl), which is not taken"
        if operation.get("partialDataUrl")
        else ""
    )
    return f"the bulk operation ended as {operation['status']}{code}{partial}. The next pull starts anew"
