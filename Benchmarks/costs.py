"""Compares costs with the memory and CPU time of decodes, renders and refusals of hostile files, each in its own process."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

LEVELS = [1, 2, 8]
# The format, the bands and the image of a render, and its quality if it is not the format's usual one.
RENDERS = [(name, bands, subject, []) for subject in ["photo", "noise"] for bands in [3, 4]
           for name in ["jpeg", "png", "webp", "gif", "avif", "jxl"] if (name, bands) != ("jpeg", 4)]
# With chroma at full size, dearer than usual.
RENDERS += [(name, bands, subject, [95]) for subject in ["photo", "noise"] for name, bands in [("jpeg", 3), ("avif", 3), ("avif", 4)]]
# With a palette: of the image's own colors, and of chosen ones.
RENDERS += [("png", bands, "speckles", []) for bands in [3, 4]]
RENDERS += [("png", bands, subject, [quality]) for subject in ["photo", "noise"] for bands in [3, 4] for quality in [50, 80, 99]]
STEP_SIZES = [(300, 200), (1800, 1200)]
# The first work of a process also sets up tables, threads and code pages, which stay.
FIRST_USE = 2 << 20
# Fixed time that no cost has, in microseconds.
FIXED = 5_000
REFUSAL = {"cpuMicroseconds": 10_000, "taken": 16 << 20}


def run(executable, *arguments):
    done = subprocess.run([executable, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        return {"cost": 0, "taken": 0, "costMicroseconds": 0, "cpuMicroseconds": 0, "outcome": f"DIED {done.returncode} {done.stderr[-200:]}"}
    return {name: value for line in done.stdout.splitlines() for name, value in json.loads(line).items()}


def megabytes(count):
    return f"{count / 1e6:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--costs", required=True, help="the measuring executable")
    parser.add_argument("--only", default="", help="kinds whose names contain this")
    options = parser.parse_args()
    listed = [line.split() for line in subprocess.run(
        [options.costs, "list"], capture_output=True, text=True, check=True).stdout.splitlines()]
    faults = []

    def row(name, level, figures):
        share = figures["taken"] / max(1, figures["cost"])
        over = figures["taken"] > figures["cost"] + FIRST_USE or "DIED" in figures["outcome"]
        if over:
            faults.append(f"{name} at {level}")
        expected, cpu = figures["costMicroseconds"], figures["cpuMicroseconds"]
        ratio = cpu / max(1, expected)
        mark = "  DEARER" if cpu > expected + FIXED else "  CHEAPER" if 4 * cpu + FIXED < expected else ""
        print(f"{name:34} {level:>9} {megabytes(figures['cost']):>9} {megabytes(figures['taken']):>9} {share:>6.2f} "
              f"{figures['costMicroseconds'] / 1000:>9.1f} {figures['cpuMicroseconds'] / 1000:>9.1f}  "
              f"{ratio:>6.2f}  {figures['outcome']}{'  OVER' if over else ''}{mark}", flush=True)

    with tempfile.TemporaryDirectory(prefix="alula-costs-") as folder:
        print(f"{'decode':34} {'level':>9} {'cost MB':>9} {'taken MB':>9} {'share':>6} {'cost ms':>9} {'CPU ms':>9} {'ratio':>6}  outcome")
        for kind, name in listed:
            if options.only not in name or kind == "step":
                continue
            file = str(pathlib.Path(folder) / name)
            subprocess.run([options.costs, "make", name, file], check=True)
            if kind == "refused":
                continue
            for level in [1] if kind == "trap" or any(word in name for word in ["Animated", "gif", "svg"]) else LEVELS:
                rest = ["animated"] if "Animated" in name else []
                row(name, level, run(options.costs, "decode", file, level, *rest))
        print(f"\n{'render':34} {'size':>9} {'cost MB':>9} {'taken MB':>9} {'share':>6} {'cost ms':>9} {'CPU ms':>9} {'ratio':>6}  outcome")
        for name, bands, subject, quality in RENDERS:
            title = f"{name}, {bands} bands, {subject}" + "".join(f", q {number}" for number in quality)
            if options.only not in title:
                continue
            for width, height in [(300, 200), (3000, 2000)]:
                row(title, f"{width}×{height}", run(options.costs, "render", name, width, height, bands, subject, *quality))
        print(f"\n{'step':34} {'size':>9} {'cost MB':>9} {'taken MB':>9} {'share':>6} {'cost ms':>9} {'CPU ms':>9} {'ratio':>6}  outcome")
        for kind, name in listed:
            if kind != "step":
                continue
            for bands in ["3", "4", "planes"]:
                title = f"{name}, " + (bands if bands == "planes" else f"{bands} bands")
                if options.only not in title:
                    continue
                for width, height in STEP_SIZES:
                    row(title, f"{width}×{height}", run(options.costs, "step", name, width, height, bands))
        print(f"\n{'refusal':30} {'bytes':>9} {'taken MB':>9} {'CPU ms':>9}  outcome")
        for kind, name in listed:
            if kind != "refused" or options.only not in name:
                continue
            file = pathlib.Path(folder) / name
            figures = run(options.costs, "refuse", file)
            over = any(figures[key] > most for key, most in REFUSAL.items()) or not any(
                word in figures["outcome"] for word in ["tooMany", "cannotDecode"])
            if over:
                faults.append(f"refusal of {name}")
            print(f"{name:30} {file.stat().st_size:>9} {megabytes(figures['taken']):>9} "
                  f"{figures['cpuMicroseconds'] / 1000:>9.2f}  {figures['outcome']}{'  OVER' if over else ''}", flush=True)
    if faults:
        sys.exit("FAILED: " + ", ".join(faults))
    print("ok")


if __name__ == "__main__":
    main()
