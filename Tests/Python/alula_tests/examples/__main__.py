"""Runs the programs of examples/ against the running service, checks the HTML that they write, and compares hashes with those of the
reference programs."""
import argparse
import html.parser
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

import blurhash
import thumbhash
from PIL import Image

from alula_tests.images import gradient_png
from alula_tests.origins import ImageHandler, serving
from alula_tests.service import Service

EXAMPLES = pathlib.Path(__file__).resolve().parents[4] / "examples"
SIZE = (2000, 320)
WIDTHS = [320, 640, 1280, 1920]
# Columns and rows of BlurHashes that are compared.
COMPONENTS = [(4, 3), (1, 1), (9, 9), (3, 7)]


class Elements(html.parser.HTMLParser):
    """The elements of a file in their order, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))


def files_complaints(folder, srcset, kind):
    """What is wrong with the files that a srcset names."""
    complaints = []
    entries = [entry.split(" ") for entry in srcset.split(", ")]
    if [entry[1] for entry in entries] != [f"{width}w" for width in WIDTHS]:
        complaints.append(f"the srcset {srcset}")
    for name, width in entries:
        with Image.open(folder / name) as image:
            if image.format != kind or f"{image.width}w" != width:
                complaints.append(f"{name} is {image.format} of {image.size}")
    return complaints


def complaints_of(folder):
    """What is wrong with the HTML in a folder, and with the files that it names."""
    elements = Elements((folder / "picture.html").read_text()).elements
    if [tag for tag, _ in elements] != ["picture", "source", "img"]:
        return [f"the elements {elements}"]
    source, image = elements[1][1], elements[2][1]
    complaints = files_complaints(folder, source["srcset"], "WEBP") + files_complaints(folder, image["srcset"], "JPEG")
    if source["type"] != "image/webp" or (image["width"], image["height"]) != tuple(map(str, SIZE)):
        complaints.append(f"the attributes {source} {image}")
    if not (folder / image["src"]).exists() or not re.match("background: #[0-9a-f]{6};", image["style"]):
        complaints.append(f"the placeholder {image}")
    if not blurhash.is_valid_blurhash(image["data-blurhash"]):
        complaints.append(f"the BlurHash {image['data-blurhash']}")
    return complaints


def hash_complaints(service, source):
    """Where hashes differ from those of the reference programs for the pixels that the service computes them from."""
    source = urllib.parse.quote(source, safe="")
    with urllib.request.urlopen(f"{service}/thumbnail?url={source}&w=100&h=100&format=png") as answer:
        small = Image.open(io.BytesIO(answer.read()))
        small.load()
    complaints = []
    for columns, rows in COMPONENTS:
        query = f"url={source}&include=blurhash,thumbhash&components={columns}x{rows}"
        with urllib.request.urlopen(f"{service}/info?{query}") as answer:
            found = json.load(answer)
        expected = {"thumbHash": thumbhash.image_to_thumbhash(small.copy())}
        if small.mode == "RGB":
            expected["blurHash"] = blurhash.encode(small.copy(), columns, rows)
        complaints += [f"{name} of {source} with {columns}x{rows} is {found[name]}, the reference has {value}"
                       for name, value in expected.items() if found[name] != value]
    return complaints


class Images(ImageHandler):
    """Answers with the file of a path's name."""
    files = {}

    def find(self, path):
        return ("image/png", self.files[path]) if path in self.files else None


# Names and values that every signer must encode in its own way and sign as they stand.
SIGNED = [["w=300"], ["w=300", "h=200", "fit=cover", "background=#00ff00"], ["preset=a b", "expires=4102444800"],
          ["w=300", "key=shop-2026-11"], []]


def signer_complaints(alula, name, command):
    """Where a signer's target differs from the one that `alula sign` makes of it."""
    key, complaints = "6b6579" * 12, []
    for parameters in SIGNED:
        source = "https://example.com/a b+c/ü.jpg?d=1&e=%26"
        made = subprocess.run([*command, key, source, *parameters], capture_output=True, text=True, timeout=300)
        target = made.stdout.strip()
        signed = subprocess.run(
            [alula, "sign", "--key", key, target.rpartition("&sig=")[0]], capture_output=True, text=True, timeout=60)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(target.replace("+", "%2B")).query)
        if made.returncode or signed.stdout.strip() != target or query.get("url") != [source]:
            complaints.append(f"{name}: {target}{made.stderr}, alula sign: {signed.stdout.strip()}{signed.stderr}")
    return complaints


def body_complaints(alula, name, command):
    """Where a signer signs a body differently from `alula sign`, or takes another body for one with its signature."""
    key, target, body = "6b6579" * 12, "/jobs?w=300&name=a%20b", b'{"done": true}\n\xff\0'
    with tempfile.NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        expected = subprocess.run(
            [alula, "sign", "--key", key, "--body", file.name, target], capture_output=True, text=True, timeout=60).stdout.strip()
    made = subprocess.run([*command, "--post", key, target], input=body, capture_output=True, timeout=300)
    complaints = [] if made.stdout.decode().strip() == expected else [f"{name}: {made}, alula sign: {expected}"]
    for received, signature, status in [
            (body, expected, 0), (body + b" ", expected, 1), (body, expected[:-1] + "~", 1), (body, "x", 1)]:
        found = subprocess.run([*command, "--verify", key, target, signature], input=received, capture_output=True, timeout=300)
        if found.returncode != status or b"Error" in found.stderr:
            complaints.append(f"{name}: {signature} of {received} ended with {found}")
    return complaints


# Prints the URLs that the files of examples/frontend/ make, as JSON.
FRONT_ENDS = """
const [folder, service, source] = process.argv.slice(1);
process.env.NEXT_PUBLIC_ALULA = process.env.ALULA_URL = service;
const { default: loader } = await import(`${folder}/next-loader.mjs`);
const { getImage } = await import(`${folder}/nuxt-provider.mjs`);
const { default: astro } = await import(`${folder}/astro-service.mjs`);
const { transform } = await import(`${folder}/unpic.mjs`);
const { image } = await import(`${folder}/srcset.mjs`);
const modifiers = { width: 300, height: 200, fit: "cover", format: "webp", quality: 50, densities: "x1" };
const set = image(service, source).replaceAll("&#38;", "&").match(/srcset="([^"]*)"/)[1].split(", ");
const own = { src: { src: source, width: 400, height: 320, format: "png" }, alt: 'a "b"', class: "c" };
const astroSet = astro.getSrcSet({ ...own, width: 100, densities: [1, 2], format: "webp", quality: "low" });
const { deepStrictEqual } = await import("node:assert");
const shown = { loading: "lazy", decoding: "async", alt: own.alt, class: "c", width: 100, height: 80 };
deepStrictEqual(astro.getHTMLAttributes({ ...own, width: 100, quality: "high", fit: "cover" }), shown);
deepStrictEqual(astro.getHTMLAttributes({ ...own, loading: "eager" }), { ...shown, loading: "eager", width: 400, height: 320 });
deepStrictEqual(astroSet.map(({ transform, descriptor }) => [descriptor, transform.width, transform.height]),
  [["1x", 100, 80], ["2x", 200, 160]]);
deepStrictEqual(astro.getSrcSet({ ...own, widths: [100, 800] }).map(({ descriptor }) => descriptor), ["100w"]);
deepStrictEqual(image("https://a", "b", { widths: [1], alt: `"><script>'&`, width: 4, height: 3 }),
  '<img src="https://a/thumbnail?url=b&#38;w=1" srcset="https://a/thumbnail?url=b&#38;w=1 1w" sizes="100vw" '
  + 'alt="&#34;&#62;&#60;script&#62;&#39;&#38;" width="4" height="3" loading="lazy">');
console.log(JSON.stringify([
  ["next", 640, loader({ src: source, width: 640, quality: 75 })],
  ["nuxt", 300, getImage(source, { modifiers, baseURL: service }).url],
  ["astro", 300, astro.getURL({ src: source, ...modifiers })],
  ["astro", 200, astro.getURL({ src: { src: source, width: 2000, height: 320, format: "png" }, width: 200, format: "webp" })],
  ["astro", 150, astro.getURL({ src: source, width: 150, height: 150, fit: "contain", quality: "max", background: "#fa0" })],
  ...astroSet.map(({ transform }) => ["astro", transform.width, astro.getURL(transform)]),
  ["nuxt", 90, getImage(source, { modifiers: { width: 90, blur: 200, background: "#ff8800" }, baseURL: service }).url],
  ["unpic", 300, transform(source, { ...modifiers, width: 300.4 }, { baseURL: service })],
  ...set.map((entry) => entry.split(" ")).map(([url, width]) => ["srcset", parseInt(width), url]),
]));
"""


def front_end_complaints(service, source):
    """Which URLs of examples/frontend/ are not answered by an image of the width that they name."""
    made = subprocess.run(
        ["node", "--input-type=module", "--eval", FRONT_ENDS, EXAMPLES / "frontend", service, source],
        capture_output=True, text=True, timeout=60)
    if made.returncode:
        return [f"examples/frontend: {made.stderr}"]
    complaints = []
    for name, width, url in json.loads(made.stdout):
        with urllib.request.urlopen(url) as answer, Image.open(io.BytesIO(answer.read())) as image:
            if image.width != width:
                complaints.append(f"{name}: {url} is {image.size}")
    return complaints


def half_transparent():
    """A circle of two colors with soft edges."""
    image = Image.radial_gradient("L").resize((160, 120))
    result = Image.merge("RGBA", [image, image.rotate(90), image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), image])
    file = io.BytesIO()
    result.save(file, "PNG")
    return file.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--swift", help="the compiled AlulaClientExample")
    parser.add_argument("--mono", help="Upload.cs, compiled for Mono")
    options = parser.parse_args()
    wide = gradient_png(*SIZE)
    Images.files = {"/wide.png": wide, "/tall.png": gradient_png(90, 333), "/partly.png": half_transparent()}
    programs = {"upload.py": [sys.executable, EXAMPLES / "upload.py"], "upload.sh": [EXAMPLES / "upload.sh"],
                "upload.mjs": ["node", EXAMPLES / "upload.mjs"]}
    if options.swift:
        programs["AlulaClientExample"] = [options.swift]
    if options.mono:
        programs["Upload.cs"] = ["mono", options.mono]
    complaints = []
    with tempfile.TemporaryDirectory() as folder, Service(options.alula, "--uploads", "on") as service, \
            serving(Images) as port:
        folder = pathlib.Path(folder)
        (folder / "photo.png").write_bytes(wide)
        for name, command in programs.items():
            ended = subprocess.run(
                [*command, folder / "photo.png", folder / name, service.url], capture_output=True, text=True, timeout=600)
            if ended.returncode != 0:
                complaints.append(f"{name}: {ended.stdout}{ended.stderr}")
                continue
            print(f"{name}: {ended.stdout.strip()}")
            complaints += [f"{name}: {complaint}" for complaint in complaints_of(folder / name)]
        complaints += front_end_complaints(service.url, f"http://127.0.0.1:{port}/wide.png")
        for path in Images.files:
            complaints += hash_complaints(service.url, f"http://127.0.0.1:{port}{path}")
        complaints += service.stop()
    signers = {"sign.py": [sys.executable], "sign.mjs": ["node"], "sign.php": ["php"], "sign.rb": ["ruby"],
               "sign.go": ["go", "run"]}
    for name, interpreter in signers.items():
        command = [*interpreter, EXAMPLES / name]
        complaints += signer_complaints(options.alula, name, command) + body_complaints(options.alula, name, command)
    print(f"{len(programs)} examples, {len(signers)} signers, {len(Images.files) * len(COMPONENTS)} hashes of either kind")
    for complaint in complaints:
        print("FAILED:", complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
