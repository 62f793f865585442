"""Services in trouble: their metrics, read during the run, become series for promtool, which tells the alerts that fire and what panels show.

One sample stands for half a minute, so that a quarter of a minute of trouble is half an hour for Prometheus; durations keep their values."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

import yaml

from alula_tests.clients import connect, get, metrics, thumbnail
from alula_tests.deploy import board
from alula_tests.fleet.shared_cache import Redis
from alula_tests.images import gradient_png
from alula_tests.origins import ImageHandler, serving
from alula_tests.service import Service

SAMPLES = 64
SECONDS = 0.25
STEP = 30
CLIENTS = 16


class Origin(ImageHandler):
    """An image at every path, late below /slow/; never the same file twice, so that nothing is shared."""
    image = gradient_png(160, 120)
    delay = 2.5

    def find(self, path):
        if path.startswith("/slow/"):
            time.sleep(self.delay)
        return "image/png", self.image


class Series:
    """The metrics of a service, sample by sample."""

    def __init__(self, service):
        self.service, self.samples = service, []

    def read(self):
        self.samples.append({"up": 1.0} | metrics(self.service))

    def input(self):
        names = sorted({name for sample in self.samples for name in sample})
        for name in names:
            plain, _, labels = name.partition("{")
            values = " ".join(repr(sample[name]) if name in sample else "_" for sample in self.samples)
            yield {"series": f'{plain}{{job="alula",instance="a"{"," + labels if labels else "}"}', "values": values}


def run(service, work, stop_after=SAMPLES):
    """The series of a service while clients do this work again and again."""
    series, ended, counter, lock = Series(service), threading.Event(), iter(range(10 ** 9)), threading.Lock()

    def client():
        connection = connect(service.port)
        while not ended.is_set():
            with lock:
                number = next(counter)
            try:
                work(connection, number)
            except OSError:
                connection = connect(service.port)

    series.read()
    threads = [threading.Thread(target=client, daemon=True) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    end = time.monotonic()
    while len(series.samples) < stop_after:
        end += SECONDS
        time.sleep(max(0, end - time.monotonic()))
        series.read()
    ended.set()
    for thread in threads:
        thread.join(10)
    return series


def promtool(series, claims):
    """The claims that do not hold at the end of the series. A claim is an expression that must have this one value by labels."""
    tests = [{"expr": expression, "eval_time": f"{(SAMPLES - 1) * STEP}s",
              "exp_samples": [{"labels": labels, "value": value} for labels, value in samples.items()]}
             for expression, samples in claims]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump({"rule_files": [str(board.ALERTS)], "evaluation_interval": f"{STEP}s", "tests": [
            {"interval": f"{STEP}s", "input_series": list(series.input()), "promql_expr_test": tests}]}, file)
        file.flush()
        ended = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True)
    return "" if ended.returncode == 0 else (ended.stdout + ended.stderr).strip()


def firing(*names):
    return 'count by (alertname) (ALERTS{alertstate="firing"})', {f'{{alertname="{name}"}}': 1 for name in names}


def panel(title, condition="", legend=None):
    """That a panel shows something, where `condition` holds."""
    for _, found in board.panels():
        if found["title"] == title:
            for name, text in found["show"].items():
                if legend in (None, name):
                    expression = board.panel_expression(text).replace("$__rate_interval", "10m").replace("$instance", ".*")
                    yield f"count(({expression}) {condition}) > bool 0", {"{}": 1}


def check(alula, report):
    # What is there from the first sample, so that the first event counts.
    for name, trouble in (("an instance that is well", well), ("the first fault of a new instance", first_fault), ("an origin that takes 2.5 s", slow_origin),
                          ("an origin that is gone", dead_origin), ("a store that is full", full_store), ("a Redis that refuses writes", full_redis)):
        with tempfile.TemporaryDirectory() as folder, serving(Origin) as origin, contextlib.ExitStack() as stack:
            series, claims = trouble(alula, pathlib.Path(folder), origin, stack)
        faults = promtool(series, claims)
        report.check(not faults, f"{name}: promtool finds {len(claims)} alerts and panels as they should be")
        if faults:
            report.line(faults[:4000])


def start(stack, alula, folder, *options, **settings):
    path = folder / "settings.json"
    path.write_text(json.dumps(settings))
    return stack.enter_context(Service(alula, "--config", str(path), "--access-log", "off", *options))


def thumbnails(source, distinct=10 ** 9, **query):
    def work(connection, number):
        get(connection, thumbnail(f"{source}{number % distinct}", w=60 + number % 3, **query))
        time.sleep(0.02)
    return work


def complete(stack, alula, folder, origin):
    """With all that panels need: disk, shared cache, store, a named origin."""
    redis = stack.enter_context(Redis())
    (folder / "kept").mkdir()
    (folder / "disk").mkdir()
    return start(stack, alula, folder, "--source-cache-path", str(folder / "disk"), "--shared-cache", f"redis://127.0.0.1:{redis.port}", resultStore="kept", origins={
        "kept": {"folder": str(folder / "kept"), "write": True}, "shop": {"url": f"http://127.0.0.1:{origin}/"}})


def well(alula, folder, origin, stack):
    service = complete(stack, alula, folder, origin)
    series = run(service, thumbnails("shop:/", 400))
    absent = {"refusal", "dead origin", "calls"}
    shown = [claim for _, found in board.panels() if not absent & set(found.get("need", [])) for claim in panel(found["title"])]
    return series, [firing(), *shown]


def first_fault(alula, folder, origin, stack):
    """Two encoders end by a signal during one encode: a fault of ours, as far as its client sees."""
    service = start(stack, alula, folder)
    is_over = threading.Event()

    def work(connection, number):
        if number == 0:
            # The instance is new, and well so far.
            time.sleep(SAMPLES * SECONDS * 0.7)
            while not is_over.is_set():
                get(connection, thumbnail(f"http://127.0.0.1:{origin}/{time.monotonic_ns()}", w=2400, enlarge=1, format="avif"))
                if metrics(service).get('alula_errors_total{code="internal"}'):
                    is_over.set()
        time.sleep(0.1)

    def crash():
        before = set()
        while not is_over.is_set():
            # Templates wait, and a process that starts is soon ready; an encoder computes for a second.
            now = set(busy(service.process.pid))
            for worker in before & now:
                with contextlib.suppress(OSError):
                    os.kill(worker, signal.SIGSEGV)
            before = now - before
            time.sleep(0.15)
    threading.Thread(target=crash, daemon=True).start()
    stack.callback(is_over.set)
    return run(service, work), [firing("AlulaFaults"), *panel("Faults and ended workers", "> 0", "500")]


def busy(process):
    """The descendants of a process that compute."""
    for path in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, path.read_text().split()):
                if " R " in pathlib.Path(f"/proc/{child}/stat").read_text():
                    yield child
                yield from busy(child)


def slow_origin(alula, folder, origin, stack):
    service = start(stack, alula, folder, origins={"late": {"url": f"http://127.0.0.1:{origin}/slow/"}})
    return run(service, thumbnails("late:/")), [
        firing("AlulaDownloadsSlow", "AlulaDownloadsWait", "AlulaOriginSlow"), *panel("Mean seconds of each phase", "> 2", "download"), *panel("Mean seconds of each phase", "< 0.5", "decode"),
        *panel("Seconds of downloads by origin", "> 2"), *panel("p99 latency by cache", "> 2"), *panel("p99 latency", "> 2")]


def dead_origin(alula, folder, origin, stack):
    with serving(Origin) as dead:
        pass
    service = start(stack, alula, folder, origins={"gone": {"url": f"http://127.0.0.1:{dead}/"}})
    return run(service, thumbnails("gone:/")), [
        firing("AlulaOriginSuspended"), *panel("Failed transfers by origin", "> 0"), *panel("Errors by code", "> 0"),
        *panel("Origins by state", "> 0"), *panel("Failed responses", "> 0.9")]


def full_store(alula, folder, origin, stack):
    kept = folder / "kept"
    kept.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=192k,nr_inodes=4k", "alula-full", str(kept)], check=True)
    stack.callback(subprocess.run, ["umount", "--lazy", str(kept)], check=True)
    service = start(stack, alula, folder, resultStore="kept", origins={"kept": {"folder": str(kept), "write": True}})
    return run(service, thumbnails(f"http://127.0.0.1:{origin}/")), [
        firing("AlulaCacheFull", "AlulaWritesDropped"), *panel("Failing caches and stores", "== 1", "store full, {{instance}}"),
        *panel("Dropped writes", "> 0", "store")]


def full_redis(alula, folder, origin, stack):
    redis = stack.enter_context(Redis("2mb"))
    redis.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
    service = start(stack, alula, folder, "--shared-cache", f"redis://127.0.0.1:{redis.port}")
    return run(service, thumbnails(f"http://127.0.0.1:{origin}/")), [
        firing("AlulaCacheFull", "AlulaWritesDropped"), *panel("Failing caches and stores", "== 1", "shared cache full, {{instance}}"),
        *panel("Dropped writes", "> 0", "shared cache")]
