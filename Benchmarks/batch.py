"""Measures `alula batch` over many photographs beside vipsthumbnail and ImageMagick, one process a core, in turns within one run.

Every tool makes JPEG files that fit into 400 by 400 pixels, into a folder in memory. The rate counts all of it, the start too; the share of
the cores is CPU time over wall time and cores. Then one thumbnail a process, in turns; and six sizes in one run beside six runs.
"""
import argparse
import glob
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

JOBS = os.cpu_count()


def has_imagemagick():
    """Another program may have the name `convert`."""
    return shutil.which("convert") and b"ImageMagick" in subprocess.run(["convert", "-version"], capture_output=True).stdout


def tools(alula, size):
    """The commands by tool; each takes the list of sources on standard input and writes into the folder OUT."""
    found = {
        "alula batch": [alula, "batch", "-", "--w", str(size), "--h", str(size), "--format", "jpeg", "--q", "80", "-o", "OUT"],
        "alula batch, linear light off": [
            alula, "batch", "-", "--w", str(size), "--h", str(size), "--format", "jpeg", "--q", "80", "--resample", "gamma", "-o", "OUT"],
    }
    parallel = ["xargs", "-d", "\n", "-n", "8", "-P", str(JOBS)]
    if shutil.which("vipsthumbnail"):
        found["vipsthumbnail"] = [*parallel, "vipsthumbnail", "--size", f"{size}x{size}", "-o", "OUT/%s.jpg[Q=80,strip]"]
    if has_imagemagick():
        # The hint lets it decode at a reduced size, as the others do. Its results are named one by one.
        script = (f'convert -limit thread 1 -define jpeg:size={2 * size}x{2 * size} "$1" -auto-orient -thumbnail "{size}x{size}>" '
                  '-quality 80 "OUT/$(basename "$1")"')
        found["ImageMagick"] = ["xargs", "-d", "\n", "-n", "1", "-P", str(JOBS), "sh", "-c", script, "sh"]
    return found


def sources(photos, count, folder):
    """So many different names for the photographs: links, since no tool keeps anything between files."""
    files = sorted(glob.glob(os.path.join(photos, "*.jpg")))
    names = []
    for number in range(count):
        path = os.path.join(folder, f"photo-{number:05}.jpg")
        os.symlink(os.path.abspath(files[number % len(files)]), path)
        names.append(path)
    return names


def run(command, names, out):
    """Wall and CPU seconds of one run, and how many results there are."""
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    command = [part.replace("OUT", out) for part in command]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, input="\n".join(names), text=True, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, len([name for name in os.listdir(out) if not name.startswith(".")])


def single(alula, photo, out, rounds=15):
    """The median milliseconds of one thumbnail by tool, start included."""
    commands = {
        "alula thumbnail": [alula, "thumbnail", photo, "--w", "300", "-o", f"{out}/one.jpg", "--force"],
        "vipsthumbnail": ["vipsthumbnail", photo, "--size", "300x", "-o", f"{out}/one-v.jpg"],
        "ImageMagick": ["convert", "-define", "jpeg:size=600x", photo, "-thumbnail", "300x", f"{out}/one-m.jpg"],
    }
    times = {name: [] for name, command in commands.items() if (has_imagemagick() if command[0] == "convert" else shutil.which(command[0]))}
    for _ in range(rounds):
        for name, runs in times.items():
            start = time.monotonic()
            subprocess.run(commands[name], check=True, capture_output=True)
            runs.append(time.monotonic() - start)
    return {name: 1000 * statistics.median(runs) for name, runs in times.items()}


def renditions(alula, names, out, widths):
    """The CPU seconds of all widths in one run, and in one run for each."""
    def seconds(widths):
        return run([alula, "batch", "-", "--w", widths, "-o", "OUT/"], names, out)[1]
    return seconds(",".join(widths)), sum(seconds(width) for width in widths)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True)
    parser.add_argument("--photos", required=True, help="a folder of JPEG files")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--size", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    place = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        os.mkdir(f"{folder}/in")
        names = sources(arguments.photos, arguments.count, f"{folder}/in")
        found = {name: [] for name in tools(arguments.alula, arguments.size)}
        for _ in range(arguments.rounds):
            for name, command in tools(arguments.alula, arguments.size).items():
                found[name].append(run(command, names, f"{folder}/out"))
        one = single(arguments.alula, names[0], folder)
        sizes = {}
        for widths in ("90,160,320,480,640,960", "100,150,200,300,400,600", "300,480,640,960,1280,1600"):
            sizes[widths] = renditions(arguments.alula, names[:200], f"{folder}/out", widths.split(","))
    print(f"| {arguments.count} photographs, {JOBS} cores | images/s | CPU ms each | cores busy | results |\n|---|---|---|---|---|")
    for name, runs in found.items():
        wall = statistics.median(wall for wall, _, _ in runs)
        cpu = statistics.median(cpu for _, cpu, _ in runs)
        busy = 100 * cpu / wall / JOBS
        print(f"| {name} | {arguments.count / wall:.1f} | {1000 * cpu / arguments.count:.1f} | {busy:.0f} % | {runs[0][2]} |")
    print("one thumbnail: " + ", ".join(f"{name} {time:.0f} ms" for name, time in one.items()))
    for widths, (once, apart) in sizes.items():
        print(f"widths {widths}: {once:.1f} s of CPU in one run, {apart:.1f} s in six, {once / apart:.2f} of it")


if __name__ == "__main__":
    main()
