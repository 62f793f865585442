"""Reads the documentation that the service has at /book/."""
from selenium.webdriver.common.keys import Keys

from alula_tests.pages import rules

CHAPTERS = ["", "first-steps.html", "gallery.html", "settings.html", "parameters.html", "api.html", "dialects.html", "decisions/014-the-hot-path.html"]


class Book:
    """The steps; each is a method whose complaints are collected."""

    def __init__(self, browser, root):
        self.browser, self.root = browser, root

    def chapters(self):
        complaints = []
        for chapter in CHAPTERS:
            self.browser.get(self.root + chapter)
            found = rules.axe(self.browser) + rules.widths(self.browser) + rules.own_files(self.browser)
            complaints += [f"{chapter or 'the root'}: {complaint}" for complaint in found]
        return complaints + self.browser.complaints()

    def search(self):
        self.browser.get(self.root + "decisions/014-the-hot-path.html")
        self.browser.id("query").send_keys("watermarkOpac")
        self.browser.wait("results", lambda: "watermark" in self.browser.text("found").lower())
        self.browser.id("query").send_keys(Keys.ARROW_DOWN)
        self.browser.switch_to.active_element.send_keys(Keys.ENTER)
        self.browser.wait("the result", lambda: "014" not in self.browser.current_url)
        complaints = [] if "/book/" in self.browser.current_url else [f"a result led to {self.browser.current_url}"]
        self.browser.id("query").send_keys("zzqqxx")
        self.browser.wait("no result", lambda: "Nothing about" in self.browser.text("found"))
        self.browser.id("query").send_keys(Keys.ESCAPE)
        if self.browser.id("found").is_displayed():
            complaints.append("Escape leaves the results in sight")
        return complaints + self.browser.complaints()

    def examples(self):
        """With --demo, the service makes the images of the examples."""
        self.browser.get(self.root + "gallery.html")
        images = self.browser.execute_script("""
            const images = [...document.querySelectorAll("figure.example img")];
            images.forEach((image) => { image.loading = "eager"; });
            return images.length;
            """)
        self.browser.wait("the images", lambda: self.browser.execute_script(
            "return [...document.querySelectorAll('figure.example img')].every((image) => image.complete)"))
        left = self.browser.execute_script(
            "return [...document.querySelectorAll('figure.example img')].filter((image) => image.naturalWidth > 0).length")
        return [] if left == images > 30 else [f"{left} of {images} examples have an image"]
