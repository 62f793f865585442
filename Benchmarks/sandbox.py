"""Measures the cost of decoding in worker processes and in the serving process, in turns within one run."""
import argparse
import contextlib
import glob
import os
import re
import shutil
import socket
import statistics
import tempfile

import load
from processes import free_port, nginx
from run import Alula, FORMATS, thumbnail

MODES = {"in workers": [], "in process": ["--decode-in-process", "on"]}
UNCACHED = ["--access-log", "off", "--max-active-downloads-per-host", "32", "--result-cache-capacity", "0",
            "--result-cache-preferred", "0", "--decoded-cache-capacity", "0", "--decoded-cache-preferred", "0"]


class Client:
    """Requests one image of one service repeatedly; its source is in the service's memory, its pixels are not."""

    def __init__(self, port, path):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.reader = self.connection.makefile("rb")
        self.request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()

    def decode_time(self):
        """Milliseconds of the decode, by the service's own timing."""
        self.connection.sendall(self.request)
        length = 0
        found = None
        while (line := self.reader.readline().strip()):
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
            if name.lower() == "server-timing" and (match := re.search(r"decode;dur=([\d.]+)", value)):
                found = float(match[1])
        self.reader.read(length)
        assert found is not None, "nothing was decoded"
        return found


def decode_times(alula, path, count):
    """Milliseconds of decodes by mode: both services run at the same time and are asked in turns, so that other work of the machine affects both."""
    with contextlib.ExitStack() as stack:
        clients = {mode: Client(stack.enter_context(Alula(alula, *UNCACHED, *MODES[mode])).port, path) for mode in MODES}
        found = {mode: [] for mode in MODES}
        for number in range(30 + count):
            for mode in list(MODES) if number % 2 == 0 else reversed(MODES):
                time = clients[mode].decode_time()
                if number >= 30:
                    found[mode].append(time)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    files = sorted(f for f in glob.glob(os.path.join(options.photos, "**"), recursive=True) if f.lower().endswith(FORMATS))
    folder = tempfile.mkdtemp(prefix="alula-bench-")
    os.chmod(folder, 0o755)
    os.makedirs(f"{folder}/images")
    for number, file in enumerate(files):
        shutil.copy(file, f"{folder}/images/{number:03}.jpg")
    names = sorted(os.listdir(f"{folder}/images"))
    small = min(names, key=lambda name: os.path.getsize(f"{folder}/images/{name}"))
    with nginx(folder, free_port(), f'root {folder}/images; add_header Cache-Control "max-age=86400";') as origin:
        times = decode_times(options.alula, thumbnail(origin.port, small), 300 * options.rounds)
        rates, cpus, memory, peaks = ({mode: [] for mode in MODES} for _ in range(4))
        for number in range(options.rounds):
            for mode in list(MODES) if number % 2 == 0 else reversed(MODES):
                with Alula(options.alula, "--access-log", "off", "--max-active-downloads-per-host", "32", "--max-queue-delay", "10s", *MODES[mode]) as server:
                    paths = [thumbnail(origin.port, name) for name in names]
                    load.wrk(folder, server.port, paths, 8, 1, unique=True, suffix="%3Fw%3D")
                    before = server.cpu()
                    row = load.wrk(folder, server.port, paths, 8, options.seconds, unique=True, suffix="%3Fn%3D")
                    assert row["failures"] == 0, row
                    rates[mode].append(row["rate"])
                    cpus[mode].append((server.cpu() - before) * 1000 / row["count"])
                    memory[mode].append(server.proportional())
                    peaks[mode].append(server.peak())
    print(f"one decode of {os.path.getsize(f'{folder}/images/{small}')} bytes: " + ", ".join(
        f"{mode} {statistics.median(times[mode]):.3f} ms (mean {statistics.mean(times[mode]):.3f})" for mode in MODES)
        + f", difference of the medians {statistics.median(times['in workers']) - statistics.median(times['in process']):.3f} ms")
    for mode in MODES:
        print(f"cold, concurrency 8, {mode}: {statistics.median(rates[mode]):.1f} images/s "
              f"({', '.join(f'{rate:.1f}' for rate in rates[mode])}), {statistics.median(cpus[mode]):.1f} ms CPU, "
              f"{statistics.median(memory[mode]):.0f} MiB in the end, {statistics.median(peaks[mode]):.0f} MiB sum of peaks")
    ratio = statistics.median(rates["in workers"]) / statistics.median(rates["in process"])
    print(f"ratio {ratio:.3f}")
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
