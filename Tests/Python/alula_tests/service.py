"""Starting the programs under test and judging how they end."""
import json
import pathlib
import queue
import signal
import subprocess
import threading


class StartFailure(Exception):
    pass


class Program:
    """A process whose lines on one stream are collected by a thread."""

    def __init__(self, command, **streams):
        self.process = subprocess.Popen(command, text=True, errors="replace", **streams)
        self.lines = []
        self._first = queue.Queue(1)
        self._reader = threading.Thread(
            target=self._collect, args=[self.process.stderr or self.process.stdout], daemon=True)
        self._reader.start()

    def _collect(self, stream):
        for line in stream:
            self.lines.append(line.rstrip("\n"))
            if len(self.lines) == 1:
                self._first.put(self.lines[0])

    def first_line(self, seconds=120):
        try:
            return self._first.get(timeout=seconds)
        except queue.Empty:
            raise StartFailure(f"{self.process.args[0]} said nothing; exit status {self.process.poll()}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(10)


class Origin(Program):
    """The scripted origin: images and misbehavior by path."""

    def __init__(self, executable):
        super().__init__([executable], stdout=subprocess.PIPE)
        self.port = int(self.first_line())
        self.url = f"http://127.0.0.1:{self.port}"


class Service(Program):
    """`alula serve` on these ports, where 0 is a free one, with sources in these networks allowed: those on loopback, or none
    besides public ones."""

    def __init__(self, executable, *settings, networks="127.0.0.0/8", port=0, operator_port=0, **streams):
        if networks:
            settings = ["--allowed-networks", networks, *settings]
        super().__init__(
            [executable, "serve", "--port", str(port), "--admin-port", str(operator_port), *settings],
            stderr=subprocess.PIPE, **streams)
        try:
            listening = json.loads(self.first_line())
            self.port, self.admin_port = listening["port"], listening["adminPort"]
        except (StartFailure, ValueError, KeyError) as failure:
            self.kill()
            raise StartFailure(f"{executable} did not start: {failure!r} {self.lines}") from None
        self.url = f"http://127.0.0.1:{self.port}"
        self.admin_url = f"http://127.0.0.1:{self.admin_port}"

    def threads(self):
        return list(pathlib.Path(f"/proc/{self.process.pid}/task").iterdir())

    def children(self):
        """The states of the child processes by process identifier, such as S, and Z for a zombie. Each is the child of the thread that
        started it."""
        found = {}
        for thread in self.threads():
            try:
                for child in (thread / "children").read_text().split():
                    found[int(child)] = pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                pass
        return found

    def workers(self):
        """The child processes that are no zombies."""
        return [child for child, state in self.children().items() if state != "Z"]

    def stop(self, seconds=20):
        """Ends the service with SIGTERM; returns the faults of its end and its log."""
        complaints = []
        if self.process.poll() is not None:
            complaints.append(f"the service had ended by itself with status {self.process.returncode}")
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(seconds)
            if status != 0:
                complaints.append(f"exit status {status} after SIGTERM")
        except subprocess.TimeoutExpired:
            complaints.append(f"still running {seconds} s after SIGTERM")
        self.kill()
        return complaints + [f"in the log: {line}" for line in self.lines if not self._is_calm(line)]

    @staticmethod
    def _is_calm(line):
        try:
            return json.loads(line)["level"] != "error"
        except (ValueError, KeyError, TypeError):
            return False
