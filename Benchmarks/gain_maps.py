"""Measures how far answers with a gain map are from their sources at full headroom.

Photographs become Ultra HDR sources: gains of up to three stops, steep, so that leaves and gravel alternate between none and all. The reference is
the source's light at full headroom, averaged over the area of each pixel of the answer. Maps are interpolated between the centres of their samples,
as browsers and telephones do. libultrahdr takes their corners, so that its difference is told where the map has the answer's size. Differences are
the sum of absolute ones in % of all light.
"""
import argparse
import glob
import io
import os
import re
import struct
import subprocess
import tempfile

import imagecodecs
import numpy
from PIL import Image

STOPS = 3
NAMES = "GainMapMin GainMapMax Gamma OffsetSDR OffsetHDR HDRCapacityMin HDRCapacityMax".split()


def light(pixels):
    value = pixels / 255
    return numpy.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def averaged(image, height, width):
    """The mean over the area of each pixel of a smaller image, in floating point."""
    def weights(whole, count):
        edges = numpy.arange(count + 1) * whole / count
        start = numpy.arange(whole)
        shares = numpy.minimum(edges[1:, None], start + 1) - numpy.maximum(edges[:-1, None], start)
        return numpy.maximum(shares, 0) * count / whole

    down, across = weights(image.shape[0], height), weights(image.shape[1], width)
    return numpy.stack([down @ image[..., band] @ across.T for band in range(3)], -1)


def jpeg(image, **options):
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return file.getvalue()


def packet(rest):
    text = ("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description "
            f"xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0' {rest}</rdf:Description></rdf:RDF></x:xmpmeta>")
    contents = b"http://ns.adobe.com/xap/1.0/\0" + text.encode()
    return b"\xff\xe1" + struct.pack(">H", len(contents) + 2) + contents


def ultra_hdr(photo, scale):
    """A photograph as an Ultra HDR file whose map has sides of this share."""
    image = Image.open(photo)
    base = jpeg(image, quality="keep", exif=b"", icc_profile=None)
    tone = numpy.clip((numpy.sqrt(light(numpy.asarray(image, float)) @ [0.2126, 0.7152, 0.0722]) - 0.45) / 0.35, 0, 1)
    gains = averaged(numpy.stack([tone * tone * (3 - 2 * tone)] * 3, -1), image.height // scale, image.width // scale)[..., 0]
    gain_map = jpeg(Image.fromarray(numpy.rint(255 * gains).astype(numpy.uint8)), quality=95)
    values = zip(NAMES, (0, STOPS, 1, 1 / 64, 1 / 64, 0, STOPS))
    gain_map = gain_map[:2] + packet(" ".join(f"hdrgm:{name}='{value}'" for name, value in values) + ">") + gain_map[2:]
    item = "<rdf:li rdf:parseType='Resource'><Container:Item Item:Mime='image/jpeg' "
    directory = ("xmlns:Container='http://ns.google.com/photos/1.0/container/' xmlns:Item='http://ns.google.com/photos/1.0/container/item/'>"
                 f"<Container:Directory><rdf:Seq>{item}Item:Semantic='Primary'/></rdf:li>"
                 f"{item}Item:Semantic='GainMap' Item:Length='{len(gain_map)}'/></rdf:li></rdf:Seq></Container:Directory>")
    return base[:2] + packet(directory) + base[2:] + gain_map


def parts(file):
    """The two files of an Ultra HDR file."""
    count = int(re.search(rb"Item:Length=['\"](\d+)", file)[1])
    return file[:-count], file[-count:]


def metadata(file):
    text = parts(file)[1]
    return [float(re.search(rf"hdrgm:{name}=['\"]([^'\"]+)".encode(), text)[1]) for name in NAMES]


def enlarged(samples, count):
    """More samples along the first axis."""
    place = numpy.clip((numpy.arange(count) + 0.5) * len(samples) / count - 0.5, 0, len(samples) - 1)
    first = place.astype(int)
    share = (place - first)[:, None]
    return samples[first] * (1 - share) + samples[numpy.minimum(first + 1, len(samples) - 1)] * share


def samples_of_map(file):
    return numpy.asarray(Image.open(io.BytesIO(parts(file)[1])), float)


def bright(file):
    """The light at full headroom, and that of the image alone."""
    base = shown(parts(file)[0])
    samples = samples_of_map(file) / 255
    gains = enlarged(enlarged(samples, base.shape[0]).T, base.shape[1]).T
    return (base + 1 / 64) * 2 ** (STOPS * gains[..., None]) - 1 / 64, base


def shown(file):
    return light(numpy.asarray(Image.open(io.BytesIO(file)).convert("RGB"), float))


def difference(one, other):
    return 100 * abs(one - other).sum() / other.sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alula", required=True)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--names", default="*.jpg", help="which of them, as a pattern")
    parser.add_argument("--widths", default="300,500,1200")
    parser.add_argument("--qualities", default="80,95")
    parser.add_argument("--scales", default="1,4", help="pixels of the image for a sample of the map, on each side")
    options = parser.parse_args()
    print("| photograph, map | width | q | difference | by libultrahdr | of the base alone | bytes | of them the map |\n" + 8 * "|---" + "|")
    worst = {}
    for photo in sorted(glob.glob(f"{options.photos}/{options.names}")):
        with Image.open(photo) as image:
            if image.format != "JPEG" or image.mode != "RGB" or not 1_500 <= image.width <= 4_000:
                continue
        for scale in map(int, options.scales.split(",")):
            source = ultra_hdr(photo, scale)
            with tempfile.TemporaryDirectory(prefix="alula-gains-") as folder:
                with open(f"{folder}/source.jpg", "wb") as file:
                    file.write(source)
                whole = bright(source)
                for width in map(int, options.widths.split(",")):
                    reference = None
                    for quality in map(int, options.qualities.split(",")):
                        command = f"{options.alula} batch - --output {folder}/out --w {width} --q {quality} --hdr keep --format jpeg --force"
                        subprocess.run(command.split(), check=True, capture_output=True, text=True, input=f"{folder}/source.jpg")
                        with open(f"{folder}/out/source.jpg", "rb") as file:
                            answer = file.read()
                        assert metadata(answer) == metadata(source), "other metadata"
                        made, base = bright(answer)
                        seen = imagecodecs.ultrahdr_decode(answer)[..., :3].astype(float)
                        if reference is None:
                            reference = [averaged(image, *made.shape[:2]) for image in whole]
                        found, alone = difference(made, reference[0]), difference(base, reference[1])
                        worst[width, quality] = max(worst.get((width, quality), 0), found)
                        other = f"{difference(seen, reference[0]):.1f}" if samples_of_map(answer).shape == made.shape[:2] else ""
                        name = os.path.splitext(os.path.basename(photo))[0]
                        print(f"| {name}, {scale} | {width} | {quality} | {found:.1f} | {other} | {alone:.1f} | {len(answer):,} | {len(parts(answer)[1]):,} |", flush=True)
    for (width, quality), found in sorted(worst.items()):
        print(f"worst at {width} px, q {quality}: {found:.2f} %")


if __name__ == "__main__":
    main()
