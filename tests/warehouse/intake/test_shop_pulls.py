"""Credentials are kept so that only their key reads them."""

import base64

import pytest

from warehouse import settings
from warehouse.intake.shop_pulls import decrypted, encrypted
from warehouse.setting_values import SettingError

migrated = False

CREDENTIALS = {"client_secret": "very secret", "nested": {"token": "ä"}}
# As `openssl rand -base64 32` prints it, with both letters that addresses write differently.
KEY = base64.b64encode(b"\xfb\xff" * 16).decode()


def test_they_come_back_by_their_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"+", "/"} <= {*KEY}
    monkeypatch.setenv("CREDENTIALS_KEY", KEY)
    kept = encrypted(CREDENTIALS)
    assert "secret" not in kept
    assert kept != encrypted(CREDENTIALS)
    monkeypatch.setenv("CREDENTIALS_KEY", KEY.translate(str.maketrans("+/", "-_")))
    assert decrypted(kept) == CREDENTIALS
    monkeypatch.setenv("CREDENTIALS_KEY", base64.b64encode(bytes(32)).decode())
    with pytest.raises(SettingError, match="is not the key under which the credentials are kept"):
        decrypted(kept)
    monkeypatch.delenv("CREDENTIALS_KEY")
    with pytest.raises(SettingError, match="CREDENTIALS_KEY is not set"):
        decrypted(kept)
    with pytest.raises(SettingError, match="so credentials cannot be kept: set it"):
        encrypted(CREDENTIALS)


@pytest.mark.parametrize(
    "text", ["short", "x" * 44, base64.b64encode(bytes(31)).decode(), "ä" * 44]
)
def test_any_other_text_is_no_key(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENTIALS_KEY", text)
    with pytest.raises(SettingError) as refused:
        settings.CREDENTIALS_KEY.get()
    assert str(refused.value) == (
        "CREDENTIALS_KEY: must be 32 random bytes in base64, "
        "as in CREDENTIALS_KEY=$(openssl rand -base64 32)"
    )
