"""What results that stay cost: hits in memory beside them, hits from the folder beside hits on disk, and memory with many of them.

Ratios come from rounds in turns within one run; instructions of one hit from valgrind, as differences between many requests and few.
"""
import argparse
import hashlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

from processes import Server
from shared_cache import Images, load

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Tests/Python"))
from alula_tests.clients import connect, get, metrics  # noqa: E402
from alula_tests.origins import serving  # noqa: E402
from alula_tests.service import Service  # noqa: E402

SMALL = ["--result-cache-capacity", "1MiB", "--result-cache-preferred", "0"]


class Instance(Service):
    """An instance over a folder where results stay, if there is one; its CPU time and memory are those of all its processes."""

    def __init__(self, executable, *settings, store=None, **options):
        if store:
            config = store.with_suffix(".json")
            config.write_text(json.dumps({"resultStore": "kept", "origins": {"kept": {"folder": str(store), "write": True}}}))
            settings = ["--config", str(config), "--result-store-timeout", "5s", *settings]
        super().__init__(executable, "--access-log", "off", *settings, **options)
        while store and not self.figure("alula_result_store_up"):
            time.sleep(0.05)

    def first_line(self, seconds=600):
        # Under valgrind, or beside other programs, a start takes its time.
        return super().first_line(seconds)

    tree, cpu, proportional, _added = Server.tree, Server.cpu, Server.proportional, Server._added

    def figure(self, name):
        return sum(value for row, value in metrics(self).items() if row.startswith(name))

    def settle(self):
        while self.figure("alula_result_store_queue_bytes"):
            time.sleep(0.1)


class Trial:
    def __init__(self, options, folder, origin):
        self.options, self.folder, self.origin = options, pathlib.Path(folder), origin

    def paths(self, sources, widths, qualities=(80,), more=""):
        return [f"/thumbnail?format=jpeg&w={width}&q={quality}{more}&url=" + urllib.parse.quote(f"http://127.0.0.1:{self.origin}/{source}.png", safe="")
                for quality in qualities for width in range(16, 16 + widths) for source in range(sources)]

    def store(self, name):
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path

    def fill(self, instance, paths, start=0):
        """Has all results from a place on made; the queue is never full."""
        while start < len(paths):
            start += load(self.folder, instance, paths, 4, 1, start)[0]
            instance.settle()

    def turns(self, instances, paths, connections):
        """Rounds in turns: of each instance, beside the first one, p50, p99 and CPU time of a request as medians of ratios."""
        found = {name: [] for name in instances}
        for number in range(self.options.rounds + 1):
            for name, instance in sorted(instances.items(), key=lambda entry: hash((number, entry[0]))):
                before = instance.cpu()
                count, _, middle, far = load(self.folder, instance, paths, connections, self.options.seconds, number * 997)
                if number:
                    found[name].append((middle, far, (instance.cpu() - before) / count * 1e6))
        first = next(iter(instances))
        for name, figures in found.items():
            text = ", ".join(f"{what} {statistics.median(entry[place] for entry in figures):.3f} {unit}"
                             for place, (what, unit) in enumerate([("p50", "ms"), ("p99", "ms"), ("CPU", "µs")]))
            ratios = ", ".join(f"{statistics.median(mine[place] / base[place] for mine, base in zip(figures, found[first])):.3f}" for place in range(3))
            print(f"  {name}: {text}; of {first}: {ratios}", flush=True)

    def memory_hits(self):
        """Hits in memory: without a store, with one, and with a field of tags besides."""
        print("hits in memory, 400 URLs, 16 connections:")
        paths = self.paths(40, 10)
        program = self.options.alula
        with Instance(program) as none, Instance(program, store=self.store("a")) as kept, \
                Instance(program, "--cache-tag-header", "Cache-Tag", store=self.store("b")) as tagged:
            instances = {"none": none, "store": kept, "store and tags": tagged}
            for instance in instances.values():
                self.fill(instance, paths)
            self.turns(instances, paths, 16)

    def instructions(self):
        """Instructions of a hit of one URL: without, with a store, with tags that nobody names, and with tags in the URL."""
        print("instructions of a hit of one URL in memory:")
        with tempfile.TemporaryDirectory() as folder:
            # valgrind cannot read the program's debug information.
            subprocess.run(["strip", "-o", f"{folder}/alula", self.options.alula], check=True)
            wrapper = pathlib.Path(folder, "wrapped")
            wrapper.write_text(f'#!/bin/sh\nexec valgrind --tool=callgrind --separate-threads=yes --callgrind-out-file={folder}/out --log-file={folder}/log "{folder}/alula" "$@"\n')
            wrapper.chmod(0o755)
            tags, first = ["--cache-tag-header", "Cache-Tag"], None
            for name, settings, store, more in [("none", [], None, ""), ("a store", [], "c", ""), ("a field of tags", tags, None, ""),
                                                ("both, and tag=a,b", tags, "d", "&tag=a,b")]:
                count = self.collected(folder, wrapper, settings, store and self.store(store), more)
                first = first or count
                print(f"  {name}: {count:,.0f}, {count / first:.4f}", flush=True)

    def collected(self, folder, wrapper, settings, store, more, count=5_000):
        with Instance(str(wrapper), "--decode-in-process", "on", *settings, store=store) as instance:
            connection, path = connect(instance.port, 300), self.paths(1, 1, more=more)[0]

            def ask(count):
                for _ in range(count):
                    answer, _ = get(connection, path)
                assert answer.status == 200 and "hit" in answer.getheader("Cache-Status")

            def control(word):
                subprocess.run(["callgrind_control", word, str(instance.process.pid)], check=True, capture_output=True)

            get(connection, path)
            ask(500)
            control("--zero")
            ask(count)
            for file in pathlib.Path(folder).glob("out*"):
                file.unlink()
            control("--dump")
            # The thread that answers; others do what is due each second.
            found = [re.search(r"^(?:summary|totals): (\d+)", file.read_text(), re.MULTILINE) for file in pathlib.Path(folder).glob("out*")]
            return max(int(totals[1]) for totals in found if totals) / count

    def folder_hits(self):
        """Results from the folder beside results from a disk cache, of instances that keep next to nothing in memory."""
        paths = self.paths(100, 50)
        disk = ["--source-cache-path", str(self.store("disk"))]
        with Instance(self.options.alula, *disk, store=self.store("e")) as filler:
            self.fill(filler, paths)
            dropped = filler.figure("alula_result_store_dropped_total")
            filler.stop()
        for connections in (8, 1):
            print(f"results from disk and folder, {len(paths)} URLs, {connections} connections, {dropped:.0f} writes were dropped:")
            with Instance(self.options.alula, *SMALL, *disk) as cached, Instance(self.options.alula, *SMALL, store=self.store("e")) as kept:
                self.turns({"disk": cached, "folder": kept}, paths, connections)
                assert cached.figure("alula_renders_total") < 10 and kept.figure("alula_renders_total") < 10

    def memory(self):
        """Memory of an instance while values are written, and of one that reads all."""
        print("memory in MiB (all processes, shared pages once):")
        paths, store = self.paths(500, 40, range(60, 65)), self.store("f")
        steps = [step for step in (1_000, 10_000, 50_000, 100_000) if step <= self.options.values]
        bounds = [*SMALL, "--decoded-cache-capacity", "32MiB", "--decoded-cache-preferred", "24MiB", "--source-cache-memory", "16MiB"]
        with Instance(self.options.alula, *bounds, store=store) as instance:
            for before, step in zip([0, *steps], steps):
                self.fill(instance, paths[:step], before)
                print(f"  {instance.figure('alula_result_store_writes_total'):,.0f} values written: {instance.proportional():.1f}, allocated "
                      f"{instance.figure('alula_memory_allocated_bytes') / 2**20:.1f}", flush=True)
        with Instance(self.options.alula, *bounds, store=store) as reader:
            for before, step in zip([0, *steps], steps):
                self.fill(reader, paths[:step], before)
                print(f"  {reader.figure('alula_result_store_requests_total'):,.0f} look-ups, {reader.figure('alula_renders_total'):.0f} renders: "
                      f"{reader.proportional():.1f}, allocated {reader.figure('alula_memory_allocated_bytes') / 2**20:.1f}", flush=True)
        print(f"  {sum(1 for file in (store / 'alula-1' / 'v').rglob('*') if file.is_file()):,} files")


    def memory_beside_many(self):
        """Memory of instances that start over few values and over many, and read and write the same number of them."""
        paths, store = self.paths(50, 10), self.store("g")
        with Instance(self.options.alula, *SMALL, store=store) as filler:
            self.fill(filler, paths)
            filler.stop()
        values = [file.read_bytes() for file in (store / "alula-1" / "v").rglob("*") if file.is_file()]
        print(f"memory in MiB of an instance that reads and writes {len(paths)} results:")
        for turn in range(3):
            more = self.paths(50, 10, [81 + turn])
            with Instance(self.options.alula, *SMALL, store=store) as instance:
                begun = instance.proportional()
                load(self.folder, instance, paths, 4, self.options.seconds, 0)
                for path in (*paths, *more):
                    get(connect(instance.port), path)
                instance.settle()
                count = sum(1 for file in (store / "alula-1" / "v").rglob("*") if file.is_file())
                hits = instance.figure('alula_result_store_requests_total{result="hit"}')
                print(f"  {count:,} files in the folder, {hits:,.0f} found: {begun:.1f} at its start, {instance.proportional():.1f}, allocated "
                      f"{instance.figure('alula_memory_allocated_bytes') / 2**20:.1f}", flush=True)
            # Copies under names of the same form, which nobody asks for.
            for number in range(count, self.options.values if turn == 1 else self.options.values // 10):
                name = hashlib.sha256(str(number).encode()).hexdigest()[:43]
                file = store / "alula-1" / "v" / name[:2] / name[2:]
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(values[number % len(values)])


PARTS = ["memory_hits", "instructions", "folder_hits", "memory", "memory_beside_many"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--values", type=int, default=100_000)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Images) as origin:
        trial = Trial(options, folder, origin)
        for part in options.only:
            getattr(trial, part)()


if __name__ == "__main__":
    main()
