"""Shopify's GraphQL Admin API as far as pulls need it: a token, a query, a bulk operation."""

from itertools import islice
from typing import Any, Final

import requests

from jobs.pulls import http, limits
from jobs.pulls.base import Json
from jobs.pulls.limits import PullFailed
from warehouse.intake.shop_pulls import SHOPIFY_CREDENTIALS

API_VERSION: Final = "2026-07"
# States of a bulk operation.
COMPLETED: Final = "COMPLETED"
RUNNING: Final = ("CREATED", "RUNNING", "CANCELING")

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
_POLL_FACTOR: Final = 1.5


class ShopifyApi:
    """The API of one shop at an address. The token is fetched when it is first needed, and anew when it
    has expired (after 24 hours, while an operation may still run). It is kept with the credentials, so
    that messages do not show it either."""

    def __init__(self, session: requests.Session, url: str, credentials: Json) -> None:
        self._session, self._url, self._credentials = session, url, credentials

    def start_bulk_query(self, query: str) -> Json:
        """Start a bulk operation, once no other is running. Raises PullFailed."""
        for seconds in http.pauses(_POLL_FACTOR, _LONGEST_POLL_SECONDS):
            answer = self.ask(_START, {"query": query})["bulkOperationRunQuery"]
            errors = answer["userErrors"]
            if not errors:
                operation: Json = answer["bulkOperation"]
                return operation
            if not any(error.get("code") in _BUSY for error in errors):
                raise PullFailed(f"{_WHAT} refuses the query: {_messages(errors)}")
            limits.pause(seconds)
        raise AssertionError

    def find_operation(self, operation_id: str) -> Json | None:
        """A bulk operation as it is now; None if Shopify no longer knows it. Raises PullFailed."""
        operation: Json | None = self.ask(_LOOK, {"id": operation_id})["node"]
        return operation

    def wait_for(self, operation: Json) -> Json:
        """A bulk operation once it is COMPLETED. Raises PullFailed."""
        for seconds in http.pauses(_POLL_FACTOR, _LONGEST_POLL_SECONDS):
            status = operation["status"]
            if status == COMPLETED:
                return operation
            if status not in RUNNING:
                code = f" ({operation['errorCode']})" if operation.get("errorCode") else ""
                partial = (
                    ". Shopify kept the part that it had (partialDataUrl), which is not taken"
                    if operation.get("partialDataUrl")
                    else ""
                )
                raise PullFailed(
                    f"the bulk operation ended as {status}{code}{partial}. The next pull starts anew"
                )
            limits.pause(seconds)
            now = self.find_operation(operation["id"])
            if not now:
                raise PullFailed(f"{_WHAT} no longer knows the bulk operation {operation['id']}")
            operation = now
        raise AssertionError

    def ask(self, query: str, variables: dict[str, str]) -> Json:
        """The data of an answer. Waits where Shopify asks for slower requests. Raises PullFailed."""
        for seconds in islice(http.pauses(), http.TRIES):
            answer = self._post(query, variables)
            errors = answer.get("errors")
            if not errors:
                data: Json = answer["data"]
                return data
            if not isinstance(errors, list) or not any(
                error.get("extensions", {}).get("code") == "THROTTLED" for error in errors
            ):
                raise PullFailed(f"{_WHAT} answers: {_messages(errors)}")
            # The answer says what the query costs, and how fast that comes back.
            cost = answer.get("extensions", {}).get("cost", {})
            state = cost.get("throttleStatus", {})
            missing = cost.get("requestedQueryCost", 0) - state.get("currentlyAvailable", 0)
            limits.pause(max(missing / (state.get("restoreRate") or 50), seconds))
        raise PullFailed(f"{_WHAT} asks for fewer requests, again and again (THROTTLED)")

    def _post(self, query: str, variables: dict[str, str]) -> Json:
        url = f"{self._url}/admin/api/{API_VERSION}/graphql.json"
        body: Json = {"query": query, "variables": variables}
        for has_expired in (False, True):
            if has_expired or _TOKEN not in self._credentials:
                form = {name: self._credentials[name] for name in SHOPIFY_CREDENTIALS}
                form["grant_type"] = "client_credentials"
                address = f"{self._url}/admin/oauth/access_token"
                with http.asking(self._session, "POST", address, _WHAT, data=form) as answer:
                    self._credentials[_TOKEN] = str(_object(answer).get(_TOKEN, ""))
            headers = {"X-Shopify-Access-Token": self._credentials[_TOKEN]}
            with http.asking(
                self._session, "POST", url, _WHAT, json=body, headers=headers
            ) as answer:
                if answer.status_code != _UNAUTHORIZED or has_expired:
                    return _object(answer)
        raise AssertionError


def _object(answer: requests.Response) -> Json:
    """The JSON object in an answer. Raises PullFailed with what it says is wrong."""
    value = http.read_json(answer, _WHAT)
    if not isinstance(value, dict):
        value = {}
    if answer.ok and not answer.is_redirect and value:
        return value
    said = value.get("error_description") or value.get("error") or value.get("errors")
    reason = f": {said}" if said else ""
    raise PullFailed(f"{_WHAT} answered {answer.status_code} {answer.reason}{reason}")


def _messages(errors: Any) -> str:
    if not isinstance(errors, list):
        return str(errors)
    return "; ".join(str(error.get("message", error)) for error in errors)
