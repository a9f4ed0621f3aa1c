"""The type of a device, from user agents as browsers send them and from what apps state."""

from typing import Any

import pytest

from warehouse.domain.devices import device_of

CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15"


@pytest.mark.parametrize(
    ("kind", "model", "agent", "found"),
    [
        ("", "", f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Safari/537.36", "desktop"),
        ("", "", f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {CHROME} Safari/537.36", "desktop"),
        ("", "", f"{IPHONE} (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari", "mobile"),
        ("", "", f"{IPHONE} Mobile/15E148 Instagram 400.0.0.30.82 (iPhone14,5)", "mobile"),
        ("", "", f"Mozilla/5.0 (Linux; Android 10; K) {CHROME} Mobile Safari/537.36", "mobile"),
        ("", "", f"Mozilla/5.0 (Linux; Android 9; CUBOT X19) {CHROME} Mobile Safari", "mobile"),
        ("", "", f"Mozilla/5.0 (Linux; Android 10; K) {CHROME} Safari/537.36", "tablet"),
        ("", "", "Mozilla/5.0 (Android 14; Tablet; rv:143.0) Gecko/143.0 Firefox", "tablet"),
        ("", "", "Mozilla/5.0 (Android 14; Mobile; rv:143.0) Gecko/143.0 Firefox", "mobile"),
        ("", "", "Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) Mobile/15E148", "tablet"),
        ("", "", f"Mozilla/5.0 (Linux; Android 9; KFMAWI) {CHROME} Silk/120.1 Safari", "tablet"),
        ("", "", f"Mozilla/5.0 (Linux; Android 12; BRAVIA 4K) {CHROME} Safari/537.36", "other"),
        ("", "", "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) Version/6.0 TV Safari/538.1", "other"),
        ("", "", f"Mozilla/5.0 (Linux; Android 6) {CHROME} Mobile (Googlebot/2.1)", "other"),
        ("", "", "curl/8.5.0", "other"),
        ("", "", "", ""),
        (None, None, None, ""),
        ("iOS", "iPhone15,4", "App/1 CFNetwork", "mobile"),
        ("ios", "iPad13,1", "", "tablet"),
        ("android", "SM-S911B", "", "mobile"),
        ("Tablet", "", IPHONE, "tablet"),
        ("web", "", f"{IPHONE} Mobile", "mobile"),
    ],
)
def test_devices(kind: Any, model: Any, agent: Any, found: str) -> None:
    assert device_of(kind, model, agent) == found
