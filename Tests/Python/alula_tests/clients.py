"""Asking the service: single requests, its metrics, and readers that ask again and again."""
import http.client
import random
import threading
import time
import urllib.parse


def thumbnail(source, **query):
    """The target of a thumbnail of a source."""
    return "/thumbnail?" + urllib.parse.urlencode({"url": source, **query})


def connect(port, seconds=60):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)


def get(connection, target):
    """The answer to a GET, and its body."""
    connection.request("GET", target)
    answer = connection.getresponse()
    return answer, answer.read()


def metrics(service):
    """The service's metrics by name and labels."""
    found, connection = {}, connect(service.admin_port)
    text = get(connection, "/metrics")[1].decode()
    connection.close()
    for row in text.splitlines():
        if not row.startswith("#"):
            name, _, value = row.rpartition(" ")
            found[name] = float(value)
    return found


def ends_of_workers(found):
    """How many worker processes have ended, by cause."""
    return {name.split('"')[1]: int(value) for name, value in found.items()
            if name.startswith("alula_decode_worker_ends_total{")}


def references(service, targets):
    """The expected thumbnails: the answers of a service that works in another way than the one under test."""
    connection, found = connect(service.port), {}
    for key, target in targets.items():
        answer, body = get(connection, target)
        assert answer.status == 200, f"reference {key}: {answer.status} {body[:200]}"
        found[key] = body
    return found


class Readers:
    """Threads that ask for random thumbnails and compare them, until they are stopped or the service is gone."""

    def __init__(self, service, targets, expected, seed, count=6):
        self.port, self.targets, self.expected = service.port, targets, expected
        # Seconds of each answer; wrong answers by key, with the fault; connections that ended without an answer.
        self.seconds, self.wrong, self.lost = [], [], []
        self.is_stopped = False
        self.threads = [
            threading.Thread(target=self.read, args=[random.Random(f"{seed} {number}")]) for number in range(count)]
        for thread in self.threads:
            thread.start()

    def read(self, choice):
        connection, keys = connect(self.port), list(self.expected)
        while not self.is_stopped:
            key = choice.choice(keys)
            start = time.monotonic()
            try:
                answer, body = get(connection, self.targets[key])
            except (OSError, http.client.HTTPException) as fault:
                self.lost.append((key, 0, repr(fault)))
                return
            self.seconds.append(time.monotonic() - start)
            if answer.status != 200:
                self.wrong.append((key, answer.status, body[:200]))
            elif body != self.expected[key]:
                self.wrong.append((key, 200, f"{len(body)} bytes"))

    def join(self):
        """Waits until the service is gone."""
        for thread in self.threads:
            thread.join()

    def stop(self):
        self.is_stopped = True
        self.join()
