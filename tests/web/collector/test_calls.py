"""The parts of a call that a line keeps: known fields; no address, no user agent, no free answer."""

import json
from hashlib import sha256
from typing import Any

import pytest

from tests.support.shop_builder import instant
from web.collector import calls
from web.collector.calls import ReducedCalls, read_batch, reduce_calls
from web.collector.known_keys import KnownKey

NOW = instant("2026-03-31T12:00:00")
OF_SERVERS = KnownKey("a.example", 1, frozenset())
OF_PAGES = KnownKey("a.example", 1, frozenset(["https://shop.example"]))
ADA = sha256(b"ada@mail.example").hexdigest()
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148"
DESKTOP = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36"
)
GOOGLE = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


def call(properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    view = {"event": "Form Viewed", "messageId": "m1", "anonymousId": "v1", "type": "track"}
    return {**view, "properties": {"form_session_id": "s"} | (properties or {}), **more}


def reduced(
    *calls: dict[str, Any], agent: str = "", key: KnownKey = OF_SERVERS, **batch: Any
) -> ReducedCalls:
    body = json.dumps({"batch": calls, **batch}).encode()
    return reduce_calls(read_batch(body), key, agent, NOW)


def line(properties: dict[str, Any] | None = None, agent: str = "", **more: Any) -> dict[str, Any]:
    lines = reduced(call(properties, **more), agent=agent).lines
    found: dict[str, Any] = json.loads(lines)
    return found


def test_known_fields_alone_are_kept() -> None:
    properties = {"formId": "f", "form_session_id": "s", "step_index": 0, "secret": "x"}
    context = {
        "ip": "203.0.113.7",
        "page": {"url": "https://shop.example/?email=ada@mail.example"},
        "campaign": {"source": "meta", "name": "spring", "other": "x"},
        "userAgent": PHONE,
    }
    assert line(properties, context=context, integrations={"All": True}) == {
        "shop_id": "a.example",
        "source": "segment",
        "event_id": "m1",
        "type": "view",
        "visitor_id": "v1",
        "occurred_at": "2026-03-31T12:00:00+00:00",
        "form_id": "f",
        "form_session_id": "s",
        "step_index": 0,
        "utm_source": "meta",
        "utm_campaign": "spring",
        "device_type": "mobile",
    }


@pytest.mark.parametrize(
    "more",
    [
        {"properties": {"email": " Ada@Mail.example"}},
        {"properties": {"email_sha256": ADA}},
        {"properties": {"emailSha256": ADA}},
        {"properties": {"email": None, "email_sha256": ADA}, "userId": "ada@other.example"},
        {"properties": {"email": "ada@mail.example", "email_sha256": "0" * 64}},
        {"context": {"traits": {"email": "ada@mail.example"}}},
        {"userId": "ada@mail.example"},
        {"userId": "ada@mail.example", "anonymousId": None},
    ],
)
def test_an_address_becomes_its_hash(more: dict[str, Any]) -> None:
    properties = {"form_session_id": "s"} | more.get("properties", {})
    lines = reduced({**call(), **more, "properties": properties}).lines
    assert json.loads(lines)["email_sha256"] == ADA
    assert json.loads(lines)["visitor_id"] in ("v1", f"sha256:{ADA}")
    assert b"mail.example" not in lines
    assert b"customer_id" not in lines


def test_addresses_in_any_other_place_are_hashed() -> None:
    names = ("form_id", "form_name", "form_session_id", "step_name", "variant", "discount_code")
    address = "ada@mail.example"
    told = reduced(
        call(
            dict.fromkeys(names, f"of {address}")
            | {"field_type": "multi_choice", "value": [address, {"a": address}]},
            messageId=address,
            anonymousId=address,
            event="Form Question Answered",
            context={"campaign": {"term": "ada%40mail.example"}, "device": {"type": address}},
            timestamp=address,
        )
    )
    assert b"mail.example" not in told.lines
    (line,) = told.lines.splitlines()
    row = json.loads(line)
    assert row["variant"] == f"of sha256:{ADA}", "equal ones stay equal"
    assert (row["form_name"], row["step_name"]) == ("of ***", "of ***")


def test_a_hash_that_is_none_is_left_to_the_import() -> None:
    (line,) = reduced(call({"email_sha256": "ada@mail.example"})).lines.splitlines()
    assert json.loads(line)["email_sha256"] == "***"


@pytest.mark.parametrize(
    ("field_type", "value", "kept"),
    [
        ("choice", "dry", "dry"),
        ("multi_choice", ["a", "b"], ["a", "b"]),
        ("scale", 7, 7),
        ("boolean", False, False),
        ("text", "my secret", True),
        ("email", "ada@mail.example", True),
        ("Choice", "not the word", True),
        (None, "untyped", True),
        ("text", "", None),
        ("text", [], None),
    ],
)
def test_answers(field_type: str | None, value: Any, kept: Any) -> None:
    properties = {"field_id": "q", "field_type": field_type, "value": value}
    told = line(properties, event="Form Question Answered")
    assert told.get("value") == kept


def test_numbers_keep_their_digits() -> None:
    body = json.dumps({"batch": [call({"value": 0, "field_type": "scale"})]}).encode()
    posted = read_batch(body.replace(b'"value": 0', b'"value": 1.10'))
    assert b'"value":1.10' in reduce_calls(posted, OF_SERVERS, "", NOW).lines


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        ({"timestamp": "2026-03-01T10:00:00.123Z"}, "2026-03-01T10:00:00.123000+00:00"),
        ({"originalTimestamp": "2026-03-01T10:00:00"}, "2026-03-01T10:00:00+00:00"),
        # The client's clock is right, give or take a minute.
        (
            {"timestamp": "2026-03-31T11:59:00Z", "sentAt": "2026-03-31T12:01:00Z"},
            "2026-03-31T11:59:00+00:00",
        ),
        # It is two hours ahead, and a year behind.
        (
            {"timestamp": "2026-03-31T13:59:50Z", "sentAt": "2026-03-31T14:00:00Z"},
            "2026-03-31T11:59:50+00:00",
        ),
        (
            {"timestamp": "2025-03-31T11:00:00+01:00", "sentAt": "2025-03-31T12:00:00Z"},
            "2026-03-31T10:00:00+00:00",
        ),
        ({}, "2026-03-31T12:00:00+00:00"),
        ({"timestamp": "yesterday"}, "2026-03-31T12:00:00+00:00"),
        ({"timestamp": 1774958400, "sentAt": {}}, "2026-03-31T12:00:00+00:00"),
        (
            {"timestamp": "9999-12-31T00:00:00Z", "sentAt": "0001-01-01T00:00:00Z"},
            "2026-03-31T12:00:00+00:00",
        ),
    ],
)
def test_times(times: dict[str, Any], kept: str) -> None:
    assert line(**times)["occurred_at"] == kept
    # In a batch, the whole has the time of sending.
    sent = times.pop("sentAt", None)
    assert json.loads(reduced(call(**times), sentAt=sent).lines)["occurred_at"] == kept


@pytest.mark.parametrize(
    ("stated", "on_pages"),
    [
        ("2026-03-24T13:00:00Z", "2026-03-24T13:00:00+00:00"),
        ("2026-03-24T11:00:00Z", "2026-03-31T12:00:00+00:00"),
        ("2000-01-02T10:00:00Z", "2026-03-31T12:00:00+00:00"),
        ("2026-04-08T10:00:00Z", "2026-03-31T12:00:00+00:00"),
    ],
)
def test_strangers_with_the_key_of_a_page_write_no_history(stated: str, on_pages: str) -> None:
    told = [reduced(call(timestamp=stated), key=key) for key in (OF_PAGES, OF_SERVERS)]
    times = [json.loads(one.lines)["occurred_at"] for one in told]
    assert times == [on_pages, stated.replace("Z", "+00:00")]


@pytest.mark.parametrize(
    ("context", "agent", "device"),
    [
        ({"userAgent": PHONE}, DESKTOP, "mobile"),
        ({}, DESKTOP, "desktop"),
        ({"device": {"type": "ios", "model": "iPad13,1"}}, "", "tablet"),
        ({"userAgent": 7}, "", None),
        ({}, "", None),
    ],
)
def test_devices(context: dict[str, Any], agent: str, device: str | None) -> None:
    told = line(context=context, agent=agent)
    assert told.get("device_type") == device
    assert "Mozilla" not in json.dumps(told)


def test_crawlers_are_counted_and_dropped() -> None:
    of_crawler = call(context={"userAgent": GOOGLE})
    told = reduced(call(), of_crawler, call(event="Other"), {"type": "page"})
    assert dict(told.outcomes) == {"taken": 1, "crawler": 1, "other": 2}
    assert told.lines.count(b"\n") == 1
    assert dict(reduced(call(), agent=GOOGLE).outcomes) == {"crawler": 1}
    assert dict(reduced(call(), agent="x" * 30_000).outcomes) == {"taken": 1}


def test_the_context_of_a_batch_counts_for_its_calls() -> None:
    told = reduced(
        call(),
        call(context={"campaign": {"source": "own"}}),
        context={"campaign": {"source": "all"}},
    )
    sources = [json.loads(text)["utm_source"] for text in told.lines.splitlines()]
    assert sources == ["all", "own"]


@pytest.mark.parametrize("id", [None, "", "undefined", "[object Object]"])
def test_a_call_without_an_id_gets_one(id: str | None) -> None:
    told = [json.loads(text) for text in reduced(*[call(messageId=id)] * 2).lines.splitlines()]
    assert len({text["event_id"] for text in told} - {id}) == 2


@pytest.mark.parametrize("nothing", [None, "", "undefined", "NULL", "nan", "[object Object]", {}])
def test_calls_of_no_visitor_or_session_are_counted_and_dropped(nothing: Any) -> None:
    told = reduced(
        call(),
        call(anonymousId=nothing),
        call(anonymousId=nothing, userId=nothing),
        call({"form_session_id": nothing}),
    )
    assert dict(told.outcomes) == {"taken": 1, "no_id": 3}
    assert told.lines.count(b"\n") == 1
    # The user is a visitor, too.
    assert line(anonymousId=nothing, userId="u1")["visitor_id"] == "u1"


def test_few_new_user_agents_of_a_request_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    monkeypatch.setattr(calls, "is_crawler", looked_at.append)
    agents = [f"few {number} {'x' * 1_000}" for number in range(30)]
    sent = [call(context={"userAgent": agent}) for agent in agents]
    assert dict(reduced(*sent, *sent).outcomes) == {"taken": 60}
    assert looked_at == [agent[:256] for agent in agents[:20]]
    reduced(*sent)
    assert looked_at[20:] == [agent[:256] for agent in agents[20:]]


@pytest.mark.parametrize("odd", [None, 1, "text", [], [{}], {"a": {"b": []}}])
def test_members_of_unexpected_types(odd: Any) -> None:
    names = ("properties", "context", "anonymousId", "userId", "sentAt", "timestamp", "messageId")
    assert reduced({**call(), **dict.fromkeys(names, odd)}).outcomes.total() == 1
    told = line(**dict.fromkeys(set(names) - {"properties", "anonymousId"}, odd))
    assert told["type"] == "view"
    inner = dict.fromkeys(("campaign", "traits", "device", "userAgent"), odd)
    reduced(call(dict.fromkeys(("email", "value", "field_type", "form_id"), odd), context=inner))


def test_an_answer_with_too_many_choices_is_passed_on_in_part() -> None:
    """As much as shows the import that they are too many; whatever has as many is passed on as it is."""

    def value(choices: list[Any]) -> Any:
        properties = {"field_id": "q", "field_type": "multi_choice", "value": choices}
        return line(properties, event="Form Question Answered")["value"]

    assert value([*range(100)] * 4) == [*range(100)] * 4
    many = value([*map(str, range(3000))])
    assert many == [*map(str, range(calls._PASSED_CHOICES))]
    # A number, a text and a boolean are three choices, of which two are one text.
    assert value([1, "1", True] * 200) == [1, "1", True]


def test_a_row_says_that_the_key_names_its_page() -> None:
    body = json.dumps({"batch": [call({"form_id": "f"}, context={"page": {"path": "/a/ada/b"}})]})
    for own, said in ((True, {"on_own_page": True}), (False, {})):
        found = reduce_calls(read_batch(body.encode()), OF_PAGES, "", NOW, on_own_page=own)
        row = json.loads(found.lines)
        assert {name: row[name] for name in row.keys() & {"on_own_page"}} == said
        (sighting,) = found.sightings.values()
        assert (sighting.path, sighting.on_own_page) == ("/a", own)


def test_what_the_line_cannot_count_is_a_sighting() -> None:
    def finding(kind: str, what: str, path: str) -> dict[str, Any]:
        properties = {"finding": kind, "what": what}
        return {
            "event": "Line Finding",
            "properties": properties,
            "context": {"page": {"path": path}},
        }

    found = reduced(
        finding("foreign_frame", "forms.example", "/?email=ada@mail.example"),
        finding("foreign_frame", "popup.example", "/ada@mail.example"),
        finding("no_key", "", "/bare"),
        finding("made-up", "x", "/"),
        {"event": "Line Finding", "properties": {"finding": ["no_key"]}},
    )
    assert found.lines == b""
    assert {kind: seen[:2] for kind, seen in found.sightings.items()} == {
        "finding:foreign_frame": ("popup.example", "/***"),
        "finding:no_key": ("", "/bare"),
    }
