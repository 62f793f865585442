"""Clicks through the page of the operators' listener while the service works."""
import json
import re
import threading
import urllib.error
import urllib.parse
import urllib.request

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from alula_tests.clients import connect, get, metrics
from alula_tests.origins import ImageHandler
from alula_tests.pages import rules
from alula_tests.service import Service

MOST_DRAWS_A_SECOND = 5


class Origin(ImageHandler):
    """Images that change, and one that comes slowly until it is let go."""
    photos = {}
    let_go = threading.Event()

    def find(self, path):
        found = self.photos.get(path.split("?")[0])
        return found and ("image/png", found)

    def do_GET(self):
        if not self.path.startswith("/slow"):
            return super().do_GET()
        body = self.photos["/slow.png"]
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        sent = len(body) // 4
        try:
            self.wfile.write(body[:sent])
            # Slow, but faster than the slowest origin that the service bears. No test takes as long as all of this image.
            while not self.let_go.wait(0.5):
                self.wfile.write(body[sent:sent + 16_384])
                sent += 16_384
            self.wfile.write(body[sent:])
        except OSError:
            pass


def dialog_is_open(browser):
    return browser.id("token").get_attribute("open") is not None


class OperatorsPage:
    """The steps; each is a method whose complaints are collected."""

    def __init__(self, browser, service, origin):
        self.browser, self.service, self.origin = browser, service, origin

    def open(self):
        self.browser.get(self.service.admin_url + "/")
        self.browser.wait("news", lambda: self.browser.id("connection").get_attribute("data-state") in ("live", "busy"))

    def ask(self, path, width=64):
        """The status of a thumbnail of a source."""
        query = urllib.parse.urlencode({"url": self.origin + path, "w": width, "format": "png"})
        try:
            with urllib.request.urlopen(f"{self.service.url}/thumbnail?{query}", timeout=600) as answer:
                answer.read()
                return answer.status
        except urllib.error.HTTPError as failure:
            return failure.code

    def answered(self):
        """How many answers the service has given since it began."""
        return int(sum(count for name, count in metrics(self.service).items() if name.startswith("alula_requests_total{")))

    def shows(self, name, words):
        return self.browser.wait(f"{words!r} in {name}", lambda: words in self.browser.text(name))

    def shows_requests(self, least):
        """Waits for this number. A request is counted a little after its answer has come, so that there may be one more."""
        def shown():
            words = self.browser.text("note-requests").split()
            return words and int(words[0].replace(",", "")) >= least
        self.browser.wait(f"{least} requests", shown)

    def kept(self):
        """The figures that the service has kept."""
        return json.loads(get(connect(self.service.admin_port), "/stats/history")[1])

    def status_text(self, words):
        return self.browser.wait(f"the answer {words!r}", lambda: words in self.browser.text("source-status"))

    def figures(self):
        """Requests are counted, and what happens is listed."""
        browser = self.browser
        self.open()
        complaints, before = [], self.answered()
        for width in range(20, 30):
            if self.ask("/photo.png", width) != 200:
                complaints.append("a thumbnail was not made")
        self.shows_requests(before + 10)
        browser.wait("events", lambda: browser.text("events").count("rendered as png") == 10)
        for words in ["downloaded, ", "decoded from png in "]:
            self.shows("events", words)
        for name, words in [("caches", "10 entries"), ("resources", "Memory budget"), ("resources", "busy"), ("origins", "127.0.0.1"),
                            ("origin-counts", "1 reachable"), ("about", "version 1."), ("figure-downloads", "0 of 32")]:
            self.shows(name, words)
        return complaints + browser.complaints()

    def an_origin_that_is_away(self):
        """It is called so, with a mark of its own."""
        self.open()
        query = urllib.parse.urlencode({"url": "http://127.0.0.1:1/away.png", "w": 20})
        answer, _ = get(connect(self.service.port), f"/thumbnail?{query}")
        complaints = [] if answer.status == 502 else [f"status {answer.status}"]
        self.shows("origins", "unreachable")
        colors = self.browser.execute_script("""
            const mark = document.querySelector('#origins [data-state=not_reachable]')
            const color = () => getComputedStyle(mark, '::before').backgroundColor
            const colors = [color()]
            mark.dataset.state = 'unknown'
            return [...colors, color()]""")
        if colors[0] == colors[1]:
            complaints.append(f"its mark has the color of what is not known: {colors}")
        return complaints + self.browser.complaints()

    def chart_points(self):
        """How many moments the first chart shows."""
        return self.browser.execute_script(
            "return (document.querySelector('.chart path:not(.filled)').getAttribute('d') ?? '').split(/[ML]/).length - 1")

    def history(self):
        """The charts begin before the page was opened, and are read by keyboard."""
        browser = self.browser
        browser.get("about:blank")
        complaints, before = [], self.answered()
        for width in range(40, 44):
            if self.ask("/photo.png", width) != 200:
                complaints.append("a thumbnail was not made")

        def is_kept():
            # Two samples more, so that the requests are in the past when the page comes.
            counts = self.kept()["requests"]
            return len(counts) > 3 and min(counts[-3:]) >= before + 4
        browser.wait("samples after the requests", is_kept)
        kept = self.kept()
        self.open()
        # Of samples there is one more than of rates, and the oldest may be over ten minutes old by then.
        browser.wait("charts of the time before the page", lambda: self.chart_points() >= min(len(kept["requests"]) - 1, 500))
        chart = browser.css(".chart .plot")
        labels = []

        def press(key):
            chart.send_keys(key)
            labels.append(chart.get_attribute("aria-label"))
            return labels[-1]
        if not re.match(r"Requests, \d+ seconds? ago: [^–]", press(Keys.ARROW_LEFT)):
            complaints.append(f"a chart cannot be read by keyboard: {labels}")
        if not re.match(r"Requests, \d+ seconds? ago: ", press(Keys.HOME)):
            complaints.append(f"the oldest moment cannot be read: {labels}")
        ago = int(re.search(r"\d+", labels[-1])[0])
        if ago < min(kept["ageSeconds"][1], 590) - 1:
            complaints.append(f"the oldest moment is {ago} s ago, the service knows {kept['ageSeconds'][1]} s")
        if press(Keys.ARROW_LEFT).startswith("Requests, now"):
            complaints.append(f"before the oldest moment stands now: {labels}")
        if not press(Keys.END).startswith("Requests, now: ") or not press(Keys.ESCAPE).startswith("Requests, now: "):
            complaints.append(f"a chart does not return to now: {labels}")
        # Nobody has made requests since the page was opened; those from before are no flat line.
        if not browser.execute_script(
                "return document.querySelector('.chart path:not(.filled)').getAttribute('d').split(/[ML]/).slice(1)"
                ".some((point) => Number(point.split(' ')[1]) < 99)"):
            complaints.append("the chart does not show the requests")
        return complaints + rules.names(browser) + browser.complaints()

    def gaps(self):
        """Charts show nothing for times of which nothing is known, and one moment by itself as a dot."""
        browser = self.browser
        self.open()
        lines, area, labels = browser.execute_async_script("""
            const done = arguments[0];
            (async () => {
            const [{ Chart }, { FigureHistory }] = await Promise.all(["charts", "history"].map((name) => import(`/page/${name}.js`)));
            const history = new FigureHistory();
            const lanes = { small: { delaySeconds: 0 }, expensive: { delaySeconds: 0 } };
            const stats = (requests) => ({ requests, errors: 0, decodes: 0, renders: 0, hits: 0, misses: 0,
              downloads: { active: 0, queued: 0 }, workers: lanes, memory: { held: 0, reserved: 0 } });
            // Seconds 0 to 3, nothing until 20, one second, nothing until 40, and on to 43.
            for (const second of [0, 1, 2, 3, 20, 21, 40, 41, 42, 43]) history.add(stats(second * 10), second * 1000);
            const chart = new Chart(document.body, { title: "Trial", format: String, series: [{ name: "", color: "one", value: (p) => p.requests }] });
            chart.draw(history);
            const paths = [chart.lines[0], chart.area].map((path) => path.getAttribute("d"));
            const labels = [10, 21, 30, 42].map((second) => {
              chart.read(1 - (43_000 - second * 1000) / history.span);
              return chart.plot.getAttribute("aria-label");
            });
            chart.figure.remove();
            done([...paths, labels]);
            })();
            """)
        complaints = []
        pieces = [[float(point.split()[0]) for point in piece.split("L")] for piece in lines.split("M")[1:]]
        # 60 s are 600 wide, and end at the second 43.
        if [(piece[0], piece[-1]) for piece in pieces] != [(180, 200), (380, 380), (580, 600)]:
            complaints.append(f"the line has the pieces {pieces}")
        if area.count("Z") != 3 or area.count("M") != 3:
            complaints.append(f"the area is not in three pieces: {area}")
        if [label.split(": ")[1] for label in labels] != ["–", "10", "–", "10"] or "33 seconds ago" not in labels[0]:
            complaints.append(f"the moments read {labels}")
        return complaints + browser.complaints()

    def download(self):
        """A running download has a bar, and is cancelled by its button."""
        browser = self.browser
        self.open()
        complaints, answers = [], []
        client = threading.Thread(target=lambda: answers.append(self.ask("/slow.png")))
        client.start()
        try:
            row = browser.wait("the download", lambda: browser.find_elements(By.CSS_SELECTOR, "#download-list li"))[0]
            bar = row.find_element(By.TAG_NAME, "progress")
            browser.wait("its progress", lambda: 0.2 < float(bar.get_attribute("position")) < 0.9)
            if "slow.png" not in row.text:
                complaints.append(f"the row says {row.text}")
            complaints += rules.all_of(browser)
            # A second visitor, who comes later, sees it too.
            self.open()
            row = browser.wait("the download again", lambda: browser.find_elements(By.CSS_SELECTOR, "#download-list li"))[0]
            cancel = [b for b in row.find_elements(By.TAG_NAME, "button") if b.text == "Cancel"][0]
            cancel.send_keys(Keys.ENTER)
            self.status_text("Cancelled: 1 download.")
            browser.wait("the end of the row", lambda: not browser.find_elements(By.CSS_SELECTOR, "#download-list li"))
            browser.wait("the event", lambda: "download cancelled" in browser.text("events"))
        finally:
            Origin.let_go.set()
            client.join(600)
        if answers != [409]:
            complaints.append(f"the client of a cancelled download was answered {answers}")
        return complaints + browser.complaints()

    def refresh(self):
        """A source is asked for again, and purged, by its address."""
        browser = self.browser
        self.open()
        complaints = []
        self.ask("/photo.png")
        browser.put("source-url", self.origin + "/photo.png")
        browser.id("refresh").click()
        self.status_text("has not changed")
        Origin.photos["/photo.png"] = Origin.photos["/other.png"]
        browser.id("source-url").send_keys(Keys.ENTER)
        self.status_text("new version is in use")
        browser.id("purge").click()
        self.status_text("Purged ")
        browser.wait("the event", lambda: re.search(r"purged, [^:]*B: by an operator", browser.text("events")))
        if "the origin has a newer version" not in browser.text("events"):
            complaints.append(f"the list does not say why the old version went: {browser.text('events')}")
        browser.id("purge").click()
        self.status_text("Nothing to purge")
        # An address in a list puts itself into the field.
        browser.id("source-url").clear()
        browser.css("#events button.link").click()
        if browser.id("source-url").get_attribute("value") != self.origin + "/photo.png":
            complaints.append(f"the field holds {browser.id('source-url').get_attribute('value')!r}")
        browser.id("source-url").clear()
        browser.id("refresh").click()
        self.status_text("Enter the URL")
        return complaints + rules.contrast(browser) + browser.complaints()

    def purge(self):
        """All is purged only after a question."""
        browser = self.browser
        self.ask("/photo.png")
        self.open()
        complaints = []

        def entries():
            with urllib.request.urlopen(self.service.admin_url + "/cache", timeout=10) as answer:
                return json.load(answer)["result"]["entries"]
        if entries() == 0:
            complaints.append("nothing is there to be purged")
        button = browser.id("purge-all")
        button.click()
        complaints += rules.contrast(browser)
        ActionChains(browser).send_keys(Keys.ESCAPE).perform()
        browser.wait("the end of the question", lambda: not browser.id("ask").get_attribute("open"))
        if entries() == 0:
            complaints.append("the key Escape has purged")
        button.click()
        if browser.switch_to.active_element.text != "Cancel":
            complaints.append(f"the question begins at {browser.switch_to.active_element.text}")
        browser.css("#ask button[value=purge]").click()
        self.status_text("Purged ")
        browser.wait("empty caches", lambda: entries() == 0)
        return complaints + browser.complaints()

    def rate(self):
        """Many requests do not make the page draw more often."""
        browser = self.browser
        self.open()
        browser.execute_script(
            "window.draws = []; new MutationObserver(() => draws.push(performance.now()))"
            ".observe(document.body, { childList: true, characterData: true, subtree: true })")
        for number in range(700):
            self.ask(f"/photo.png?{number % 40}", 16 + number % 60)
        draws, span = browser.execute_script("return [draws, draws.at(-1) - draws[0]]")
        frames = [time for index, time in enumerate(draws) if index == 0 or time - draws[index - 1] > 30]
        # A fast machine answers all requests in less than half a second.
        if len(frames) < 2 or len(frames) > 2 + MOST_DRAWS_A_SECOND * span / 1000:
            return [f"the page was drawn {len(frames)} times in {span:.0f} ms"]
        if browser.execute_script("return document.getElementById('events').childElementCount") > 1000:
            return ["the list of events grows without end"]
        browser.id("pause").click()
        newest = browser.execute_script("return document.querySelector('#events li').textContent")
        # The events of the first request have come when the figures of the second one, a second later, are shown.
        before = self.answered()
        for number in [1, 2]:
            self.ask("/photo.png", 300 + number)
            self.shows_requests(before + number)
        if browser.execute_script("return document.querySelector('#events li').textContent") != newest:
            return ["the list goes on although it is paused"]
        browser.id("pause").click()
        browser.wait("the list to go on", lambda: browser.execute_script("return document.querySelector('#events li').textContent") != newest)
        return rules.all_of(browser) + browser.complaints()

    def everything(self):
        """The rules hold while all lists are full, and the keyboard reaches all controls."""
        browser = self.browser
        self.open()
        seen = []
        browser.execute_script("document.activeElement.blur()")
        for _ in range(400):
            ActionChains(browser).send_keys(Keys.TAB).perform()
            name = browser.execute_script("const e = document.activeElement; return e === document.body ? '' : e.id || e.className || e.textContent")
            if name == "" or (seen and name == seen[0]):
                break
            seen.append(name)
        missing = [name for name in ["plot", "source-url", "refresh", "purge", "purge-all", "pause"] if name not in seen]
        complaints = [f"the keyboard does not reach {name}: {seen}" for name in missing]
        return complaints + rules.all_of(browser) + browser.complaints()

    def token(self, token):
        """A listener with a token shows nothing until the page has it, and the page asks once in a tab."""
        browser = self.browser
        browser.get(self.service.admin_url + "/")

        def enter(text):
            browser.wait("the question", lambda: dialog_is_open(browser))
            browser.id("token-value").send_keys(text, Keys.ENTER)
        complaints = []
        browser.wait("the question", lambda: dialog_is_open(browser))
        ActionChains(browser).send_keys(Keys.ESCAPE).perform()
        if browser.text("figure-requests") != "–" or browser.text("settings"):
            complaints.append("the page shows data without the token")
        complaints += rules.contrast(browser)
        enter("wrong")
        browser.wait("the objection", lambda: browser.id("token-fault").is_displayed())
        enter(token)
        browser.wait("news", lambda: browser.id("connection").get_attribute("data-state") in ("live", "busy"))
        self.shows("settings", "adminToken")
        if token in browser.text("settings"):
            complaints.append("the page shows the token")
        self.open()
        if dialog_is_open(browser):
            complaints.append("the page asks again")
        browser.put("source-url", self.origin + "/photo.png")
        browser.id("purge").click()
        self.status_text("Nothing to purge")
        browser.css("nav[aria-label=Reference] a[href='/status']").click()
        browser.wait("the status", lambda: "uptimeSeconds" in browser.execute_script("return document.body?.textContent ?? ''"))
        browser.get("about:blank")
        return complaints + browser.complaints("401")

    def reconnect(self, alula):
        """The page goes on by itself when the service comes back."""
        browser = self.browser
        self.open()
        complaints = self.service.stop()
        browser.wait("the loss", lambda: browser.id("connection").get_attribute("data-state") == "lost")
        with Service(alula, operator_port=self.service.admin_port) as again:
            self.service = again
            browser.wait("the return", lambda: browser.id("connection").get_attribute("data-state") in ("live", "busy"))
            browser.wait("figures of the new service", lambda: browser.text("note-requests").startswith("0 since"))
            # A page that is left asks no more.
            browser.get("about:blank")
            complaints += again.stop()
        return complaints + browser.complaints("ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY")
