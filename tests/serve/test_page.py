"""The page at `/`: it asks nobody else, and in a real browser it lives."""

from __future__ import annotations

import re

import pytest

import browser
from ocoboost import OnlineBoostClassifier
from ocoboost.report import palette
from ocoboost.serve.feeding import Client
from ocoboost.serve.page import page, page_headers
from ocoboost.serve.tokens import Token, Tokens
from services import begin, listening, running, stream, trees, wait_until

LIVE = "return document.querySelector('#state.live') !== null"
LEARNED = "return document.querySelectorAll('#scores dd')[4]?.textContent"
SECRET = "a" * 20


def wait_for(condition):
    wait_until(condition, seconds=60)


def test_the_page_asks_for_nothing_from_elsewhere():
    html = page()
    assert not re.search(r'(src|href)="(?!#|data:)', html)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", html)
    assert "@import" not in html
    assert all(colour in html for colour in (*palette.LIGHT.values(), *palette.DARK.values()))
    assert " style=" not in html  # the policy forbids it
    assert "innerHTML" not in html  # labels are text
    assert page_headers()["Content-Security-Policy"].count("sha256-") == 2


def test_events_are_the_status_of_every_second(tmp_path):
    with running(begin(tmp_path)) as client:
        front = client.service
        front.limits = front.limits.__class__(watchers=0)
        assert client.get("/events").status_code == 503


def learn(address, rows, prefix, token=None):
    client = Client(address, token)
    batch = [{"id": f"{prefix} {n}", "features": row} for n, (row, _) in enumerate(rows)]
    client.post("/predict", {"rows": batch})
    told = [{"id": f"{prefix} {n}", "label": label} for n, (_, label) in enumerate(rows)]
    client.post("/learn", {"rows": told})
    client.close()


@pytest.fixture(scope="module")
def window():
    if reason := browser.missing():
        pytest.skip(reason)
    with browser.browser() as opened:
        yield opened


def look(window, address, size, scheme):
    width, height = browser.SIZES[size]
    driver = window.driver
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get("about:blank")
    window.errors()  # of a page whose service has ended
    driver.get(address)


@pytest.mark.slow
def test_the_page_lives(tmp_path, window):
    model = OnlineBoostClassifier(budget=30, seed=1)
    with listening(begin(tmp_path, boost=model, small=trees())) as address:
        rows = stream(80)
        learn(address, rows[:40], "first")
        look(window, address, "desktop", "light")
        wait_for(lambda: window.ask(LIVE) and window.ask(LEARNED) == "40")
        learn(address, rows[40:], "second")
        wait_for(lambda: window.ask(LEARNED) == "80")  # nobody has reloaded it
        assert window.ask("return document.querySelectorAll('#curve path.line').length") == 1
        assert window.ask("return document.querySelectorAll('#confusion tbody tr').length") == 3
        assert window.ask("return document.querySelectorAll('.groups span').length") > 3
        for size in browser.SIZES:
            for scheme in browser.SCHEMES:
                look(window, address, size, scheme)
                wait_for(lambda: window.ask(LIVE) and window.ask(LEARNED) == "80")
                assert window.ask(browser.OVERFLOWS) == []
                expected = (palette.LIGHT if scheme == "light" else palette.DARK)["paper"]
                shown = window.ask("return getComputedStyle(document.documentElement).getPropertyValue('--paper')")
                assert shown.strip() == expected
        assert {one.removeprefix(address) for one in window.requests()} <= {"/events"}
        promote_by_keyboard(window)
        wait_for(lambda: window.ask("return document.getElementById('title').textContent") == "small")
        assert window.errors() == []


def promote_by_keyboard(window):
    """Tab to the button, Enter, Tab to OK, Enter."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    for _ in range(20):
        ActionChains(window.driver).send_keys(Keys.TAB).perform()
        if window.ask("return document.activeElement.dataset.model") == "small":
            break
    ActionChains(window.driver).send_keys(Keys.ENTER).perform()
    wait_for(lambda: window.ask("return document.getElementById('ask').open"))
    ActionChains(window.driver).send_keys(Keys.TAB, Keys.ENTER).perform()


def test_the_page_asks_for_a_token_and_sends_it(tmp_path, window):
    tokens = Tokens([Token(SECRET.encode(), frozenset({"admin"}))])
    with listening(begin(tmp_path), tokens=tokens) as address:
        learn(address, stream(20), "row", SECRET)
        look(window, address, "phone", "dark")
        wait_for(lambda: window.ask("return document.getElementById('ask').open"))
        window.driver.find_element("id", "ask-input").send_keys(SECRET, "\n")
        wait_for(lambda: window.ask(LEARNED) == "20")
        refused = [message for message in window.errors() if "401" not in message]
        assert refused == []


def test_labels_are_text_on_the_page(tmp_path, window):
    with listening(begin(tmp_path)) as address:
        evil = "<img src=x onerror=document.title='broken'>"
        learn(address, [({"v": n}, evil if n % 2 else "fine") for n in range(20)], "<b>row</b>")
        look(window, address, "desktop", "dark")
        wait_for(lambda: window.ask(LEARNED) == "20")
        assert window.ask("return document.images.length") == 0
        assert evil in window.ask("return document.getElementById('confusion').textContent")
        assert window.errors() == []
