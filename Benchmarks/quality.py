"""Judges how good results look: SSIMULACRA2 of both lanes, nginx's image_filter and thumbor.

The reference is a full decode of the source, resampled in linear light with Lanczos 3 by Pillow, in floating point.
100 is the reference itself; the scores of one image compare with each other.
"""
import argparse
import glob
import os
import shutil
import statistics
import subprocess
import tempfile

import numpy
from PIL import Image

import load
from scores import Reference as Pixels
import sources
from processes import free_port, nginx
from servers import image_filter, thumbor

FORMATS = (".jpg", ".jpeg")


def light(values):
    """Linear light, 0…1, of sRGB components of 8 bits."""
    values = values.astype(numpy.float32) / 255
    return numpy.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def components(values):
    """sRGB components of 8 bits of linear light."""
    values = numpy.clip(values, 0, 1)
    values = numpy.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)
    return numpy.rint(values * 255).astype(numpy.uint8)


class Reference:
    """One source, resampled to the sizes of the requests."""

    def __init__(self, path):
        self.light = light(numpy.asarray(upright(path)))
        self.sizes = {}

    def score(self, result):
        image = Image.open(result)
        size = image.size
        if size not in self.sizes:
            bands = [Image.fromarray(numpy.ascontiguousarray(self.light[:, :, band])) for band in range(3)]
            resized = numpy.stack([numpy.asarray(band.resize(size, Image.LANCZOS)) for band in bands], 2)
            self.sizes[size] = Pixels(components(resized))
        return self.sizes[size].score(numpy.asarray(image.convert("RGB")))


def upright(path):
    """The image in RGB, turned as EXIF says."""
    image = Image.open(path)
    orientation = image.getexif().get(0x0112, 1)
    turn = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_270, 8: Image.Transpose.ROTATE_90}.get(orientation)
    image = image.convert("RGB")
    return image.transpose(turn) if turn is not None else image


def lane_variants(options):
    """Both lanes by either kind of light, and the planar lane with other margins: name and arguments."""
    variants = [(f"{light} {lane}", ["--resample", light, "--lane", lane])
                for light in ("gamma", "linear") for lane in ("planar", "vips")]
    for margin in options.margins.split(",") if options.margins else []:
        variants.append((f"planar, margin {margin}", ["--lane", "planar", "--margin", margin]))
    return variants


def lanes_results(lanes, variants, path, width, folder):
    """The results of lanes by the variants' names."""
    results = {}
    for name, arguments in variants:
        place = f"{folder}/{name}"
        os.makedirs(place, exist_ok=True)
        subprocess.run(
            [lanes, "--rounds", "0", "--quality", "80", *arguments, "--write", place, str(width), path],
            check=True, stdout=subprocess.DEVNULL)
        results[name] = f"{place}/{os.path.basename(path)}-{width}-{arguments[arguments.index('--lane') + 1]}.jpg"
    return results


def least_distance(lanes, paths, folder):
    """The least difference between the planar lane's scores and the libvips lane's."""
    variants = [(lane, ["--lane", lane]) for lane in ("planar", "vips")]
    distances = []
    for path in paths:
        reference = Reference(path)
        for width in (300, 600):
            scores = {lane: reference.score(file)
                      for lane, file in lanes_results(lanes, variants, path, width, folder).items()}
            print(f"SSIMULACRA2, {os.path.basename(path)} → {width}: "
                  + ", ".join(f"{lane} {score:.1f}" for lane, score in scores.items()), flush=True)
            distances.append(scores["planar"] - scores["vips"])
    return min(distances)


def fetched(server, path, folder):
    """The file that a server answers with; None if it refuses."""
    status, body = load.get(server.port, path)
    if status != 200 or not body:
        return None
    place = f"{folder}/{server.name}.jpg"
    with open(place, "wb") as file:
        file.write(body)
    return place


def judge(options, paths, width, folder, origin):
    """Scores by source and by the maker of the result."""
    others = [(name, start(width), path) for name, start, path in
              (image_filter(folder, origin), thumbor(folder, origin, options.venv)) if start]
    scores = {}
    try:
        for path in paths:
            name = os.path.basename(path)
            reference = Reference(path)
            results = lanes_results(options.lanes, lane_variants(options), path, width, folder)
            for other, server, target in others:
                results[other] = fetched(server, target(width, name), folder)
            scores[name] = {by: reference.score(file) for by, file in results.items() if file}
            if len(scores) == 1:
                print_head(scores[name])
            print_row(name, width, scores[name])
    finally:
        for _, server, _ in others:
            server.stop()
    return scores


def print_head(row):
    print(f"\n| source | width | {' | '.join(row)} |\n|---|---|{'---|' * len(row)}", flush=True)


def print_row(name, width, row):
    print(f"| {name} | {width} | " + " | ".join(f"{score:.1f}" for score in row.values()) + " |", flush=True)


def print_table(options, title, paths, widths, folder, origin):
    """One table; least distance of the planar lane to the libvips lane."""
    print(f"\n{title}")
    least = 100
    for width in widths:
        scores = judge(options, paths, width, folder, origin)
        columns = list(next(iter(scores.values())))
        for kind in (statistics.mean, statistics.median):
            print_row(kind.__name__, width, {
                by: kind([row[by] for row in scores.values() if by in row]) for by in columns})
        least = min([least] + [row["gamma planar"] - row["gamma vips"] for row in scores.values()])
    return least


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanes", required=True)
    parser.add_argument("--photo")
    parser.add_argument("--photos")
    parser.add_argument("--margins", default="", help="decoded sizes beside results to try, such as 1.5,1")
    parser.add_argument("--venv", default=".build/venv-bench")
    options = parser.parse_args()
    options.lanes = os.path.abspath(options.lanes)
    with tempfile.TemporaryDirectory(prefix="alula-quality-") as folder:
        os.chmod(folder, 0o755)
        os.makedirs(f"{folder}/images")
        made = sources.make(options.lanes, options.photo, f"{folder}/images")
        mix = []
        for file in sorted(glob.glob(os.path.join(options.photos or "", "*"))) if options.photos else []:
            if file.lower().endswith(FORMATS) and Image.open(file).mode in ("RGB", "L") and min(Image.open(file).size) > 600:
                mix.append(shutil.copy(file, f"{folder}/images"))
        for path in made + mix:
            os.chmod(path, 0o644)
        with nginx(folder, free_port(), f"root {folder}/images;") as origin:
            least = print_table(options, "The sizes of the bench", made, (300, 600), folder, origin)
            if mix:
                print_table(options, "Photographs", mix, (300, 600), folder, origin)
    print(f"\nplanar beside libvips on the sizes of the bench: at least {least:+.2f} (limit -0.50)")
    raise SystemExit(0 if least >= -0.5 else 1)


if __name__ == "__main__":
    main()
