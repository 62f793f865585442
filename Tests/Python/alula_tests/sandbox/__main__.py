"""Kills, stops or crashes a random worker process each second under load; every answer must be right, and the service stays."""
import argparse
import json
import os
import pathlib
import random
import signal
import time

from alula_tests.clients import Readers, ends_of_workers, metrics, references, thumbnail
from alula_tests.images import MEDIA_TYPES
from alula_tests.origins import ImageHandler, serving
from alula_tests.service import Service

BLOWS = [signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS]
# AVIF is encoded by workers as well.
QUERIES = [{"w": 60}, {"w": 150}, {"w": 300}, {"w": 150, "format": "avif"}]
# Every request is to be decoded.
SETTINGS = ["--access-log", "off", "--result-cache-capacity", "0", "--result-cache-preferred", "0",
            "--decoded-cache-capacity", "0", "--decoded-cache-preferred", "0", "--source-cache-memory", "64MiB"]


class Images(ImageHandler):
    bodies = []

    def find(self, path):
        return self.bodies[int(path.strip("/"))]


def load_images(folder):
    files = [path for path in sorted(pathlib.Path(folder).rglob("*")) if path.suffix.lower() in MEDIA_TYPES]
    small = sorted(files, key=lambda path: path.stat().st_size)[:24]
    if not small:
        raise SystemExit(f"no images under {folder}")
    Images.bodies = [(MEDIA_TYPES[path.suffix.lower()], path.read_bytes()) for path in small]


class Trial:
    """Sends signals to the workers of one service, and counts the results."""

    def __init__(self, service, choice):
        self.service, self.choice = service, choice
        self.blows, self.victims = {}, set()
        self.metrics, self.complaints = {}, []

    def strike(self, seconds):
        """Sends a signal to a random worker each second, until the time is over or the service has ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.service.process.poll() is None:
            time.sleep(1)
            blow, found = self.choice.choice(BLOWS), self.service.workers()
            if found:
                victim = self.choice.choice(found)
                self.victims.add(victim)
                os.kill(victim, blow)
                self.blows[blow.name] = self.blows.get(blow.name, 0) + 1

    def finish(self):
        self.metrics = metrics(self.service) if self.service.process.poll() is None else {}
        self.complaints = self.service.stop()

    def judge(self, readers, seconds):
        """Prints the results; returns whether they are right."""
        times, ends = sorted(readers.seconds), ends_of_workers(self.metrics)
        wrong = self.unexcused(readers.wrong + readers.lost)
        print(f"{len(times)} answers, {len(readers.wrong + readers.lost)} wrong; "
              f"median {times[len(times) // 2] * 1000:.0f} ms, slowest {times[-1] * 1000:.0f} ms")
        print(f"struck: {json.dumps(self.blows)}; ends: {json.dumps(ends)}; "
              f"decoded again: {self.metrics.get('alula_decode_retries_total', 0):.0f}, "
              f"in quarantine: {self.metrics.get('alula_quarantined_total', 0):.0f}")
        for (source, query), status, what in wrong[:10]:
            print(f"  wrong: source {source}, {QUERIES[query]}: status {status}, {what}")
        for complaint in self.complaints:
            print(f"  {complaint}")
        return not (wrong or self.complaints or not (ends.get("crash") and ends.get("killed")) or len(times) < seconds)

    def unexcused(self, wrong):
        """The wrong answers that no blow explains: a refusal is right when one image was struck twice within one request.

        A worker that ended although nobody struck it is a complaint.
        """
        lines = [json.loads(line) for line in self.service.lines if line.startswith("{")]
        ended = [line["process"] for line in lines if line["message"] == "worker process ended"]
        unexplained = [process for process in ended if process not in self.victims]
        struck_twice = sum(line["message"] == "file quarantined" for line in lines)
        self.complaints += [f"worker {process} ended although nobody struck it" for process in unexplained]
        # A file is refused in whatever form it is asked for, and finished pixels as a file of one form.
        refused = [fault for fault in wrong if fault[1] == 422 or fault[1] == 500 and "format" in QUERIES[fault[0][1]]]
        contents = {(source, query if status == 500 else None) for (source, query), status, _ in refused}
        if not refused or len(contents) > struck_twice or unexplained:
            return wrong
        print(f"{struck_twice} images were struck twice within one request, and refused {len(refused)} times")
        return [fault for fault in wrong if fault not in refused]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--photos", required=True, help="folder of images; the smallest ones are used")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    print(f"{options.seconds} s, seed {options.seed}", flush=True)
    load_images(options.photos)

    with serving(Images) as port:
        targets = {(number, query): thumbnail(f"http://127.0.0.1:{port}/{number}", **QUERIES[query])
                   for number in range(len(Images.bodies)) for query in range(len(QUERIES))}
        # The references come from a service that decodes in its own process.
        with Service(options.alula, "--access-log", "off", "--decode-in-process", "on") as service:
            expected = references(service, targets)
        with Service(options.alula, *SETTINGS) as service:
            trial = Trial(service, random.Random(options.seed))
            readers = Readers(service, targets, expected, options.seed)
            trial.strike(options.seconds)
            readers.stop()
            trial.finish()
    if not trial.judge(readers, options.seconds):
        raise SystemExit("FAILED")
    print("ok")


if __name__ == "__main__":
    main()
