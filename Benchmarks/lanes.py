"""Measures both lanes of imaging in one run, and compares the figures with what the planar lane must reach.

Imaging is measured by its CPU time; the service, built a second time with the libvips lane only, by its answers a second.
"""
import argparse
import datetime
import glob
import os
import platform
import shutil
import subprocess
import tempfile

import load
import sources
from processes import free_port, nginx
from run import FORMATS, Alula, thumbnail

# Name of the source, width of the result, and largest ratio of CPU time to the libvips lane.
LIMITS = [("half", 300, 0.60), ("half", 600, 0.40), ("whole", 300, 0.75), ("whole", 600, 0.55), ("large", 300, 0.85),
          ("large in scans", 300, 0.35)]
RENDER_LIMIT, MIX_LIMIT, RATE_LIMIT, WIDTHS_LIMIT, QUALITY_LIMIT = 0.40, 0.75, 1.3, 3.0, -0.5


class Judge:
    """The lines of the verdict, in their order."""

    def __init__(self):
        self.rows, self.is_met = [], True

    def add(self, what, value, limit, at_least=False):
        met = value >= limit if at_least else value <= limit
        self.is_met = self.is_met and met
        self.rows.append(f"| {what} | {'≥' if at_least else '≤'} {limit} | {value:.2f} | {'yes' if met else '**no**'} |")


def measured(options, widths, files, *arguments):
    """Prints the executable's table; returns the ratios to libvips of all work and of renders, by file and width."""
    command = [options.lanes, "--rounds", str(options.rounds), *arguments, ",".join(map(str, widths)), *files]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(text, flush=True)
    ratios = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 2 and cells[2] == "planar":
            ratios[cells[0], int(cells[1])] = [float(cell) if cell else None for cell in cells[-2:]]
    return ratios


def judge_sizes(options, judge, made):
    names = dict(zip(("half", "whole", "large", "whole in scans", "large in scans"), made))
    for title, arguments in (("filters known", ()), ("filters of a new size", ("--fresh",))):
        print(f"Imaging, {title}: CPU milliseconds an image\n", flush=True)
        ratios = measured(options, (300, 600), made, *arguments)
        for name, width, limit in LIMITS:
            file = os.path.basename(names[name])
            judge.add(f"{name} ({file}) → {width}, {title}", ratios[file, width][0], limit)
        renders = [ratio[1] for (_, width), ratio in ratios.items() if width == 300 and ratio[1]]
        judge.add(f"decoded cached → 300, dearest of all, {title}", max(renders), RENDER_LIMIT)


def service_rates(options, folder, names):
    """Answers a second of both builds in turns: cold with eight clients, and 200 widths of one source or of 200."""
    rates = {(lane, kind): [] for lane in ("planar", "vips") for kind in ("cold", "widths")}
    # An image of some 6 megapixels, the same as in the other benchmark.
    large = min(names, key=lambda name: abs(os.path.getsize(f"{folder}/images/{name}") - 1_300_000))
    with nginx(folder, free_port(), f'root {folder}/images; add_header Cache-Control "max-age=86400";') as origin:
        for _ in range(options.turns):
            for lane, executable in (("planar", options.alula), ("vips", options.alula_vips)):
                settings = ("--access-log", "off", "--max-active-downloads-per-host", "32")
                with Alula(executable, *settings) as server:
                    paths = [thumbnail(origin.port, name) for name in names]
                    result = load.wrk(folder, server.port, paths, 8, options.seconds, unique=True, suffix="%3Fn%3D")
                    assert not result["failures"], result
                    rates[lane, "cold"].append(result["rate"])
                with Alula(executable, *settings) as server:
                    rates[lane, "widths"].append(widths_rate(server, origin.port, large, is_distinct=lane == "vips"))
    return {key: sum(values) / len(values) for key, values in rates.items()}


def widths_rate(server, origin, name, is_distinct):
    """Answers a second of 200 widths from 100 to 896, of one source or of one each."""
    paths = [thumbnail(origin, name, 100 + 4 * number) + (f"%3Fn%3D{number}" if is_distinct else "") for number in range(200)]
    seconds = 0
    for first in range(0, 200, 8):
        elapsed, failures = load.together(server.port, paths[first:first + 8])
        assert not failures, failures[0]
        seconds += elapsed
    return 200 / seconds


def judge_service(options, judge, folder, names):
    rates = service_rates(options, folder, names)
    for (lane, kind), rate in rates.items():
        print(f"service, {lane}, {kind}: {rate:.1f} images/s", flush=True)
    judge.add("service, cold, 8 clients: images/s", rates["planar", "cold"] / rates["vips", "cold"], RATE_LIMIT, True)
    judge.add("200 widths of one source, of 200 with libvips: images/s",
              rates["planar", "widths"] / rates["vips", "widths"], WIDTHS_LIMIT, True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lanes", required=True)
    parser.add_argument("--alula", required=True)
    parser.add_argument("--alula-vips", required=True)
    parser.add_argument("--photo", required=True)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--no-quality", action="store_true", help="where scores are not wanted, or their package is missing")
    options = parser.parse_args()
    for name in ("lanes", "alula", "alula_vips"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    mix = sorted(file for file in glob.glob(os.path.join(options.photos, "*")) if file.lower().endswith(FORMATS))
    judge = Judge()
    with tempfile.TemporaryDirectory(prefix="alula-lanes-") as folder:
        os.chmod(folder, 0o755)
        os.makedirs(f"{folder}/sources")
        os.makedirs(f"{folder}/images")
        made = sources.make(options.lanes, options.photo, f"{folder}/sources")
        names = [os.path.basename(shutil.copy(file, f"{folder}/images")) for file in mix]
        for name in names:
            os.chmod(f"{folder}/images/{name}", 0o644)
        judge_sizes(options, judge, made)
        print(f"Imaging, {len(mix)} photographs\n", flush=True)
        judge.add(f"mean of {len(mix)} photographs → 300", measured(options, (300,), mix)["mean", 300][0], MIX_LIMIT)
        judge_service(options, judge, folder, names)
        if not options.no_quality:
            import quality

            judge.add("SSIMULACRA2 beside libvips, least of all sizes", quality.least_distance(options.lanes, made, folder),
                      QUALITY_LIMIT, True)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()} {platform.release()}"
    print(f"\n{datetime.date.today()}, {machine}\n\n| figure | limit | measured | met |\n|---|---|---|---|")
    print("\n".join(judge.rows))
    raise SystemExit(0 if judge.is_met else 1)


if __name__ == "__main__":
    main()
