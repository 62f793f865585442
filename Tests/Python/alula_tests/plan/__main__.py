"""Whether `alula plan` foresees the processor time, the results' sizes and the sources' traffic of a real service within a quarter."""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import time
import urllib.parse

from alula_tests.clients import connect, get, metrics, thumbnail
from alula_tests.origins import ImageHandler, serving
from alula_tests.report import Report
from alula_tests.service import Service

WIDTHS = (320, 640, 1280)
TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}
TOLERANCE = 0.25
HITS = 0.8


class Photographs(ImageHandler):
    """The files of a folder; each is another image for another query."""
    files = {}

    def find(self, path):
        name = urllib.parse.unquote(urllib.parse.urlsplit(path).path[1:])
        return self.files.get(name)


def processor_time(service):
    return sum(value for name, value in metrics(service).items() if name.startswith("alula_process_cpu_seconds_total"))


def run(alula, photos, format_name, misses, report):
    chosen = sorted(path for path in pathlib.Path(photos).rglob("*") if path.suffix.lower() in TYPES)
    chosen = chosen[::max(1, len(chosen) // 12)][:12]
    Photographs.files = {path.name: (TYPES[path.suffix.lower()], path.read_bytes()) for path in chosen}
    plan = json.loads(subprocess.run(
        [alula, "plan", *map(str, chosen), "--requests", "1M", "--images", "100k", "--hits", str(HITS), "--peak", "1", "--utilization", "1",
         "--w", ",".join(map(str, WIDTHS)), "--format", format_name, "--json"], capture_output=True, text=True, check=True).stdout)
    choice = random.Random(1)
    with serving(Photographs) as origin, Service(alula, "--access-log", "off") as service:
        connection, known, sent = connect(service.port), [], 0

        def request(target):
            answer, body = get(connection, target)
            assert answer.status == 200, (answer.status, body[:200])
            return len(body)

        def missing(number):
            path = urllib.parse.quote(chosen[number % len(chosen)].name)
            return thumbnail(f"http://127.0.0.1:{origin}/{path}?{number}", w=WIDTHS[number // len(chosen) % len(WIDTHS)], format=format_name)

        for number in range(10_000, 10_012):
            request(missing(number))
        before, received, begun = processor_time(service), metrics(service)["alula_download_bytes_total"], time.monotonic()
        for number in range(misses):
            known.append(missing(number))
            sent += request(known[-1])
            for _ in range(round(HITS / (1 - HITS))):
                sent += request(choice.choice(known[-50:]))
        taken, seconds = processor_time(service) - before, time.monotonic() - begun
        received = metrics(service)["alula_download_bytes_total"] - received
    count = misses * round(1 / (1 - HITS))
    figures = plan["plan"]
    for name, real, planned in (
            ("seconds of processors", taken, figures["processors"] / figures["requestsPerSecond"] * count),
            ("MB from origins", received / 1e6, figures["originBytesPerSecond"] / figures["requestsPerSecond"] * count / 1e6),
            ("MB to clients", sent / 1e6, figures["sentBytesPerSecond"] / figures["requestsPerSecond"] * count / 1e6)):
        report.check(abs(planned / real - 1) <= TOLERANCE,
                     f"{format_name}, {count} requests in {seconds:.0f} s: {real:.2f} {name}, {planned:.2f} planned, {planned / real:.2f} of it")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the executable")
    parser.add_argument("--photos", required=True, help="a folder of photographs")
    parser.add_argument("--misses", type=int, default=252, help="of each format; four times as many hits")
    options = parser.parse_args()
    report = Report()
    for format_name in ("jpeg", "webp", "avif"):
        run(options.alula, options.photos, format_name, options.misses, report)
    print(f"FAILED: {len(report.faults)}" if report.faults else "passed")
    sys.exit(bool(report.faults))


if __name__ == "__main__":
    main()
