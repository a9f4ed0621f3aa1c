"""Credentials of other systems, kept encrypted: pages and commands write them, pulls read them."""

import json
from collections.abc import Mapping

from cryptography.fernet import Fernet, InvalidToken

from warehouse.setting_values import SettingError
from warehouse.settings import CREDENTIALS_KEY


def encrypted(credentials: Mapping[str, object]) -> str:
    """Credentials as a text that only CREDENTIALS_KEY reads. Raises SettingError without the key."""
    key = CREDENTIALS_KEY.get()
    if not key:
        raise SettingError(
            "CREDENTIALS_KEY is not set, so credentials cannot be kept: set it (`openssl rand -base64 32` "
            "makes one; so does `start`), or give the credentials in the environment"
        )
    return Fernet(key).encrypt(json.dumps(credentials).encode()).decode()


def decrypted(text: str) -> dict[str, object]:
    """Credentials that `encrypted` has returned. Raises SettingError without their key."""
    key = CREDENTIALS_KEY.get()
    if not key:
        raise SettingError("CREDENTIALS_KEY is not set, and the credentials are kept under it")
    try:
        credentials: dict[str, object] = json.loads(Fernet(key).decrypt(text))
    except InvalidToken:
        raise SettingError(
            "CREDENTIALS_KEY is not the key under which the credentials are kept: set that one, or enter "
            "the credentials again"
        ) from None
    return credentials
