"""Clicks through both pages of the running service in a headless Chromium."""
import argparse
import pathlib
import sys
import tempfile
import time
import traceback

from selenium.webdriver.common.by import By

from alula_tests.images import gradient_png, noisy_png
from alula_tests.origins import serving
from alula_tests.pages.book import Book
from alula_tests.pages.browser import Browser
from alula_tests.pages.client_page import ClientPage, made
from alula_tests.pages.operators_page import OperatorsPage, Origin
from alula_tests.service import Service

KEY = bytes(range(32)).hex()


class Trial:
    """Runs steps by name and counts those that hold."""

    def __init__(self, only, pictures):
        self.only, self.pictures = only, pictures
        self.passed, self.failed = 0, 0

    def step(self, name, browser, body):
        if self.only and self.only not in name:
            return
        begin = time.monotonic()
        try:
            complaints = body()
        except Exception as failure:
            complaints = ["".join(traceback.format_exception(failure)[-3:])]
        if complaints and self.pictures:
            browser.picture(self.pictures / f"{name.replace(' ', '-')}.png")
        self.passed, self.failed = self.passed + (not complaints), self.failed + bool(complaints)
        print(f"{name}: {'FAILED' if complaints else 'ok'}, {time.monotonic() - begin:.1f} s", flush=True)
        for complaint in complaints:
            print("FAILED:", complaint, flush=True)


def try_client_page(trial, browser, options, source, photo):
    with Service(options.alula, "--uploads", "on") as service:
        page = ClientPage(browser, service, source, photo, options.alula)
        for name in ["typed", "faults", "quality", "many_sizes", "snippets", "slider", "phone", "keyboard", "everything", "uploads"]:
            trial.step(f"page {name}", browser, getattr(page, name))
        trial.step("page service", browser, service.stop)
    with Service(options.alula, "--uploads", "on", "--signing-keys", KEY) as service:
        page = ClientPage(browser, service, source, photo, options.alula, key=KEY)
        trial.step("page signed", browser, page.signed)
        trial.step("page signed upload", browser, page.uploads)


def try_demo(trial, browser, options):
    with Service(options.alula, "--demo", networks=None) as service:
        def first_sight():
            browser.get(service.url + "/")
            made(browser, "480 × 360")
            sample = browser.id("url").get_attribute("value")
            complaints = []
            for change in ["w", "url"]:
                browser.put(change, "200" if change == "w" else "")
                browser.css("button[type=submit]").click()
                browser.wait(f"a change of {change}", lambda: browser.find_elements(By.ID, "url-fault") or "w=200" in browser.current_url)
                browser.refresh()
                made(browser, "200 × 150")
                if browser.id("url").get_attribute("value") != sample:
                    complaints.append(f"opened again after a change of {change}, the page has lost the sample")
            browser.css("button[type=reset]").click()
            made(browser, "480 × 360")
            return complaints + browser.complaints()
        trial.step("demo first sight", browser, first_sight)
        book = Book(browser, f"{service.url}/book/")
        for name in ["chapters", "search", "examples"]:
            trial.step(f"book {name}", browser, getattr(book, name))
        trial.step("book search for operators", browser, Book(browser, f"{service.admin_url}/book/").search)


def try_operators_page(trial, browser, options):
    with serving(Origin) as port, Service(
            options.alula, "--download-timeout", "10m", "--request-timeout", "10m") as service:
        page = OperatorsPage(browser, service, f"http://127.0.0.1:{port}")
        for name in ["figures", "history", "gaps", "download", "refresh", "purge", "rate", "an_origin_that_is_away", "everything"]:
            trial.step(f"operators {name}", browser, getattr(page, name))
        trial.step("operators reconnect", browser, lambda: page.reconnect(options.alula))
    with serving(Origin) as port, Service(options.alula, "--admin-token", "geheim") as service:
        page = OperatorsPage(browser, service, f"http://127.0.0.1:{port}")
        trial.step("operators token", browser, lambda: page.token("geheim"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--only", default="", help="run the steps whose names have this text")
    parser.add_argument("--pictures", type=pathlib.Path, help="folder for pictures of pages at which a step failed")
    options = parser.parse_args()
    trial = Trial(options.only, options.pictures)
    Origin.photos = {"/photo.png": gradient_png(600, 400), "/other.png": gradient_png(500, 400), "/slow.png": noisy_png(1800, 1400, 1)}
    with tempfile.TemporaryDirectory() as folder, serving(Origin) as port, Browser() as browser:
        photo = pathlib.Path(folder) / "a photo's copy.png"
        photo.write_bytes(Origin.photos["/photo.png"])
        try_client_page(trial, browser, options, f"http://127.0.0.1:{port}/photo.png", photo)
        try_operators_page(trial, browser, options)
        try_demo(trial, browser, options)
    print(f"pages: {trial.passed} passed, {trial.failed} failed")
    return 1 if trial.failed else 0


if __name__ == "__main__":
    sys.exit(main())
