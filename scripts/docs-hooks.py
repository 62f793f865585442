"""Hooks of MkDocs: images from the running service, pages from outside docs/, and patterns in the navigation."""
import fnmatch
import hashlib
import html
import os
import pathlib
import re
import urllib.parse
import urllib.request

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

# The thumbnail that `alula serve --demo` prints, without its parameters: scripts/build-docs sets it.
THUMBNAIL = os.environ["ALULA_THUMBNAIL"]
# The same of a second service, which makes the sources and watermarks of examples.
SOURCES = os.environ["ALULA_SOURCES"]
# Files outside docs/ that belong to the site.
OUTSIDE = {"ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "openapi.yaml": "openapi.yaml"}
# The folder of screenshots.
SCREENSHOTS = pathlib.Path(os.environ["ALULA_SCREENSHOTS"])
SCREENSHOT = re.compile(r"^```screenshot\n(\w+)\n```$", re.M)
EXAMPLE = re.compile(r"^```thumbnail\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#:]+)(#[^)]*)?\)")

STYLE = """
figure.alula { display: inline-block; vertical-align: top; margin: 0 1.2rem 1.2rem 0; max-width: 100%; }
figure.alula img { display: block; max-width: 100%; height: auto; margin: 0; }
figure.alula figcaption { display: block; max-width: 13rem; margin: 0.3rem 0 0; font-style: normal; text-align: left; overflow-wrap: anywhere; }
.md-typeset table code { white-space: nowrap; }
.md-typeset h1, .md-typeset h2 { color: inherit; font-weight: 600; }
"""


def on_files(files, config):
    root = pathlib.Path(config.docs_dir).parent
    for name, place in OUTSIDE.items():
        text = (root / name).read_text()
        files.append(File.generated(config, place, content=_from_root(text) if name.endswith(".md") else text))
    files.append(File.generated(config, "gallery.css", content=STYLE))
    for path in SCREENSHOTS.glob("*.png"):
        files.append(File.generated(config, f"page-{path.name}", content=path.read_bytes()))
    _make_images(files, config)
    _complete_navigation(files, config)
    return files


def _from_root(text):
    """A page from outside docs/ with its links rewritten for docs/."""
    def moved(link):
        label, target, anchor = link[1], link[2], link[3] or ""
        if target.startswith("docs/") and target.endswith(".md"):
            return f"[{label}]({target.removeprefix('docs/')}{anchor})"
        return f"[{label}](../{target}{anchor})"

    return LINK.sub(moved, text)


def on_page_markdown(markdown, page, **_):
    """Examples and screenshots become their images. Links outside the site become plain text."""
    depth = page.file.src_uri.count("/")

    def linked(link):
        label, target, anchor = link[1], link[2], link[3] or ""
        outside = "../" * (depth + 1)
        if not target.startswith(outside):
            return link[0]
        place = OUTSIDE.get(target.removeprefix(outside))
        return f"[{label}]({'../' * depth}{place}{anchor})" if place else label

    markdown = SCREENSHOT.sub(lambda found: f"![The page for {found[1].rstrip('s')}s](page-{found[1]}.png)", markdown)
    return EXAMPLE.sub(lambda found: _figure(found[1]), LINK.sub(linked, markdown))


def _figure(example):
    query, name = example.splitlines()[0], _name(example)
    size = _sizes[name]
    caption = html.escape(query).replace("&amp;", "&amp;<wbr>")
    return (f'<figure class="alula"><img src="{name}" width="{size[0]}" height="{size[1]}" loading="lazy" '
            f'alt="The sample image with {html.escape(query)}"><figcaption><code>{caption}</code><br>'
            f'{size[0]}×{size[1]}, {size[2]:,} bytes</figcaption></figure>')


def _name(example):
    return f"gallery-{hashlib.sha256(example.encode()).hexdigest()[:12]}.{_format(example)}"


def _format(example):
    return dict(urllib.parse.parse_qsl(example.splitlines()[0])).get("format", "webp")


_sizes = {}


def _make_images(files, config):
    for path in pathlib.Path(config.docs_dir).glob("*.md"):
        for example in EXAMPLE.findall(path.read_text()):
            content, size = _answer(example)
            _sizes[_name(example)] = (*size, len(content))
            files.append(File.generated(config, _name(example), content=content))


def _answer(example):
    """The image of an example, and its size. Further lines name the source and the watermark."""
    query, *more = example.splitlines()
    inner = dict(line.split(" ", 1) for line in more)
    target = THUMBNAIL
    if "from" in inner:
        source = urllib.parse.quote(f"{SOURCES}&{inner.pop('from')}", safe="")
        target = f"{THUMBNAIL.partition('?')[0]}?url={source}"
    if "mark" in inner:
        query += "&watermark=" + urllib.parse.quote(f"{SOURCES}&{inner.pop('mark')}", safe="")
    if inner:
        raise PluginError(f"an example has lines that mean nothing: {inner}")
    content = _get(f"{target}&{query}&format={_format(example)}" if "format=" not in query else f"{target}&{query}")
    # A PNG of the same request has the size in its header.
    same = re.sub(r"&(format|q|maxBytes)=[^&]*", "", f"&{query}")
    header = _get(f"{target}{same}&format=png")[16:24]
    return content, (int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big"))


def _get(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        raise PluginError(f"the service refused {url}: {error.read().decode()}") from None


def _complete_navigation(files, config):
    """Expands patterns, and appends the pages that neither the navigation nor `not_in_nav` names."""
    pages = sorted(file.src_uri for file in files.documentation_pages())

    def expand(item):
        if isinstance(item, dict):
            return [{title: [page for page in pages if fnmatch.fnmatch(page, inner)] if isinstance(inner, str) and "*" in inner
                     else [part for entry in inner for part in expand(entry)] if isinstance(inner, list) else inner}
                    for title, inner in item.items()]
        return [item]

    def named(items):
        for item in items:
            if isinstance(item, dict):
                for inner in item.values():
                    yield from named(inner) if isinstance(inner, list) else [inner]
            else:
                yield item

    config.nav = [part for item in config.nav for part in expand(item)]
    known = set(named(config.nav))
    config.nav += [page for page in pages if page not in known and not config.not_in_nav.match_file(page)]
