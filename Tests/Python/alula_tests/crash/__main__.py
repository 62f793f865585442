"""Kills the service with a disk cache and a result store under load again and again; whatever it answers, then and afterwards, must be right."""
import argparse
import json
import pathlib
import random
import sqlite3
import tempfile
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
          "--decoded-cache-capacity", "64KiB", "--decoded-cache-preferred", "32KiB", "--access-log", "off"]


class Images(ImageHandler):
    bodies = [noisy_png(80, 60, number) for number in range(SOURCES)]
    hits = 0

    def find(self, path):
        Images.hits += 1
        return "image/png", self.bodies[int(path.strip("/"))]


class Trial:
    """Answers of a service with a disk cache, before and after it is killed."""

    def __init__(self, alula, targets, expected):
        self.alula, self.targets, self.expected = alula, targets, expected
        self.answers, self.from_disk, self.from_store, self.hits, self.damaged = 0, 0, 0, 0, 0
        self.wrong, self.complaints, self.verdict = [], [], ""

    def kill_under_load(self, settings, seed, seconds):
        """Kills a service after a while, as the kernel ends a process: no handler runs, nothing is closed in order."""
        with Service(self.alula, *settings) as service:
            readers = Readers(service, self.targets, self.expected, seed)
            time.sleep(seconds)
        readers.join()
        self.answers += len(readers.seconds)
        self.wrong += readers.wrong
        self.damaged += sum("disk cache" in line for line in service.lines)

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
                self.from_store += "alula-store;hit" in cache
            self.hits = Images.hits - hits
            kinds = ('alula_disk_cache_failures_total{kind="damaged', 'alula_disk_cache_failures_total{kind="file"}')
            # What is half written is rejected.
            self.damaged += metrics(service)['alula_result_store_requests_total{result="rejected"}']
            self.damaged += sum(value for name, value in metrics(service).items() if name.startswith(kinds))
            self.complaints += service.stop()

    def judge(self, kills):
        """Prints the results; returns whether they are right."""
        print(f"{self.answers} answers under load, {len(self.expected)} afterwards: {self.from_disk} from the disk, {self.from_store} from the store, "
              f"{self.hits} hits of the origin; {len(self.wrong)} wrong, {self.damaged:.0f} damages, file: {self.verdict}")
        for (source, width), status, what in self.wrong[:10]:
            print(f"  wrong: source {source}, width {width}: status {status}, {what}")
        for complaint in self.complaints:
            print(f"  {complaint}")
        return not (self.wrong or self.complaints or self.damaged or self.verdict != "ok" or self.from_disk == 0 or self.from_store == 0
                    or self.answers < kills)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    print(f"{options.kills} kills, seed {options.seed}", flush=True)
    choice = random.Random(options.seed)

    with serving(Images) as port, tempfile.TemporaryDirectory(prefix="alula-crash-") as folder:
        targets = {(number, width): thumbnail(f"http://127.0.0.1:{port}/{number}", w=width, format="png")
                   for number in range(SOURCES) for width in WIDTHS}
        # The references come from a service that writes nothing.
        with Service(options.alula, "--access-log", "off") as service:
            expected = references(service, targets)
        trial = Trial(options.alula, targets, expected)
        store, config = pathlib.Path(folder, "store"), pathlib.Path(folder, "settings.json")
        store.mkdir()
        config.write_text(json.dumps({"resultStore": "kept", "origins": {"kept": {"folder": str(store), "write": True}}}))
        settings = ["--source-cache-path", folder, "--config", str(config), *BOUNDS, *MEMORY]
        for number in range(options.kills):
            trial.kill_under_load(settings, f"{options.seed} {number}", choice.uniform(0.02, 0.5))
        trial.ask_for_what_is_left(settings)
        with sqlite3.connect(f"{folder}/alula-cache.sqlite") as file:
            trial.verdict = file.execute("PRAGMA integrity_check").fetchone()[0]
        left = [file.name for file in (store / "alula-1" / "tmp").iterdir()]
    if len(left) > 1:
        trial.complaints.append(f"temporary files are left: {left}")
    if not trial.judge(options.kills):
        raise SystemExit("FAILED")
    print("ok")


if __name__ == "__main__":
    main()
