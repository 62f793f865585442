"""Clicks through the page of the public listener."""
import hashlib
import html
import pathlib
import re
import subprocess
import tempfile
import urllib.parse
import urllib.request

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from alula_tests.pages import rules

# The forms in which a request is offered, and how each begins.
FORMS = {"address": "http", "densities": "<img src=", "widths": "<img src=", "picture": "<picture>", "curl": "curl "}


def made(browser, pixels):
    """Waits until a thumbnail of this size, as `480 × 360`, is shown, and all that is said about it."""
    def is_made():
        return (browser.text("status").startswith(f"Thumbnail of {pixels} pixels")
                and browser.execute_script(
                    "const made = document.getElementById('looking'); return made.ariaBusy === 'false' && !made.hidden"
                    " && !document.querySelector('.stale') && document.getElementById('source-image').naturalWidth > 0")
                and browser.text("result-pixels") == pixels)
    browser.wait(f"a thumbnail of {pixels} pixels", is_made)


def forget(browser):
    """Has `made` wait for a thumbnail that is yet to come, even if it has the size of the one that is shown."""
    browser.execute_script("document.getElementById('status').textContent = ''")


def choose(browser, name, value):
    """Chooses one of some values that are shown beside each other."""
    browser.css(f"input[name={name}][value={value}]").click()


def snippet(browser, form):
    """The text of a form of the request; forms that begin alike differ in one attribute."""
    choose(browser, "form", form)

    def text():
        text = browser.text("snippet")
        return text.startswith(FORMS[form]) and ("sizes=" in text) == (form == "widths") and text
    return browser.wait(f"the form {form}", text)


class ClientPage:
    """The steps; each is a method whose complaints are collected. `alula` makes signatures to compare with."""

    def __init__(self, browser, service, source, photo, alula, key=None):
        self.browser, self.service, self.source, self.photo = browser, service, source, photo
        self.alula, self.key = alula, key

    def open(self, query=""):
        self.browser.get(f"{self.service.url}/{query}")

    def typed(self):
        """An address is typed in, and the thumbnail is shown with all that is told about it."""
        browser = self.browser
        self.open()
        browser.id("url").send_keys(self.source, Keys.ENTER)
        made(browser, "480 × 320")
        complaints = []
        for name, told in [("source-pixels", "600 × 400"), ("source-bytes", "png"), ("saving", "%"), ("result-bytes", "B"), ("source-bytes", "KiB"),
                           ("caches", "miss, fetched, stored"), ("steps", "decode"), ("snippet", "/thumbnail?url=http%3A")]:
            if told not in browser.text(name):
                complaints.append(f"{name} says {browser.text(name)!r}, which lacks {told!r}")
        width = browser.execute_script("return document.getElementById('bar').children.length")
        if width < 2:
            complaints.append(f"the bar has {width} parts")
        if urllib.parse.quote(self.source, safe="") not in browser.current_url:
            complaints.append(f"the address of the page does not hold the request: {browser.current_url}")
        browser.put("w", "200")
        made(browser, "200 × 133")
        if "decoded" in browser.text("caches") and "hit" not in browser.text("caches"):
            complaints.append("a second size found nothing in the caches")
        browser.back()
        return complaints + browser.complaints()

    def faults(self):
        """What is wrong is said beside its field, and is gone when it is put right."""
        browser = self.browser
        complaints = []
        self.open("?" + urllib.parse.urlencode({"url": self.source, "w": 100}))
        made(browser, "100 × 67")
        for name, wrong, right, words in [("w", "0", "90", "from 1 to 16384"),
                                          ("h", "1e999", "60", "a number"), ("crop", "1,2", "0,0,60,60", "x,y,w,h"),
                                          ("trimColor", "white", "", "Requires trim")]:
            group = browser.execute_script(
                "const group = document.getElementById(arguments[0]).closest('details'); if (group) group.open = true; return 1", name)
            assert group
            browser.put(name, wrong)
            browser.css("button[type=submit]").click()
            browser.wait(f"what is wrong with {name}", lambda: browser.find_elements(By.ID, f"{name}-fault"))
            field = browser.id(name)
            if words not in browser.text(f"{name}-fault"):
                complaints.append(f"beside {name} stands {browser.text(name + '-fault')!r}")
            if field.get_attribute("aria-invalid") != "true" or f"{name}-fault" not in field.get_attribute("aria-describedby"):
                complaints.append(f"{name} is not told to be wrong to screen readers")
            if browser.switch_to.active_element != field:
                complaints.append(f"{name} has not the focus")
            if "failure" not in browser.id("status").get_attribute("class"):
                complaints.append(f"the status does not say that {name} is wrong")
            complaints += rules.contrast(browser)
            browser.put(name, right)
            browser.wait(f"{name} to be right", lambda: not browser.find_elements(By.CSS_SELECTOR, ".field > .fault"))
        browser.put("url", self.source + "-missing")
        browser.wait("a missing source", lambda: browser.find_elements(By.ID, "url-fault"))
        # A failed request stands in the console of each browser.
        return complaints + browser.complaints("status of 400", "status of 404")

    def many_sizes(self):
        """Several sizes share a fetch; colors can be picked; a URL is completed."""
        browser = self.browser
        self.open("?" + urllib.parse.urlencode({"url": self.source + "?many", "w": 100, "pad": 4}))
        made(browser, "108 × 75")
        browser.execute_script("document.querySelector('#many > summary').click()")
        browser.wait("six sizes", lambda: "6 sizes" in browser.text("shared"))
        complaints = []
        if not browser.text("shared").startswith(("no fetch,", "1 fetch,")):
            complaints.append(f"six sizes do not share a fetch: {browser.text('shared')}")
        texts = [item.text for item in browser.find_elements(By.CSS_SELECTOR, "#renditions li")]
        if len(texts) != 6 or not all("×" in text and "B" in text for text in texts):
            complaints.append(f"the sizes are described as {texts}")
        browser.execute_script("""
            document.getElementById("background").closest("details").open = true;
            const picker = document.querySelector("input[type=color]");
            picker.value = "#ff0000";
            picker.dispatchEvent(new Event("change", { bubbles: true }));
            """)
        browser.wait("the color in the request", lambda: "background=%23ff0000" in browser.current_url)
        if browser.find_elements(By.CSS_SELECTOR, ".fault:not([hidden])"):
            complaints.append("a color that was picked is refused")
        browser.put("url", "example.invalid/a.jpg")
        browser.wait("a scheme", lambda: browser.id("url").get_attribute("value") == "https://example.invalid/a.jpg")
        return complaints + rules.axe(browser) + browser.complaints("status of 403", "status of 502")

    def snippets(self):
        """Every address that is offered works, and curl gets the bytes that are shown."""
        browser = self.browser
        complaints = []
        self.open("?" + urllib.parse.urlencode({"url": self.source, "w": 120, "h": 90, "fit": "cover", "background": "tomato"}))
        made(browser, "120 × 90")
        for form in list(FORMS)[:4]:
            text = html.unescape(snippet(browser, form))
            addresses = re.findall(r"http://127[^\s\"]+", text)
            least = {"address": 1, "densities": 3, "widths": 4, "picture": 7}[form]
            if len(addresses) < least:
                complaints.append(f"{form} has {len(addresses)} addresses, fewer than {least}: {text}")
            for address in addresses:
                with urllib.request.urlopen(address, timeout=20) as answer:
                    if not answer.headers["Content-Type"].startswith("image/"):
                        complaints.append(f"{form}: {address} answers {answer.headers['Content-Type']}")
        asked = urllib.request.Request(snippet(browser, "address"), headers={"Accept": "image/avif,image/webp,image/*"})
        with urllib.request.urlopen(asked, timeout=20) as answer:
            complaints += self.curl(answer.read())
        return complaints + browser.complaints()

    def curl(self, shown):
        """What curl gets is what is shown; `shown` is None if that is not known."""
        text = snippet(self.browser, "curl")
        command = re.sub(r"--output '[^']*'", "--silent --output -", text)
        answer = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, cwd=self.photo.parent)
        if answer.returncode != 0 or len(answer.stdout) < 50:
            return [f"curl ends with {answer.returncode}: {text}"]
        if shown is not None and shown != answer.stdout:
            return ["curl gets other bytes than those that are shown"]
        return []

    def slider(self):
        """The divider moves by mouse, by touch and by keyboard."""
        browser = self.browser
        complaints = []
        self.open("?" + urllib.parse.urlencode({"url": self.source, "w": 400}))
        made(browser, "400 × 267")
        stage, divider = browser.id("stage"), browser.id("divider")

        def share():
            value = browser.execute_script("return getComputedStyle(arguments[0]).getPropertyValue('--split')", stage)
            return float(value.strip().rstrip("%"))

        def expect(what, least, most):
            browser.wait(f"the divider between {least} and {most} after {what}", lambda: least <= share() <= most)
        browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", stage)
        box = browser.execute_script("const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", stage)
        expect("the start", 50, 50)
        ActionChains(browser).move_to_element(stage).click_and_hold().move_by_offset(int(box[2] * 0.25), 0).release().perform()
        expect("the mouse", 73, 77)
        browser.swipe(box[0] + box[2] * 0.75, box[0] + box[2] * 0.2, box[1] + box[3] / 2)
        expect("the finger", 18, 22)
        divider.send_keys(Keys.ARROW_RIGHT * 5)
        expect("five keys", 23, 27)
        divider.send_keys(Keys.END)
        expect("the key End", 100, 100)
        if divider.get_attribute("aria-valuetext") != "100 percent source":
            complaints.append(f"the divider tells {divider.get_attribute('aria-valuetext')!r}")
        for view in ["beside", "alone", "slider"]:
            choose(browser, "view", view)
            browser.wait(f"the view {view}", lambda: stage.get_attribute("data-view") == view)
            seen = browser.execute_script("return document.getElementById('source-image').checkVisibility()")
            if seen == (view == "alone"):
                complaints.append(f"the source is {'shown' if seen else 'hidden'} in the view {view}")
        Select(browser.id("zoom")).select_by_value("4")
        browser.wait("four times 400 pixels", lambda: browser.execute_script("return arguments[0].getBoundingClientRect().width", stage) == 1600)
        return complaints + rules.widths(browser) + browser.complaints()

    def keyboard(self):
        """All that a thumbnail needs is done without a mouse, and the focus is always in sight."""
        browser = self.browser
        self.open()
        complaints, seen = [], []

        def press(*keys):
            ActionChains(browser).send_keys(*keys).perform()

        def focused():
            return browser.execute_script(
                "const e = document.activeElement; const s = getComputedStyle(e);"
                "const marks = [e, e.nextElementSibling, e.nextElementSibling?.firstElementChild].filter(Boolean);"
                "return [e.id || e.textContent.trim() || e.value, marks.some((m) => getComputedStyle(m).outlineStyle !== 'none')]")
        press(Keys.TAB)
        if focused()[0] != "To the thumbnail":
            complaints.append(f"the first stop of the keyboard is {focused()[0]}")
        for _ in range(60):
            press(Keys.TAB)
            name, is_in_sight = focused()
            if name in seen or browser.execute_script("return document.activeElement === document.body"):
                break
            seen.append(name)
            if not is_in_sight:
                complaints.append(f"one does not see that {name} has the focus")
            if name == "url":
                press(self.source)
            if name == "w":
                press(Keys.CONTROL, "a")
                press("150")
            if name == "Colors":
                press(Keys.SPACE)
            if name == "sepia":
                press(Keys.ARROW_RIGHT * 3)
            if name == "Make thumbnail":
                press(Keys.ENTER)
                break
        for name in ["url", "w", "h", "fit", "format", "q", "q-auto", "sepia", "Watermark", "Make thumbnail"]:
            if name not in seen:
                complaints.append(f"the keyboard does not reach {name}: {seen}")
        made(browser, "150 × 100")
        if "sepia=3" not in browser.text("snippet"):
            complaints.append(f"the slider has not been moved by keys: {browser.text('snippet')}")
        return complaints + browser.complaints()

    def everything(self):
        """All groups are open and a result is shown: the rules hold."""
        browser = self.browser
        self.open("?" + urllib.parse.urlencode({"url": self.source, "w": 300}))
        made(browser, "300 × 200")
        browser.execute_script("for (const group of document.querySelectorAll('details')) group.open = true")
        return rules.all_of(browser) + browser.complaints()

    def centered(self):
        """Source and thumbnail stand in the middle of the frame, over each other."""
        frame, *images = self.browser.execute_script(
            "return ['frame', 'thumbnail', 'source-image'].map((id) => document.getElementById(id).getBoundingClientRect())"
            ".map((box) => [(box.left + box.right) / 2, box.left, box.right])")
        return [f"an image stands at {image}, the frame at {frame}" for image in images
                if abs(image[0] - frame[0]) > 1 or image[1] < frame[1] or image[2] > frame[2]]

    def quality(self):
        """The slider shows the default quality of the format, and asks for another one only when it is moved."""
        browser = self.browser
        complaints = []

        def told(*words):
            browser.wait(f"the quality {words}", lambda: all(
                word in browser.css("output[for=q]").get_attribute("value") for word in words))
        self.open("?" + urllib.parse.urlencode({"url": self.source, "w": 90, "format": "jpeg"}))
        made(browser, "90 × 60")
        told("80", "default")
        if "q=" in browser.text("snippet"):
            complaints.append(f"a default is asked for: {browser.text('snippet')}")
        for format, default in [("avif", "80"), ("png", "100"), ("jxl", "80"), ("auto", "80")]:
            Select(browser.id("format")).select_by_visible_text(format)
            told(default, "default")
        Select(browser.id("format")).select_by_visible_text("gif")
        told("none")
        Select(browser.id("format")).select_by_visible_text("jpeg")
        browser.id("q").send_keys(Keys.ARROW_LEFT * 5)
        told("75")
        browser.wait("the quality in the address", lambda: "&q=75" in browser.text("snippet"))
        Select(browser.id("format")).select_by_visible_text("webp")
        browser.wait("the same quality in another format", lambda: "format=webp&q=75" in browser.text("snippet"))
        browser.id("q-auto").send_keys(Keys.SPACE)
        browser.wait("the wish for any quality", lambda: "&q=auto" in browser.text("snippet"))
        told("auto")
        if browser.id("q").is_enabled():
            complaints.append("the slider can be moved although the quality is chosen by the service")
        browser.refresh()
        made(browser, "90 × 60")
        if not browser.id("q-auto").is_selected() or "Quality" not in browser.text("caches"):
            complaints.append("opened again, the page has forgotten that the service chooses the quality")
        for query, words in [("q=40", ["40"]), ("q=abc", ["80", "default"]), ("q=101", ["80", "default"])]:
            self.open("?" + urllib.parse.urlencode({"url": self.source, "w": 90, "format": "jpeg"}) + "&" + query)
            made(browser, "90 × 60")
            told(*words)
        return complaints + browser.complaints()

    def phone(self):
        """On a telephone the thumbnail is in sight beside the fields, and covers none that has the focus."""
        browser = self.browser
        complaints = []
        browser.resize(375, 667)
        self.open("?" + urllib.parse.urlencode({"url": self.source, "w": 300}))
        made(browser, "300 × 200")
        browser.execute_script("document.getElementById('request').querySelector('details').open = true")

        def box(name):
            return browser.execute_script(
                "const b = document.getElementById(arguments[0]).getBoundingClientRect(); return [b.top, b.bottom]", name)
        for name in ["url", "w", "q", "gravity", "background"]:
            browser.execute_script("scrollTo(0, 0); document.getElementById(arguments[0]).focus()", name)
            field, picture, result = box(name), box("stage"), box("result")
            if not (0 <= field[0] and field[1] <= result[0]):
                complaints.append(f"{name} stands at {field}, covered by what begins at {result[0]}")
            if picture[0] < 0 or picture[1] > 667 or picture[1] - picture[0] < 60:
                complaints.append(f"beside {name} the thumbnail stands at {picture}")
        browser.execute_script("scrollTo(0, 0); document.getElementById('zoom').focus()")
        if box("zoom")[1] > 667:
            complaints.append(f"the keyboard is at what is below the thumbnail, out of sight: {box('zoom')}")
        browser.execute_script("document.activeElement.blur(); document.getElementById('telling').scrollIntoView({ block: 'start' })")
        browser.execute_script("scrollBy(0, -300)")
        if box("zoom")[1] > 667:
            complaints.append(f"one does not scroll to what is below the thumbnail: {box('zoom')}")
        browser.execute_script("document.getElementById('telling').scrollIntoView()")
        if box("result")[1] > box("telling")[0]:
            complaints.append(f"the thumbnail at {box('result')} covers what is told about it at {box('telling')}")
        browser.css(".skip").send_keys(Keys.ENTER)
        browser.wait("the way past the form", lambda: browser.execute_script("return document.activeElement.id") == "result")
        browser.resize(1280)
        return complaints + browser.complaints()

    def uploads(self):
        """A file that is dropped, or chosen, is the source."""
        browser = self.browser
        complaints = []
        self.open()
        digest = hashlib.sha256(self.photo.read_bytes()).hexdigest()
        if self.key:
            browser.execute_script("document.getElementById('key').value = arguments[0]", self.key)
        forget(browser)
        browser.drop(path=self.photo)
        made(browser, "480 × 320")
        if browser.id("url").is_displayed() or not browser.id("by-file").is_displayed():
            complaints.append("beside the file, an address is shown as if it were the source")
        complaints += self.centered()
        if self.photo.name not in browser.text("chosen-name"):
            complaints.append(f"the file's name is not shown: {browser.text('chosen-name')}")
        if browser.text("source-pixels") != "600 × 400":
            complaints.append(f"the source has {browser.text('source-pixels')} pixels")
        if not browser.id("veil").get_attribute("hidden"):
            complaints.append("the veil stays after the drop")
        complaints += self.curl(None)
        complaints += rules.all_of(browser)
        complaints += self.wrong_file()
        browser.drop(path=self.photo)
        made(browser, "480 × 320")
        browser.put("w", "240")
        made(browser, "240 × 160")
        browser.resize(375)
        complaints += self.centered()
        browser.resize(1280)
        choose(browser, "source", "address")
        browser.put("url", self.source)
        made(browser, "240 × 160")
        choose(browser, "source", "file")
        browser.wait("the file again", lambda: "--data-binary" in browser.text("snippet"))
        if self.source not in urllib.parse.unquote(browser.current_url):
            complaints.append(f"with a file, the page forgets the address: {browser.current_url}")
        browser.refresh()
        if self.key:
            browser.execute_script("document.getElementById('key').value = arguments[0]", self.key)
            browser.css("button[type=submit]").click()
        made(browser, "240 × 160")
        if browser.id("url").get_attribute("value") != self.source or browser.id("by-file").is_displayed():
            complaints.append(f"opened again, the page shows {browser.id('url').get_attribute('value')!r}")
        choose(browser, "source", "file")
        browser.wait("the wish for a file", lambda: "Choose a file" in browser.text("status"))
        forget(browser)
        browser.id("file").send_keys(str(self.photo))
        made(browser, "240 × 160")
        forget(browser)
        browser.drop(address=self.source + "?dropped")
        browser.wait("the link", lambda: browser.id("url").get_attribute("value") == self.source + "?dropped")
        made(browser, "240 × 160")
        if browser.id("by-file").is_displayed() or "dropped" not in browser.text("snippet"):
            complaints.append("the link that was dropped is not the source")
        if hashlib.sha256(self.photo.read_bytes()).hexdigest() != digest:
            complaints.append("the file was changed")
        return complaints + browser.complaints()

    def wrong_file(self):
        """A file that is no image is said to be none, beside the file, and nothing is shown of the thumbnail before it."""
        browser = self.browser
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            file.write(b"no image")
            file.flush()
            browser.drop(path=pathlib.Path(file.name))
            browser.wait("the fault", lambda: "not an image" in browser.text("by-file"))
        complaints = []
        if browser.id("telling").is_displayed() or browser.id("looking").is_displayed():
            complaints.append("beside the fault, the page shows what it told of another file")
        if "not an image" not in browser.text("status"):
            complaints.append(f"the status of a wrong file is {browser.text('status')!r}")
        return complaints + rules.all_of(browser) + browser.complaints("415")

    def signed(self):
        """Addresses are signed as `alula sign` signs them, and the key goes nowhere."""
        browser = self.browser
        complaints = []
        self.open()
        browser.put("url", self.source)
        browser.css("button[type=submit]").click()
        browser.wait("the wish for a key", lambda: browser.find_elements(By.ID, "key-fault"))
        for wrong, words in [("xyz", "hexadecimal"), ("00" * 31, "64 digits")]:
            browser.put("key", wrong)
            browser.wait(f"what is wrong with {wrong}", lambda: words in browser.text("request"))
        browser.requests()
        browser.put("key", self.key)
        made(browser, "480 × 320")
        browser.wait("a signed address", lambda: "&sig=" in browser.text("snippet"))
        address = urllib.parse.urlsplit(browser.text("snippet"))
        target = f"{address.path}?{address.query}".rsplit("&sig=", 1)[0]
        signed = subprocess.run([self.alula, "sign", "--key", self.key, target], capture_output=True, text=True, check=True)
        if signed.stdout.strip() != f"{address.path}?{address.query}":
            complaints.append(f"alula sign says {signed.stdout.strip()}, the page {address.path}?{address.query}")
        for form in list(FORMS)[1:4]:
            for address in re.findall(r"http://127[^\s\"]+", html.unescape(snippet(browser, form))):
                urllib.request.urlopen(address, timeout=20).close()
        sent = str(browser.requests())
        if "sig=" not in sent:
            complaints.append("no signed request was seen")
        kept = browser.execute_script(
            "return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])")
        for where, text in [("sent", sent), ("kept", kept)]:
            if self.key in text or self.key[:16] in text:
                complaints.append(f"the key is {where}: {text[:300]}")
        return complaints + browser.complaints()
