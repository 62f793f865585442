"""Rules that hold for every page in every state: those of axe-core, names of controls, contrast of texts, widths."""
import importlib.resources

from selenium.webdriver.common.by import By

WIDTHS = [320, 375, 768, 1280, 1920, 3840]
LEAST_CONTRAST, LEAST_OF_LARGE = 4.5, 3

# Every text in sight with its color over its background, as (text, contrast, whether it is large).
CONTRASTS = """
const parse = (text) => {
  const canvas = parse.canvas ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = ([r, g, b, a], below) => [r, g, b].map((part, index) => part * a + below[index] * (1 - a)).concat(1);
const background = (element) => {
  const layers = [];
  for (let node = element; node; node = node.parentElement) {
    const color = parse(getComputedStyle(node).backgroundColor);
    if (color[3] > 0) layers.push(color);
    if (color[3] === 1) break;
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
};
const light = (color) => {
  const [r, g, b] = color.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
  const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};
const found = [];
const judge = (element, text, style) => {
  const below = background(element);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  found.push([text.trim().slice(0, 40), contrast(over(parse(style.color), below), below), large]);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
  if (["SCRIPT", "STYLE", "NOSCRIPT", "OPTION", "DATALIST"].includes(element.tagName) || element.closest(".unseen, .skip, datalist")) continue;
  if (element.closest("svg")) continue;
  judge(element, walker.currentNode.data, getComputedStyle(element));
}
for (const field of document.querySelectorAll("input, select, textarea")) {
  if (!field.checkVisibility({ opacityProperty: true }) || ["range", "checkbox", "radio", "file", "color"].includes(field.type)) continue;
  judge(field, field.id, getComputedStyle(field));
  if (field.placeholder) judge(field, field.id + " placeholder", getComputedStyle(field, "::placeholder"));
}
return found;
"""

# The roles that need a name of their own.
NAMED = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "slider", "spinbutton", "progressbar", "meter",
         "image", "dialog", "DisclosureTriangle", "table", "form", "region", "radiogroup"}


def contrast(browser):
    complaints = []
    for scheme in ["light", "dark"]:
        browser.colors(scheme)
        browser.wait(f"{scheme} colors", lambda: browser.execute_script("return matchMedia(`(prefers-color-scheme: ${arguments[0]})`).matches", scheme))
        found = browser.execute_script(CONTRASTS)
        if len(found) < 10:
            complaints.append(f"only {len(found)} texts are in sight in {scheme} colors")
        for text, ratio, is_large in found:
            if ratio < (LEAST_OF_LARGE if is_large else LEAST_CONTRAST):
                complaints.append(f"the contrast of {text!r} is {ratio:.2f} in {scheme} colors")
    browser.colors("light")
    return complaints


def names(browser):
    """What screen readers are told: every control and image has a name, and names refer to what is there."""
    complaints = []
    nodes = [node for node in browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"] if not node["ignored"]]
    for node in nodes:
        is_focusable = any(p["name"] == "focusable" and p["value"].get("value") for p in node.get("properties", []))
        role = node["role"]["value"]
        if role not in NAMED and not (is_focusable and role not in ("RootWebArea", "option", "MenuListOption")):
            continue
        if not node.get("name", {}).get("value", "").strip():
            html = browser.execute_cdp_cmd("DOM.getOuterHTML", {"backendNodeId": node["backendDOMNodeId"]})["outerHTML"]
            complaints.append(f"a {role} has no name: {html[:120]}")
    if sum(node["role"]["value"] in NAMED for node in nodes) < 5:
        complaints.append("hardly any control is seen")
    duplicates = browser.execute_script(
        "const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);"
        "return ids.filter((id, index) => ids.indexOf(id) !== index)")
    complaints += [f"the id {name} stands twice" for name in duplicates]
    lost = browser.execute_script(
        "return [...document.querySelectorAll('[aria-describedby], [aria-labelledby], [aria-errormessage], label[for]')]"
        ".flatMap((e) => ['aria-describedby', 'aria-labelledby', 'aria-errormessage', 'for']"
        ".flatMap((name) => (e.getAttribute(name) ?? '').split(' ').filter(Boolean)))"
        ".filter((id) => document.getElementById(id) === null)")
    complaints += [f"no element has the id {name}, which another one refers to" for name in lost]
    for tag, count in [("main", 1), ("h1", 1)]:
        if len(browser.find_elements(By.TAG_NAME, tag)) != count:
            complaints.append(f"the page has not exactly {count} {tag}")
    unnamed = browser.execute_script("return [...document.images].filter((i) => !i.hasAttribute('alt')).length")
    if unnamed:
        complaints.append(f"{unnamed} images have no alternative text")
    return complaints


def axe(browser):
    """What axe-core finds, in light and in dark."""
    script = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text()
    complaints = []
    for scheme in ["light", "dark"]:
        browser.colors(scheme)
        browser.execute_script(script)
        violations = browser.execute_async_script("axe.run().then((found) => arguments[0](found.violations))")
        complaints += [f"axe-core, {scheme}: {found['id']}: {found['help']}: {found['nodes'][0]['html'][:160]}" for found in violations]
    browser.colors("light")
    return complaints


def widths(browser):
    complaints = []
    for width in WIDTHS:
        browser.resize(width)
        browser.wait(f"a window of {width} pixels", lambda: browser.execute_script("return innerWidth") >= width)
        most, seen = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        if most > width or seen != width:
            complaints.append(f"the page is {most} pixels wide in a window of {width}, which shows {seen}")
        cut = browser.execute_script(
            "return [...document.querySelectorAll('header nav a')]"
            ".filter((link) => link.getBoundingClientRect().right > innerWidth).map((link) => link.textContent)")
        complaints += [f"in a window of {width} pixels the link {link} is cut" for link in cut]
    browser.resize(1280)
    return complaints


def links(browser):
    """What the page links to is there: chapters of the book, and what programs read."""
    found = browser.execute_async_script("""
        const links = [...document.querySelectorAll("header nav a")].map((link) => link.href);
        Promise.all(links.map(async (link) => [link, (await fetch(link)).status])).then(arguments[0]);
        """)
    complaints = [f"{link} answers {status}" for link, status in found if status != 200]
    if sum("/book/" in link for link, _ in found) < 3:
        complaints.append(f"the page hardly links to the book: {found}")
    return complaints


def own_files(browser):
    """Nothing was loaded from elsewhere."""
    origin, names = browser.execute_script(
        "return [location.origin, performance.getEntriesByType('resource').map((entry) => entry.name)]")
    return [f"the page loads {name}" for name in names if not name.startswith((origin + "/", f"blob:{origin}/"))]


def all_of(browser):
    return axe(browser) + names(browser) + contrast(browser) + widths(browser) + own_files(browser) + links(browser)
