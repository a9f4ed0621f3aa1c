"""E-mail addresses in texts of strangers: every spelling is hashed, and no text takes long."""

import json
from hashlib import sha256

import pytest

from jobs.importing.kinds import KINDS
from jobs.importing.reject_text import kept_text
from jobs.importing.values.numbers import exact
from tests.support.hashing import HASHER, marked
from tests.support.import_files import event
from tests.support.warehouse import Warehouse
from warehouse.domain.addresses import masked
from warehouse.domain.devices import device_of
from warehouse.domain.email_hash import hashed_email

ADA = sha256(b"ada@mail.example").hexdigest()


@pytest.mark.parametrize(
    "written",
    [
        "ada@mail.example",
        "Ada@Mail.EXAMPLE",
        "ada＠mail.example",
        "ａｄａ＠ｍａｉｌ．ｅｘａｍｐｌｅ",
        "ada﹫mail.example",
        "ada&#64;mail.example",
        "ada&#0064;mail.example",
        "ada&#x40;mail.example",
        "ada&commat;mail.example",
        "ada&amp;#64;mail.example",
        "ada%40mail.example",
        "ada%2540mail.example",
        r"ada\u0040mail.example",
        r"\u0061da@mail.example",
        r"ada\x40mail.example",
    ],
)
def test_every_spelling_has_the_hash_of_the_address(written: str) -> None:
    for around in ("{}", "<{}>", "'{}'", "mailto:{}?x=1", "a, {}; b", "e={}&f=1", "{}."):
        assert masked(around.format(written), hashed_email) == around.format(ADA)


@pytest.mark.parametrize(
    "written",
    [
        "o'brien@mail.example",
        "ada@localhost",
        '"ada love"@mail.example',
        "ada(work)@mail.example",
        "ada@[127.0.0.1]",
        "ada@127.0.0.1",
        "ada+shop@mail.example",
        "{ada}@mail.example",
        "çem@mäil.example",
    ],
)
def test_odd_addresses_leave_nothing(written: str) -> None:
    hashed = sha256(written.encode()).hexdigest()
    assert masked(f"x {written} y", hashed_email) == f"x {hashed} y"


@pytest.mark.parametrize(
    "text", ["a@b", "5 @ home", "@ada", "ada@", "s@1", "@", "ada@.", "100%", ""]
)
def test_what_is_no_address_stays(text: str) -> None:
    assert masked(text, hashed_email) == text


def test_an_address_on_the_edge_of_a_cut_is_hashed_whole() -> None:
    text = "x " + "ada@mail.example y " * 3
    for most in range(len(text)):
        assert (
            "ada" not in masked(text, hashed_email, most).replace("ada@"[: max(most - 2, 0)], "")
            or most < 6
        )
        assert not masked(text, hashed_email, most).endswith(("ada@", "ada@m"))


def test_an_address_as_an_id_in_a_reject_can_still_be_told_from_others(
    sqlite_warehouse: Warehouse,
) -> None:
    rows = [event(event_id=str(n), visitor_id="ada＠mail.example", type="x") for n in range(2)]
    sqlite_warehouse.take("events", rows)
    kept = sqlite_warehouse.records("SELECT text FROM reject")
    assert [json.loads(row["text"])["visitor_id"] for row in kept] == [
        marked("ada@mail.example")
    ] * 2


# Quadratic time would be so many minutes for each that pytest ends the test.
SIZE = 200_000
NASTY = {
    "almost addresses": "a" * 254 + "@" + "." * 317,
    "letters": "a",
    "at signs": "@",
    "short addresses": "aa@aa",
    "dots": "a@.",
    "backslashes": "\\",
    "escaped quotes": '\\"',
    "escaped letters": "\\u0061",
    "quotes and addresses": '"@aa',
    "quotes": '"',
    "ampersands": "&amp;",
    "percents": "%25",
    "zeros": "&#0",
    "names": '"event_id":',
    "e-mails": '"email":',
    "open e-mails": '"email":"',
    "spaces": '"email" ',
    "digits": "1",
    "silk": "Silk",
    "android": "Android",
}


@pytest.mark.parametrize("piece", NASTY.values(), ids=NASTY)
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * SIZE)[:SIZE]
    for first in ("", '"', "&", "%", '{"event_id": "'):
        kept_text(first + text, KINDS["events"], HASHER)
    kept_text(json.dumps({"event_id": text}), KINDS["events"], HASHER)
    device_of(None, None, text)
    with pytest.raises(ValueError):
        exact(text + "x")
