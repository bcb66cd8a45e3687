"""A real browser, without a window: opens a page as a reader would see it, and says what is wrong with it."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
SCHEMES = ("light", "dark")

LOADED = "return document.readyState === 'complete' && document.URL === arguments[0]"
# What does not fit: the page itself, parts that do not scroll by themselves, and text outside of its figure.
OVERFLOWS = """
const wide = [];
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > width) wide.push(`page: ${document.documentElement.scrollWidth} > ${width}`);
const scrolls = (element) => element.closest('.scroll') !== null;
for (const element of document.querySelectorAll('body *:not(svg *)')) {
  const box = element.getBoundingClientRect();
  if (!scrolls(element) && (box.right > width + 1 || box.left < -1))
    wide.push(`${element.tagName} ${element.className}: ${box.left} to ${box.right}`);
}
for (const svg of document.querySelectorAll('figure svg')) {
  const frame = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll('text')) {
    const box = text.getBoundingClientRect();
    const across = Math.max(frame.left - box.left, box.right - frame.right);
    const outside = Math.max(across, frame.top - box.top, box.bottom - frame.bottom);
    if (outside > 1) wide.push(`text ${text.textContent}: ${outside} pixels outside of its figure`);
  }
}
return wide;
"""
FIGURES = """
const shown = (svg) => svg.getBoundingClientRect().width > 0;  // of a figure that is drawn twice, one is not
return Array.from(document.querySelectorAll('figure svg')).filter(shown).map((svg) => {
  const box = svg.getBoundingClientRect();
  const shapes = Array.from(svg.querySelectorAll('path, use, text'));
  const drawn = shapes.filter((s) => { const b = s.getBoundingClientRect(); return b.width + b.height > 0; });
  return [svg.getAttribute('aria-label'), box.width, box.height, drawn.length];
});
"""
SMALLEST_TEXT = """
const texts = Array.from(document.querySelectorAll('figure svg text'));
return Math.min(...texts.map((text) => text.getBoundingClientRect().height).filter((height) => height > 0));
"""


def missing() -> str:
    """Why there is no browser here, or nothing."""
    try:
        import selenium  # noqa: F401
    except ModuleNotFoundError:
        return "Selenium is not installed"
    needed = {"chromium": "Chromium", "chromedriver": "its driver"}
    absent = [name for command, name in needed.items() if shutil.which(command) is None]
    return f"not on the path: {', '.join(absent)}" if absent else ""


class Browser:
    """Chromium at some width, in light or dark."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, size: str, scheme: str) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        width, height = SIZES[size]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        address = path.resolve().as_uri()
        self.driver.get(address)
        # On a loaded machine `get` has come back with half of the page parsed.
        WebDriverWait(self.driver, timeout=60).until(lambda _: self.ask(LOADED, address))

    def ask(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def requests(self) -> list[str]:
        """Addresses that the page wanted, besides itself."""
        return list(self.ask("return performance.getEntriesByType('resource').map((entry) => entry.name)"))

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def photograph(self, path: Path) -> None:
        """The whole page, from top to bottom."""
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browser() -> Iterator[Browser]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
