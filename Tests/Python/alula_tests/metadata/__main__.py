"""Fills images with all metadata that exiftool writes, and looks with exiftool for what answers still have of it."""
import argparse
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

from PIL import Image, ImageDraw

from alula_tests.service import Service

SOURCES = {"jpeg": "jpg", "png": "png", "webp": "webp", "tiff": "tif", "avif": "avif", "jxl": "jxl", "gif": "gif"}
FORMATS = ["jpeg", "png", "webp", "avif", "jxl", "gif"]
KEPT = ["none", "ai", "rights", "rights,ai"]
BOXES = ["w=64", "w=48&h=48&fit=cover", "w=40&rotate=90"]
# Every value has it, so that no other text of an answer is taken for metadata.
MARK = "Kept"
AI = {"XMP-iptcExt:DigitalSourceType", "XMP-iptcExt:AISystemUsed", "XMP-iptcExt:AIPromptInformation"}
RIGHTS = {"XMP-dc:Creator", "XMP-dc:Rights", "XMP-photoshop:Credit", "XMP-xmpRights:UsageTerms", "XMP-xmpRights:WebStatement",
          "XMP-plus:LicensorURL", "IFD0:Artist", "IFD0:Copyright"}
# Fewer mean that exiftool did not write them.
LEAST_TAGS = {"tif": 100} | dict.fromkeys(["jpg", "png", "webp", "avif", "jxl", "gif"], 1_000)
# What files say about themselves: their structure, and the profile of wide colors.
GROUPS = re.compile(r"(ExifTool|System|File|Composite|JFIF|Adobe|ICC[-_].*|ICC_Profile|PNG.*|RIFF|GIF|JXL|Jpeg2000|QuickTime|Meta|Track\d*|VP8.*|APNG)$")
STRUCTURE = {"IFD0:YCbCrPositioning", "XMP-x:XMPToolkit", "ExifIFD:ExifVersion"}


def writable():
    """All tags with their groups, as exiftool lists them."""
    for group in ("EXIF", "IPTC", "XMP", "Photoshop", "GPS"):
        listed = subprocess.run(["exiftool", "-s", "-listw", f"-{group}:All"], capture_output=True, text=True, check=True).stdout
        yield from ((group, name) for line in listed.splitlines() if line.startswith("  ") for name in line.split())


def fill(path, options):
    """The values that a tag does not take are dropped."""
    subprocess.run(["exiftool", "-q", "-q", "-m", "-overwrite_original", "-@", options, path], capture_output=True, check=False)
    read = subprocess.run(["exiftool", "-j", "-G1", "-a", path], capture_output=True, text=True, check=True)
    return len(json.loads(read.stdout)[0])


def make_sources(alula, folder):
    """Images by format, and the number of their tags."""
    image = Image.new("RGB", (160, 120), "navy")
    draw = ImageDraw.Draw(image)
    for x in range(0, 160, 8):
        draw.ellipse([x, x % 90, x + 40, x % 90 + 30], fill=(x, 200 - x, 90))
    options = folder / "options"
    lines = [f"-{group}:{name}={MARK} {name}" for group, name in writable()]
    lines += ["-GPSLatitude=48.1", "-GPSLatitudeRef=N", "-GPSLongitude=11.5", "-GPSLongitudeRef=E", "-Orientation#=6",
              f"-XMP-plus:Licensor={{LicensorURL=https://example.com/{MARK},LicensorName={MARK} licensor}}",
              "-XMP-iptcExt:DigitalSourceType=http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia",
              f"-XMP-iptcExt:AISystemUsed={MARK} system", f"-XMP-iptcExt:AIPromptInformation={MARK} prompt"]
    options.write_text("\n".join(lines) + "\n")
    preview = folder / "preview.jpg"
    image.resize((64, 48)).save(preview)
    made = {}
    for name, suffix in SOURCES.items():
        path = folder / f"a.{suffix}"
        if path.suffix in Image.registered_extensions():
            image.save(path)
        else:
            subprocess.run([alula, "thumbnail", folder / "a.png", "--format", name, "-o", path], check=True, capture_output=True)
        subprocess.run(["exiftool", "-q", "-q", "-overwrite_original", f"-ThumbnailImage<={preview}", path], capture_output=True, check=False)
        made[path.name] = fill(path, options)
    return made


def answers(service, names):
    for name, kept, form, box in itertools.product(names, KEPT, FORMATS, BOXES):
        query = f"url={urllib.parse.quote(f'm:{name}')}&format={form}&keepMetadata={kept}&{box}"
        with urllib.request.urlopen(f"{service.url}/thumbnail?{query}") as answer:
            yield f"{name} as {form}, keepMetadata={kept}, {box}", kept, form, answer.read()


def faults(folder, files):
    """What answers have that the list does not name."""
    read = subprocess.run(["exiftool", "-j", "-G1", "-a", "-u", "-U", "-ee", "-api", "LargeFileSupport=1", folder], capture_output=True, text=True,
                          check=True)
    for tags in json.loads(read.stdout):
        name, kept, form, body = files[pathlib.Path(tags["SourceFile"]).name]
        allowed = (AI if "ai" in kept else set()) | (RIGHTS if "rights" in kept else set())
        if form == "gif":
            allowed = set()
        for tag, value in tags.items():
            group = tag.partition(":")[0]
            if MARK in str(value) and tag not in allowed:
                yield f"{name}: {tag} = {value!r}"
            elif tag not in allowed | STRUCTURE and tag != "SourceFile" and not GROUPS.match(group):
                yield f"{name}: {tag} = {value!r}"
        values = "".join(str(tags[tag]) for tag in allowed if tag in tags)
        if body.count(MARK.encode()) > 2 * values.count(MARK):
            yield f"{name}: {body.count(MARK.encode())} marks in its bytes, {values.count(MARK)} in the tags that may be kept"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True)
    arguments = parser.parse_args()
    if not shutil.which("exiftool"):
        print("skipped: answers' metadata, because exiftool is not installed")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "sources").mkdir()
        (folder / "answers").mkdir()
        made = make_sources(arguments.alula, folder / "sources")
        settings = folder / "settings.json"
        settings.write_text(json.dumps({"origins": {"m": {"folder": str(folder / "sources")}}}))
        files = {}
        formats = "jpeg,png,webp,tiff,avif,jxl,gif"
        with Service(arguments.alula, "--config", str(settings), "--source-formats", formats) as service:
            for number, answer in enumerate(answers(service, made)):
                name = f"{number}.{SOURCES[answer[2]]}"
                files[name] = answer
                (folder / "answers" / name).write_bytes(answer[3])
        found = list(faults(folder / "answers", files))
        found += [f"{name}: exiftool wrote {count} tags" for name, count in made.items() if count < LEAST_TAGS[name.partition(".")[2]]]
        kept = sum(MARK.encode() in body for *_, body in files.values())
        for form in set(FORMATS) - {"gif"}:
            if not any(MARK.encode() in body for _, wish, of, body in files.values() if (of, wish) == (form, "rights,ai")):
                found.append(f"{form}: no answer keeps what keepMetadata=rights,ai names")
    print(f"{len(files)} answers of sources with {', '.join(f'{count} tags ({name})' for name, count in made.items())}; {kept} keep some")
    for fault in found[:40]:
        print(fault)
    if found or not kept:
        sys.exit(f"{len(found)} tags that no list names" if found else "no answer keeps anything, not even what may be kept")


if __name__ == "__main__":
    main()
