"""`make screenshots`: the README's pictures of the overview, taken from the demo.

They lie in web/dashboard/screenshots/: a desktop in light colours, a telephone in dark ones.
"""

import re
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.support import demo_service
from tests.system.browser.conftest import ARGUMENTS, chromium_path

FOLDER = Path(__file__).parents[3] / "web/dashboard/screenshots"
LOOKS = (
    ("overview.png", "light", {"width": 1280, "height": 860}),
    ("overview-phone.png", "dark", {"width": 390, "height": 860}),
)


def take(browser: Browser, demo: demo_service.Demo) -> None:
    said = dict(re.findall(r"^  (e-mail|password) +(\S+)$", demo.output, re.MULTILINE))
    for name, scheme, size in LOOKS:
        context = browser.new_context(color_scheme=scheme, viewport=size, locale="en-US")  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{demo.port}/")
        page.get_by_label("E-mail address").fill(said["e-mail"])
        page.get_by_label("Password").fill(said["password"])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Net revenue by day").wait_for()
        page.screenshot(path=FOLDER / name)
        context.close()
        print(f"wrote {FOLDER / name}")


if __name__ == "__main__":
    path = chromium_path()
    assert path, "install Chromium, or name it in CHROMIUM"
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        demo_service.running(f"sqlite:///{folder}/demo.db", days=60) as demo,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        take(chromium, demo)
        chromium.close()
