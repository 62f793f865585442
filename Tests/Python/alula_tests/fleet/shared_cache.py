"""A Redis of the test's own, what can be done to its values, and a wire to it that can be slow, cut or lying."""
import contextlib
import random
import re
import socket
import subprocess
import threading
import time

from alula_tests.deploy.proxies import free_port
from alula_tests.service import Program, StartFailure

LISTENING = ("127.0.0.1", 0)


class Redis(Program):
    """A server that keeps nothing on disk; `start_again` has the same port and no values."""

    def __init__(self, maxmemory="256mb", port=None):
        self.port, self.maxmemory = port or free_port(), maxmemory
        self._start()

    def _start(self):
        super().__init__(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--maxmemory", self.maxmemory, "--maxmemory-policy", "allkeys-lru"], stdout=subprocess.PIPE)
        end = time.monotonic() + 20
        while True:
            try:
                if self.ask("PING") == b"PONG":
                    return
            except OSError:
                pass
            if time.monotonic() > end:
                raise StartFailure(f"Redis did not start: {self.lines[-5:]}")
            time.sleep(0.02)

    def start_again(self):
        self._start()

    def ask(self, *words):
        with contextlib.closing(RedisConnection(self.port)) as connection:
            return connection.ask(*words)

    def used(self):
        """Bytes that count against `maxmemory`."""
        return int(re.search(rb"used_memory:(\d+)", self.ask("INFO", "memory"))[1])

    def used_by_values(self):
        """Bytes of all keys and values. `maxmemory` counts connections and tables, too."""
        with contextlib.closing(RedisConnection(self.port)) as connection:
            return sum(connection.ask("MEMORY", "USAGE", key) or 0 for key in self.keys())

    def keys(self):
        with contextlib.closing(RedisConnection(self.port)) as connection:
            cursor, found = b"0", []
            while True:
                cursor, some = connection.ask("SCAN", cursor, "COUNT", "1000")
                found += some
                if cursor == b"0":
                    return found

    def flip_bits(self, seed=1):
        """Flips one bit of every value; how many."""
        choice, flipped = random.Random(seed), 0
        with contextlib.closing(RedisConnection(self.port)) as connection:
            for key in self.keys():
                if connection.ask("TYPE", key) != b"string":
                    continue
                value = bytearray(connection.ask("GET", key) or b"")
                if len(value) < 48:
                    # Generations and the like, which are no values.
                    continue
                value[choice.randrange(len(value))] ^= 1 << choice.randrange(8)
                connection.ask("SET", key, bytes(value), "KEEPTTL")
                flipped += 1
        return flipped

    def swap_values(self):
        """Puts each value under the key of another; how many."""
        with contextlib.closing(RedisConnection(self.port)) as connection:
            strings = [key for key in self.keys() if connection.ask("TYPE", key) == b"string"]
            values = [connection.ask("GET", key) for key in strings]
            pairs = [(key, value) for key, value in zip(strings, values) if value and len(value) >= 48]
            for (key, _), (_, value) in zip(pairs, pairs[1:] + pairs[:1]):
                connection.ask("SET", key, value, "KEEPTTL")
            return len(pairs)


class RedisConnection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.stream = self.socket.makefile("rb")

    def ask(self, *words):
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        return self._read()

    def _read(self):
        line = self.stream.readline()
        if not line:
            raise ConnectionError("closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise OSError(rest.decode())
        if kind == b"$":
            return None if rest == b"-1" else self.stream.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self._read() for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest

    def close(self):
        self.stream.close()
        self.socket.close()


class Wire:
    """Passes bytes between instances and Redis, as `mode` says: "pass", "slow" (each answer `delay` seconds later), "silent"
    (nothing passes any more), "cut" (connections end, new ones are refused) or "lying" (answers have wrong bits)."""

    def __init__(self, port, delay=0.2):
        self.target, self.delay, self.mode = port, delay, "pass"
        self.lock, self.pairs, self.is_closed = threading.Lock(), set(), False
        self.choice, self.port, self.listener = random.Random(1), None, None
        self._listen()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_closed = True
        self._end_all()

    def _listen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port or 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=[self.listener], daemon=True).start()

    def set(self, mode):
        before, self.mode = self.mode, mode
        if mode == "cut":
            self._end_all()
        elif before == "cut":
            self._listen()

    def _end_all(self):
        # A listener that is only closed goes on in a call to accept.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            self._end(pair)

    @staticmethod
    def _end(pair):
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pair = (client, server)
            with self.lock:
                self.pairs.add(pair)
            for source, sink, is_answer in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass, args=[source, sink, is_answer, pair], daemon=True).start()

    def _pass(self, source, sink, is_answer, pair):
        try:
            while data := source.recv(65_536):
                while self.mode == "silent" and pair in self.pairs:
                    time.sleep(0.01)
                if is_answer and self.mode == "slow":
                    time.sleep(self.delay)
                if is_answer and self.mode == "lying" and len(data) > 64:
                    wrong = bytearray(data)
                    wrong[self.choice.randrange(len(wrong))] ^= 1 << self.choice.randrange(8)
                    data = bytes(wrong)
                sink.sendall(data)
        except OSError:
            pass
        self._end(pair)
        with self.lock:
            self.pairs.discard(pair)
