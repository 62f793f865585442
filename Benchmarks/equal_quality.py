"""Measures what qualities give: the encoders' numbers that look alike in each size, and bytes at equal scores of SSIMULACRA2.

Photographs are asked for in several qualities; the reference is the same thumbnail as PNG. Bytes are relative to this build's JPEG, or to that of
another build (--against), and at equal distances of Butteraugli (3-norm), too, if libjxl's butteraugli_main is there.
"""
import argparse
import collections
import glob
import io
import os
import shutil
import subprocess
import tempfile

import numpy
from PIL import Image

import load
from run import FORMATS, Alula
from scores import Reference

# The encoders' numbers that are tried, in imgproxy's URLs, where they mean what they say.
NUMBERS = {"jpeg": (40, 60, 70, 80, 89), "webp": (33, 50, 66, 79, 88), "avif": (42, 53, 63, 72, 83), "jxl": (50, 64, 75, 87)}
LOOKS = (45, 60, 70, 80, 89)

Point = collections.namedtuple("Point", "number bytes score distance")


def answer(server, name, width, output, number):
    status, body = load.get(server.port, f"/i/unsafe/rs:fit:{width}:0/q:{number}/plain/photos:{name}@{output}", 600)
    if status != 200:
        raise SystemExit(f"{name} as {output}: {status} {body[:200]}")
    return body


def pixels(body, output, folder):
    """The pixels of a file, which is also left in the folder as PNG."""
    place = f"{folder}/pixels.png"
    if output == "jxl":
        with open(f"{folder}/file.jxl", "wb") as file:
            file.write(body)
        subprocess.run(["djxl", f"{folder}/file.jxl", place], check=True, capture_output=True)
        return numpy.asarray(Image.open(place).convert("RGB"))
    image = Image.open(io.BytesIO(body)).convert("RGB")
    image.save(place, compress_level=1)
    return numpy.asarray(image)


def curves(executable, options, names, width, formats):
    """Points by photograph and format."""
    made = {}
    settings = ["--imgproxy-path", "/i", "--access-log", "off", "--request-timeout", "10m", "--decode-timeout", "5m", "--max-queue-delay", "5m"]
    with tempfile.TemporaryDirectory(prefix="alula-equal-quality-") as folder:
        with open(f"{folder}/alula.json5", "w") as file:
            file.write(f'{{ origins: {{ photos: {{ folder: "{os.path.abspath(options.photos)}" }} }} }}')
        with Alula(executable, "--config", f"{folder}/alula.json5", *settings) as server:
            for name in names:
                reference = Reference(pixels(answer(server, name, width, "png", 100), "png", folder))
                shutil.copy(f"{folder}/pixels.png", f"{folder}/reference.png")
                for output in formats:
                    made[name, output] = []
                    for number in NUMBERS[output]:
                        body = answer(server, name, width, output, number)
                        score = reference.score(pixels(body, output, folder))
                        made[name, output].append(Point(number, numpy.log(len(body)), score, distance(folder)))
    return made


def distance(folder):
    if not shutil.which("butteraugli_main"):
        return numpy.nan
    command = ["butteraugli_main", f"{folder}/reference.png", f"{folder}/pixels.png"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return -float(text.rsplit("3-norm:", 1)[1])


def at(points, known, value, wanted):
    """What a curve has in column `wanted`, where `known` has the value; NaN if it does not reach so far."""
    rows = sorted((getattr(point, known), getattr(point, wanted)) for point in points)
    return numpy.interp(value, *zip(*rows), left=numpy.nan, right=numpy.nan)


def mean(values):
    known = [value for value in values if not numpy.isnan(value)]
    return numpy.mean(known) if 2 * len(known) > len(values) else numpy.nan


def print_looks(made, names, formats):
    """The encoders' numbers, and the bytes with them, of files that score as our JPEG of a quality."""
    for output in formats[1:]:
        cells = []
        for look in LOOKS:
            scores = [(name, at(made[name, "jpeg"], "number", look, "score")) for name in names]
            number = mean([at(made[name, output], "score", score, "number") for name, score in scores])
            ratio = mean([at(made[name, output], "score", score, "bytes") - at(made[name, "jpeg"], "score", score, "bytes")
                          for name, score in scores])
            cells.append(f"{look}: {number:.1f} ({numpy.exp(ratio):.3f})")
        print(f"| {output} | " + " | ".join(cells) + " |", flush=True)


def print_bytes(made, others, names, formats, scores):
    for output in formats:
        cells = []
        for score in scores:
            known = [(made[name, output], others[name, "jpeg"]) for name in names]
            ratio = mean([at(one, "score", score, "bytes") - at(other, "score", score, "bytes") for one, other in known])
            apart = [at(other, "score", score, "distance") for _, other in known]
            second = mean([at(one, "distance", far, "bytes") - at(other, "score", score, "bytes") for far, (one, other) in zip(apart, known)])
            cells.append(f"{numpy.exp(ratio):.3f}, {numpy.exp(second):.3f}")
        print(f"| {output} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alula", required=True)
    parser.add_argument("--against", help="another build, whose JPEG has the bytes 1")
    parser.add_argument("--photos", required=True)
    parser.add_argument("--widths", default="300,500,1000")
    parser.add_argument("--scores", default="65,75,80")
    parser.add_argument("--formats", default="webp,avif,jxl")
    parser.add_argument("--most", type=int, default=1000, help="number of photographs")
    options = parser.parse_args()
    formats, scores = ["jpeg", *options.formats.split(",")], [float(score) for score in options.scores.split(",")]
    for width in map(int, options.widths.split(",")):
        names = [os.path.basename(path) for path in sorted(glob.glob(os.path.join(options.photos, "*")))
                 if path.lower().endswith(FORMATS) and Image.open(path).mode == "RGB" and Image.open(path).width >= 1.2 * width][:options.most]
        made = curves(os.path.abspath(options.alula), options, names, width, formats)
        others = curves(os.path.abspath(options.against), options, names, width, ["jpeg"]) if options.against else made
        print(f"\n{len(names)} photographs → {width}: number of the encoder that looks as JPEG of a quality, and its bytes\n")
        print_looks(made, names, formats)
        print(f"\nbytes at scores of {options.scores}, and at the distance that JPEG has there\n")
        print_bytes(made, others, names, formats, scores)


if __name__ == "__main__":
    main()
