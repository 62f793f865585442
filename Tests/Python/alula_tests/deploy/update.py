"""An update of the program and reloads of its settings under load, with the sockets and notifications of systemd: no request
may be lost, and none may be answered by half of two versions of the settings."""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from alula_tests.deploy.proxies import DEPLOY
from alula_tests.images import noisy_png

# The protocol of systemd: descriptor 3 is the socket, and LISTEN_PID names the process that may use it.
EXEC = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES=sys.argv[2], NOTIFY_SOCKET=sys.argv[3],
                  WATCHDOG_USEC="2000000")
os.execv(sys.argv[4], sys.argv[4:])
"""
RESTARTS = 4
RELOADS = 10
CLIENTS = 8


class Supervisor:
    def __init__(self, alula, folder):
        self.alula, self.folder = alula, folder
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self.socket.getsockname()[1]
        self.notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notes.bind(f"{folder}/notify")
        self.notes.settimeout(60)
        self.name = re.search(r"^FileDescriptorName=(.*)$", (DEPLOY / "alula.socket").read_text(), re.M)[1]
        self.seen = set()
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", EXEC, str(self.socket.fileno()), self.name, f"{self.folder}/notify", self.alula, "serve",
             "--demo", "--admin-bind", f"unix:{self.folder}/admin", "--drain-delay", "0s", "--access-log", "off",
             "--source-cache-path", f"{self.folder}/store", "--config", f"{self.folder}/alula.json5"],
            pass_fds=[self.socket.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until("READY=1")

    def until(self, state):
        while state not in self.seen:
            self.seen.update(self.notes.recv(1000).decode().split("\n"))
        self.seen.discard(state)

    def write(self, version):
        """One of two versions: their images and presets give results of 40x20 and of 60x120 pixels."""
        text = json.dumps({"origins": {"shop": {"folder": f"{self.folder}/{version}"}},
                           "presets": {"card": {"w": [40, 60][version]}}})
        pathlib.Path(self.folder, "alula.json5").write_text(text)

    def reload(self, version):
        self.write(version)
        self.process.send_signal(signal.SIGHUP)
        self.until("RELOADING=1")
        self.until("READY=1")

    def restart(self):
        self.process.terminate()
        self.until("STOPPING=1")
        if self.process.wait(60):
            raise RuntimeError(f"the service ended with {self.process.returncode}")
        self.start()


def check(alula, report):
    report.line("an update under load:")
    results, sizes, ends = [], set(), threading.Event()

    def client(port, number):
        while not ends.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                for request in range(5):
                    isShop = (number + request) % 2
                    connection.request(
                        "GET", "/thumbnail?url=shop:a.png&preset=card&format=png" if isShop
                        else f"/thumbnail?url=demo:sample.jpg&w={100 + (number + request) % 7}")
                    answer = connection.getresponse()
                    body = answer.read()
                    results.append(answer.status)
                    if isShop:
                        sizes.add(struct.unpack(">II", body[16:24]))
                    if answer.getheader("Connection") == "close":
                        break
            except OSError as error:
                results.append(repr(error))
            except http.client.HTTPException as error:
                results.append(repr(error))
            finally:
                connection.close()

    with tempfile.TemporaryDirectory() as folder:
        supervisor = Supervisor(str(pathlib.Path(alula).resolve()), folder)
        for version, side in enumerate([(80, 40), (60, 120)]):
            os.mkdir(f"{folder}/{version}")
            pathlib.Path(folder, str(version), "a.png").write_bytes(noisy_png(*side, version))
        supervisor.write(0)
        supervisor.start()
        threads = [threading.Thread(target=client, args=[supervisor.port, number]) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(RESTARTS):
                time.sleep(1)
                supervisor.restart()
            restarted = len(results)
            for number in range(RELOADS):
                supervisor.reload((number + 1) % 2)
                time.sleep(0.2)
            time.sleep(1)
            supervisor.until("WATCHDOG=1")
            mode = os.stat(f"{folder}/admin").st_mode & 0o777
        finally:
            ends.set()
            for thread in threads:
                thread.join()
            supervisor.process.terminate()
            supervisor.process.wait(60)
        failures = [result for result in results if result != 200]
        report.check(not failures and len(results) >= 2_000,
                     f"{len(results)} requests during {RESTARTS} restarts, failed: {failures[:5] or 'none'}")
        report.check(len(results) - restarted >= 1_000 and sizes == {(40, 20), (60, 120)},
                     f"{len(results) - restarted} requests during {RELOADS} reloads, sizes: {sorted(sizes)}")
        report.check(mode == 0o660, f"the admin socket has the permissions {mode:o}")
        report.check(not os.path.exists(f"{folder}/admin"), "the admin socket is gone after the end")
