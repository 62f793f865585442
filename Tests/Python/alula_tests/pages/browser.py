"""A headless Chromium, driven by WebDriver and, for what that does not know, by the DevTools protocol."""
import base64
import json
import os
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.by import By

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"


class Browser(webdriver.Chrome):
    def __init__(self):
        options = Options()
        options.binary_location = CHROMIUM
        options.add_argument("--headless=new")
        options.add_argument("--disable-gpu")
        # A container's /dev/shm may be too small.
        options.add_argument("--disable-dev-shm-usage")
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        super().__init__(options=options, service=Driver(DRIVER))
        self.resize(1280, 900)
        self.colors("light")

    def resize(self, width, height=900):
        self.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def colors(self, scheme):
        """Has the page drawn for users of light or dark colors; nothing moves, so that all is measured at its end."""
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def id(self, name):
        return self.find_element(By.ID, name)

    def css(self, selector):
        return self.find_element(By.CSS_SELECTOR, selector)

    def text(self, name):
        return self.execute_script("return document.getElementById(arguments[0]).textContent", name)

    def wait(self, what, condition, seconds=60):
        """Waits until a condition is not false, and returns its value."""
        end = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds} s for {what}; the page says: {self.css('body').text[:600]!r}")
            time.sleep(0.02)

    def put(self, name, value):
        """Types into a field what is to stand there, and leaves it."""
        field = self.id(name)
        field.clear()
        field.send_keys(value)
        self.execute_script("arguments[0].blur()", field)

    def drop(self, *, path=None, address=None, x=200, y=200):
        """Drops a file, or a link, on the page."""
        items = [{"mimeType": "text/uri-list", "data": address}] if address else []
        data = {"items": items, "files": [str(path)] if path else [], "dragOperationsMask": 1}
        for kind in ["dragEnter", "dragOver", "drop"]:
            self.execute_cdp_cmd("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})

    def swipe(self, start, end, y):
        """A finger's way across the page."""
        steps = 8
        for index in range(steps + 1):
            x = start + (end - start) * index / steps
            kind = "touchStart" if index == 0 else "touchMove"
            self.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        self.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def complaints(self, *expected):
        """What stands in the console since the last call, less lines with one of these texts."""
        lines = [line["message"] for line in self.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
        return [line for line in lines if not any(text in line for text in expected)]

    def requests(self):
        """All that was sent since the last call: dictionaries of the DevTools protocol."""
        messages = [json.loads(line["message"])["message"] for line in self.get_log("performance")]
        return [
            message["params"] for message in messages
            if message["method"] in ("Network.requestWillBeSent", "Network.requestWillBeSentExtraInfo")]

    def picture(self, path):
        """Keeps the whole page as a PNG file."""
        width, height = self.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
        shot = self.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
        path.write_bytes(base64.b64decode(shot["data"]))
