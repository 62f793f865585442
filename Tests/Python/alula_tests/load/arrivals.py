"""Requests that arrive at a fixed rate, whatever becomes of those before them, over as many connections as that takes."""
import asyncio
import collections
import dataclasses
import time


@dataclasses.dataclass
class Answer:
    """The result of one request; times in seconds."""
    kind: str
    # When it was to be sent: a generator that lags makes the service look slower, never faster.
    due: float
    # When it was sent indeed, or its connection begun.
    begun: float
    latency: float
    # The status, or 0 if no answer came.
    status: int
    fault: str = ""
    retry_after: str = ""


class Connection(asyncio.Protocol):
    """One connection with at most one request in hand."""

    def __init__(self, client):
        self.client = client
        self.transport = None
        self.waiting = None
        self.buffer = b""
        self.missing = None

    def connection_made(self, transport):
        self.transport = transport

    def ask(self, kind, due, request, begun=None):
        self.waiting = (kind, due, begun or time.monotonic())
        self.transport.write(request)

    def data_received(self, data):
        if self.missing is None:
            self.buffer += data
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.buffer[:end].lower()
            place = head.index(b"\r\ncontent-length:") + 17
            length = int(head[place:head.find(b"\r\n", place) if b"\r\n" in head[place:] else len(head)])
            self.missing = end + 4 + length - len(self.buffer)
        else:
            self.missing -= len(data)
        if self.missing > 0:
            return
        head = self.buffer[:self.buffer.find(b"\r\n\r\n")].lower()
        self.buffer, self.missing = b"", None
        retry = head.partition(b"\r\nretry-after:")[2].partition(b"\r\n")[0].strip().decode()
        self._finish(int(head[9:12]), retry_after=retry)
        if b"\r\nconnection: close" in head or self.client.is_single:
            self.transport.close()
        else:
            self.client.idle.append(self)

    def connection_lost(self, failure):
        self.transport = None
        if self.waiting:
            self._finish(0, fault=f"closed in hand: {failure!r}")

    def _finish(self, status, **more):
        (kind, due, begun), self.waiting = self.waiting, None
        self.client.answers.append(Answer(kind, due, begun, time.monotonic() - due, status, **more))
        self.client.in_hand -= 1


class Client:
    """Sends requests to one port; with `is_single`, each over a connection of its own."""

    def __init__(self, port, is_single=False):
        self.port, self.is_single = port, is_single
        self.answers, self.idle, self.in_hand = [], collections.deque(), 0

    def send(self, kind, target, due=None):
        """Sends a request that is due now, or was due at the given time."""
        due = due or time.monotonic()
        close = "Connection: close\r\n" if self.is_single else ""
        request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n{close}\r\n".encode()
        self.in_hand += 1
        while self.idle:
            connection = self.idle.pop()
            if connection.transport and not connection.transport.is_closing():
                return connection.ask(kind, due, request)
        asyncio.ensure_future(self._connect(kind, due, request))

    async def _connect(self, kind, due, request):
        begun, fault = time.monotonic(), ""
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(self), "127.0.0.1", self.port)
        except ConnectionRefusedError:
            fault = "not connected"
        except OSError as failure:
            fault = f"not connected: {failure}"
        if not fault and connection.transport is None:
            fault = "closed before the request"
        if not fault:
            return connection.ask(kind, due, request, begun)
        self.in_hand -= 1
        self.answers.append(Answer(kind, due, begun, time.monotonic() - due, 0, fault=fault))

    async def arrive(self, kind, targets, rate, seconds, until=lambda: False):
        """Sends `rate` requests a second for so many seconds, or until told to stop."""
        start = time.monotonic()
        for number in range(int(rate * seconds)):
            due = start + number / rate
            # A late one is sent at once, and its lateness counts.
            while (rest := due - time.monotonic()) > 0:
                await asyncio.sleep(rest)
            if until():
                break
            self.send(kind, next(targets), due)

    async def take_turns(self, kind, targets, count, seconds):
        """A closed loop: `count` requests are in hand all the time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            while self.in_hand < count:
                self.send(kind, next(targets))
            await asyncio.sleep(0.001)
        await self.settle()

    async def settle(self, seconds=30):
        """Waits for the answers to all requests."""
        end = time.monotonic() + seconds
        while self.in_hand > 0 and time.monotonic() < end:
            await asyncio.sleep(0.01)
        if self.in_hand > 0:
            raise SystemExit(f"FAILED: {self.in_hand} requests were never answered")

    def close(self):
        """Closes the connections that are kept."""
        while self.idle:
            connection = self.idle.pop()
            if connection.transport:
                connection.transport.close()

    def take(self, kind=None):
        """The answers so far, which are forgotten here."""
        taken = [answer for answer in self.answers if kind in (None, answer.kind)]
        self.answers = [answer for answer in self.answers if kind not in (None, answer.kind)]
        return taken


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")
