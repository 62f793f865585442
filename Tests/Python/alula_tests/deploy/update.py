"""An update of the program under load, with the sockets and notifications of systemd: no request may be lost."""
import http.client
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from alula_tests.deploy.proxies import DEPLOY

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
             "--source-cache-path", f"{self.folder}/store"],
            pass_fds=[self.socket.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until("READY=1")

    def until(self, state):
        while state not in self.seen:
            self.seen.update(self.notes.recv(1000).decode().split("\n"))
        self.seen.discard(state)

    def restart(self):
        self.process.terminate()
        self.until("STOPPING=1")
        if self.process.wait(60):
            raise RuntimeError(f"the service ended with {self.process.returncode}")
        self.start()


def check(alula, report):
    report.line("an update under load:")
    results, ends = [], threading.Event()

    def client(port, number):
        while not ends.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                for request in range(5):
                    connection.request("GET", f"/thumbnail?url=demo:sample.jpg&w={100 + (number + request) % 7}")
                    answer = connection.getresponse()
                    answer.read()
                    results.append(answer.status)
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
        supervisor.start()
        threads = [threading.Thread(target=client, args=[supervisor.port, number]) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(RESTARTS):
                time.sleep(1)
                supervisor.restart()
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
        report.check(mode == 0o660, f"the admin socket has the permissions {mode:o}")
        report.check(not os.path.exists(f"{folder}/admin"), "the admin socket is gone after the end")
