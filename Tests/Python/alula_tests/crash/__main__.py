"""Kills instances under load again and again, each with a disk cache of its own, all over one folder where results stay; whatever they answer,
then and afterwards, must be right, and every file of the folder whole."""
import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import pathlib
import random
import sqlite3
import tempfile
import threading
import time

from alula_tests.clients import Readers, connect, get, metrics, references, thumbnail
from alula_tests.images import noisy_png
from alula_tests.origins import ImageHandler, serving
from alula_tests.service import Service

SOURCES = 120
WIDTHS = [16, 24, 40, 64]
# Small enough that entries are evicted all the time.
BOUNDS = ["--source-cache-disk", "1500KiB", "--result-cache-disk", "600KiB"]
# So little memory that answers come from the disk as soon as they are there.
MEMORY = ["--source-cache-memory", "64KiB", "--result-cache-capacity", "64KiB", "--result-cache-preferred", "32KiB",
          "--decoded-cache-capacity", "64KiB", "--decoded-cache-preferred", "32KiB", "--access-log", "off", "--decode-in-process", "on"]


class Images(ImageHandler):
    bodies = [noisy_png(80, 60, number) for number in range(SOURCES)]
    hits = 0

    def find(self, path):
        Images.hits += 1
        return "image/png", self.bodies[int(path.strip("/"))]


STORE = "alula_result_store_requests_total"


def is_whole(value):
    """Whether a file of the store is as an instance writes it: its mark, its length, and the SHA-256 of all before it at its end."""
    return (value.startswith(b"Alula/1\n") and int.from_bytes(value[8:16], "little") == len(value)
            and hashlib.sha256(value[:-32]).digest() == value[-32:])


class Store:
    """The folder where results stay, from which values are removed at any time, as its operators may: so that they are written again."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.settings = self.folder.with_suffix(".json")
        self.settings.write_text(json.dumps({"resultStore": "kept", "origins": {"kept": {"folder": str(folder), "write": True}}}))
        self.judged, self.broken = 0, []

    def values(self):
        return [file for file in (self.folder / "alula-1" / "v").rglob("*") if file.is_file()]

    def judge(self, choice, share=0.3):
        """Judges all values that are there, and removes a share of them."""
        for file in self.values():
            with contextlib.suppress(FileNotFoundError):
                self.judged += 1
                if not is_whole(file.read_bytes()):
                    self.broken.append(file.name)
                if choice.random() < share:
                    file.unlink()

    def leftovers(self):
        return [file.name for file in (self.folder / "alula-1" / "tmp").iterdir()]


class Trial:
    """Answers of instances with a disk cache and a store, before and after they are killed."""

    def __init__(self, alula, targets, expected):
        self.alula, self.targets, self.expected = alula, targets, expected
        self.answers, self.from_disk, self.from_store, self.hits, self.damaged = 0, 0, 0, 0, 0
        self.wrong, self.complaints, self.verdicts, self.lock = [], [], set(), threading.Lock()

    def kill_under_load(self, settings, seed, seconds):
        """Kills a service after a while, as the kernel ends a process: no handler runs, nothing is closed in order."""
        with Service(self.alula, *settings) as service:
            readers = Readers(service, self.targets, self.expected, seed)
            time.sleep(seconds)
            figures = metrics(service)
        readers.join()
        with self.lock:
            self.answers += len(readers.seconds)
            self.wrong += readers.wrong
            self.from_store += int(figures[f'{STORE}{{result="hit"}}'])
            # What is half written is rejected.
            self.damaged += figures[f'{STORE}{{result="rejected"}}'] + sum("disk cache" in line for line in service.lines)

    def ask_for_what_is_left(self, settings):
        """Asks a service that has just started for everything once."""
        with Service(self.alula, *settings) as service:
            connection, hits = connect(service.port), Images.hits
            for key, body in self.expected.items():
                answer, found = get(connection, self.targets[key])
                if answer.status != 200 or found != body:
                    self.wrong.append((key, answer.status, f"{len(found)} bytes"))
                cache = answer.getheader("Cache-Status") or ""
                self.from_disk += "alula-result;hit" in cache or "alula-source;hit" in cache
            self.hits = Images.hits - hits
            kinds = ('alula_disk_cache_failures_total{kind="damaged', 'alula_disk_cache_failures_total{kind="file"}')
            self.damaged += metrics(service)[f'{STORE}{{result="rejected"}}']
            self.damaged += sum(value for name, value in metrics(service).items() if name.startswith(kinds))
            self.complaints += service.stop()

    def judge(self, kills, store):
        """Prints the results; returns whether they are right."""
        print(f"{self.answers} answers under load, {self.from_store} values found in the store; {len(self.expected)} answers afterwards: {self.from_disk} "
              f"from a disk, {self.hits} hits of the origin; {len(self.wrong)} wrong, {self.damaged:.0f} damages, files: {', '.join(self.verdicts)}; "
              f"{store.judged} files of the store judged, {len(store.broken)} not whole")
        for (source, width), status, what in self.wrong[:10]:
            print(f"  wrong: source {source}, width {width}: status {status}, {what}")
        for complaint in self.complaints:
            print(f"  {complaint}")
        return not (self.wrong or self.complaints or self.damaged or self.verdicts != {"ok"} or store.broken
                    or self.from_disk == 0 or self.from_store == 0 or self.answers < kills)


def kill_all(trial, store, options):
    """Kills instances in turns, several at work at a time; values of the store are judged and removed meanwhile."""
    choice = random.Random(options.seed)
    bounds = ["--config", str(store.settings), *BOUNDS, *MEMORY]
    places = [["--source-cache-path", f"{store.folder}-disk{place}", *bounds] for place in range(options.instances)]
    numbers = iter(range(options.kills))

    def run(settings):
        while (number := next(numbers, None)) is not None:
            if number % 100 == 0:
                print(f"{number} …", flush=True)
            trial.kill_under_load(settings, f"{options.seed} {number}", random.Random(f"{options.seed} {number}").uniform(0.02, options.seconds))

    with concurrent.futures.ThreadPoolExecutor(options.instances) as pool:
        runs = [pool.submit(run, settings) for settings in places]
        while concurrent.futures.wait(runs, 1).not_done:
            store.judge(choice)
    for finished in runs:
        finished.result()
    trial.ask_for_what_is_left(places[0])
    store.judge(choice)
    for place in range(options.instances):
        with contextlib.closing(sqlite3.connect(f"{store.folder}-disk{place}/alula-cache.sqlite")) as file:
            trial.verdicts.add(file.execute("PRAGMA integrity_check").fetchone()[0])
    left = store.leftovers()
    if len(left) > 1:
        trial.complaints.append(f"temporary files are left: {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--instances", type=int, default=3, help="at work at a time")
    parser.add_argument("--seconds", type=float, default=0.5, help="longest life of an instance under load")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    print(f"{options.kills} kills, seed {options.seed}", flush=True)

    with serving(Images) as port, tempfile.TemporaryDirectory(prefix="alula-crash-") as folder:
        targets = {(number, width): thumbnail(f"http://127.0.0.1:{port}/{number}", w=width, format="png")
                   for number in range(SOURCES) for width in WIDTHS}
        # The references come from a service that writes nothing.
        with Service(options.alula, "--access-log", "off", "--decode-in-process", "on") as service:
            expected = references(service, targets)
        trial, store = Trial(options.alula, targets, expected), Store(f"{folder}/store")
        kill_all(trial, store, options)
    if not trial.judge(options.kills, store):
        raise SystemExit("FAILED")
    print("ok")


if __name__ == "__main__":
    main()
