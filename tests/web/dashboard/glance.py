"""`python -m tests.web.dashboard.glance`: how much the demo's pages show without opening anything.

Visible words, numbers and heights of each page at 1,280 and at 390 pixels, beside what they may have at
most. It fails where a page has more. On a telephone, it measures where the first figure and the first chart
begin.
"""

import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Final

from playwright.sync_api import Page, sync_playwright

from tests.support import demo_service
from tests.system.browser.conftest import ARGUMENTS, chromium_path
from tests.system.browser.screenshots import Demo, open_page

# Words, numbers, and the height in pixels at 1,280; half of the height that the page once had at 390.
MOST: Final = {
    "/": (200, 110, 1_700, 2_312),
    "/forms": (170, 90, 1_300, 1_618),
    "one form": (380, 230, 4_200, 4_937),
    "/revenue": (220, 130, 2_200, 2_932),
    "/ads": (220, 130, 2_000, 2_733),
    "/customers": (260, 180, 2_400, 3_414),
}
# The first figure and the first chart of the overview, in pixels from its top, at 390.
FIRST_FIGURE: Final = 330
FIRST_CHART: Final = 1_000
# Texts that are drawn in the main part: those of closed menus and of choices are not, nor what is there for
# screen readers alone.
_VISIBLE: Final = r"""() => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node; (node = walker.nextNode());) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest(".unseen, option, script, style, title")) continue;
    const range = document.createRange();
    range.selectNode(node);
    const box = range.getBoundingClientRect();
    if (!parent.checkVisibility({ visibilityProperty: true })) continue;
    if (box.width > 1 && box.height > 1) texts.push(node.data);
  }
  const text = texts.join(" ");
  const top = (selector) => document.querySelector(selector)?.getBoundingClientRect().top ?? null;
  return {
    words: (text.match(/\p{L}[\p{L}\p{N}’'-]*/gu) || []).length,
    numbers: (text.match(/\d[\d.,]*/g) || []).length,
    height: document.documentElement.scrollHeight,
    figure: top(".figure"),
    chart: top(".day-chart"),
  };
}"""


@dataclass(frozen=True)
class Glance:
    words: int
    numbers: int
    height: int
    figure: float | None
    chart: float | None


def glance_at(page: Page) -> Glance:
    """Measure the page in the browser's window."""
    found: dict[str, Any] = page.evaluate(_VISIBLE)
    return Glance(**found)


def measure(demo: Demo) -> list[str]:
    """Print the table; return what is more than it may be."""
    form = next(each for each in demo.addresses() if each.startswith("/forms/"))
    too_much = []
    print(f"{'page':<12}{'words':>12}{'numbers':>12}{'1,280 px':>14}{'390 px':>14}")
    for name, most in MOST.items():
        path = form if name == "one form" else name
        found = []
        for width in (1280, 390):
            context = demo.context("light", width)
            found.append(glance_at(open_page(context, f"{demo.home}{path.removeprefix('/')}")))
            context.close()
        wide, narrow = found
        counts = wide.words, wide.numbers, wide.height, narrow.height
        print(f"{name:<12}" + "".join(f"{n:>6} /{m:>5}" for n, m in zip(counts, most, strict=True)))
        too_much += [f"{name}: {n} > {m}" for n, m in zip(counts, most, strict=True) if n > m]
        if name == "/":
            print(
                f"  at 390 px: the first figure at {narrow.figure}, the first chart at {narrow.chart}"
            )
            for place, end in ((narrow.figure, FIRST_FIGURE), (narrow.chart, FIRST_CHART)):
                if place is None or place > end:
                    too_much.append(f"{name}: {place} > {end}")
    return too_much


def main() -> None:
    path = chromium_path()
    assert path, "install Chromium, or name it in CHROMIUM"
    with (
        tempfile.TemporaryDirectory() as folder,
        demo_service.running(f"sqlite:///{folder}/demo.db", days=120) as service,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        too_much = measure(Demo(chromium, service.link, "en-US"))
        chromium.close()
    sys.exit("\n".join(too_much) or None)


if __name__ == "__main__":
    main()
