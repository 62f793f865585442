"""Measures many renditions of one image in one call, and large uploads at once.

Figures of one run compare with each other only; CPU time is that of all of a service's processes.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import http.client
import json
import os
import statistics
import tempfile
import threading
import time
import urllib.parse

from processes import Server, free_port, nginx
from run import Alula

BOUNDARY = "alula-bench"
TEN = [160, 240, 320, 480, 640, 800, 960, 1120, 1280, 1440]


def send(port, method, target, body=None, **fields):
    """Status, fields and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, target, body, {name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def form(image, renditions):
    """A form with a list and an image."""
    def part(name, content):
        return f"--{BOUNDARY}\r\nContent-Disposition: form-data; {name}\r\n\r\n".encode() + content + b"\r\n"

    listed = json.dumps({"renditions": renditions}).encode()
    return part('name="request"', listed) + part('name="file"; filename="a"', image) + f"--{BOUNDARY}--\r\n".encode()


def checked(answer, *parts):
    """The answer's body; ends the program if it is not what was asked for."""
    status, _, body = answer
    if status != 200 or any(body.count(text) != count for text, count in parts):
        raise SystemExit(f"status {status}, {body[:400]}")
    return body


def other(image, number):
    """The same image in a file that no other number makes: bytes behind the end of a JPEG are not shown."""
    return image + hashlib.sha256(str(number).encode()).digest()


def measured(server, work):
    """CPU and wall milliseconds of `work`."""
    cpu, start = server.cpu(), time.monotonic()
    work()
    return (server.cpu() - cpu) * 1000, (time.monotonic() - start) * 1000


def row_sixty_four(options, folder, photo):
    """64 renditions of one call beside 64 requests for the same renders, both from a warm decode."""
    with Alula(options.alula) as alula, \
            nginx(folder, free_port(), f"root {os.path.dirname(photo)};") as origin:
        url = f"http://127.0.0.1:{origin.port}/{os.path.basename(photo)}"
        source = urllib.parse.quote(url, safe="")
        widths = [250 + 2 * step for step in range(64)]

        def queries(quality):
            return [f"w={width}&q={quality}&format=jpeg" for width in widths]

        def call(quality):
            body = json.dumps({"url": url, "renditions": queries(quality)})
            checked(send(alula.port, "POST", "/thumbnails", body, Content_Type="application/json"), (b"image/jpeg", 64))

        def alone(quality):
            connection = http.client.HTTPConnection("127.0.0.1", alula.port)
            for query in queries(quality):
                connection.request("GET", f"/thumbnail?url={source}&{query}")
                answer = connection.getresponse()
                if answer.status != 200:
                    raise SystemExit(answer.read())
                answer.read()
            connection.close()

        call(50)
        alone(51)
        calls, alones = [], []
        for number in range(options.rounds):
            # Neighbouring qualities, in turns, so that neither finds the other's results.
            low = 60 + 2 * number
            first, second = (low, low + 1) if number % 2 else (low + 1, low)
            calls.append(measured(alula, lambda: call(first)))
            alones.append(measured(alula, lambda: alone(second)))
        decodes = alula.total("alula_decodes_total")
        cpu = sum(cost for cost, _ in calls), sum(cost for cost, _ in alones)
        print(f"64 renditions of one call: {cpu[0] / options.rounds:.0f} ms of CPU, {statistics.median(t for _, t in calls):.0f} ms; "
              f"alone {cpu[1] / options.rounds:.0f} and {statistics.median(t for _, t in alones):.0f}; "
              f"ratio of CPU {cpu[0] / cpu[1]:.3f} (aim 1.05), decodes {decodes:.0f}")


def row_ten(options, folder, photo):
    """Ten renditions of one upload beside ten uploads for one each."""
    with open(photo, "rb") as file:
        image = file.read()
    names = [{"name": str(width), "query": f"w={width}&format=jpeg&q=80"} for width in TEN]

    def one_call(server, number):
        body = form(other(image, number), names)
        checked(send(server.port, "POST", "/thumbnails", body, Content_Type=f"multipart/form-data; boundary={BOUNDARY}"),
                (b"image/jpeg", 10))

    def ten_posts(server, number):
        for width in TEN:
            checked(send(server.port, "POST", f"/thumbnail?w={width}&format=jpeg&q=80", other(image, f"{number} {width}"),
                         Content_Type="image/jpeg"))

    def same_posts(server, number):
        for width in TEN:
            checked(send(server.port, "POST", f"/thumbnail?w={width}&format=jpeg&q=80", other(image, f"same {number}"),
                         Content_Type="image/jpeg"))

    def ten_to_thumbor(server, number):
        for width in TEN:
            status, fields, _ = send(server.port, "POST", "/image", other(image, f"{number} {width}"),
                                     Content_Type="image/jpeg", Slug="a.jpg")
            if status != 201:
                raise SystemExit(f"thumbor's upload: {status}")
            name = fields["Location"].split("/")[2]
            checked(send(server.port, "GET", f"/unsafe/{width}x0/{name}"))

    def row(server, name, work):
        work(server, "warm")
        found = [measured(server, lambda: work(server, number)) for number in range(options.rounds)]
        cpu, wall = sum(cost for cost, _ in found) / options.rounds, statistics.median(time for _, time in found)
        print(f"  {name}: {cpu:.0f} ms of CPU, {wall:.0f} ms")
        return cpu

    print(f"Ten sizes of an image of {len(image) / 1e6:.1f} MB:")
    with Alula(options.alula, "--uploads", "on") as alula:
        call = row(alula, "one call", one_call)
        posts = row(alula, "ten requests with an image of its own each", ten_posts)
        same = row(alula, "ten requests with the same image", same_posts)
    print(f"  ratio of CPU to ten images {call / posts:.2f}, to the same image {call / same:.2f}")
    executable = os.path.join(options.venv, "bin", "thumbor")
    if not os.path.exists(executable):
        return print("  thumbor cannot be had here")
    port, settings = free_port(), f"{folder}/thumbor-upload.conf"
    with open(settings, "w") as file:
        file.write("ALLOW_UNSAFE_URL = True\nQUALITY = 80\nUPLOAD_ENABLED = True\nUPLOAD_MAX_SIZE = 0\n"
                   "UPLOAD_PHOTO_STORAGE = 'thumbor.storages.file_storage'\nSTORAGE = 'thumbor.storages.file_storage'\n"
                   f"FILE_STORAGE_ROOT_PATH = '{folder}/thumbor'\nRESULT_STORAGE = None\nMAX_SOURCE_SIZE = 0\n")
    with Server("thumbor", [executable, "-p", str(port), "-i", "127.0.0.1", "-c", settings, "--processes", "2"], port) as server:
        peer = row(server, "thumbor, ten uploads", ten_to_thumbor)
    print(f"  ratio of CPU to thumbor {call / peer:.2f} (aim 0.3)")


def row_large(options, folder, photo, budget):
    """Twenty uploads of 40 MB at once, and thumbnails for others meanwhile; a refused client comes again."""
    with open(photo, "rb") as file:
        image = file.read()
    settings = ["--uploads", "on", "--memory-budget", budget, "--max-source-bytes", "64MiB", "--request-timeout", "60s"]
    with Alula(options.alula, *settings) as alula, \
            nginx(folder, free_port(), f"root {os.path.dirname(photo)};") as origin:
        source = urllib.parse.quote(f"http://127.0.0.1:{origin.port}/{os.path.basename(photo)}", safe="")
        refusals, over, latencies, most = [], threading.Event(), [], [0]

        def upload(number):
            body = image + bytes([number]) * (40_000_000 - len(image))
            while True:
                try:
                    status, _, _ = send(alula.port, "POST", "/thumbnail?w=300&format=jpeg", body, Content_Type="image/jpeg")
                except (BrokenPipeError, ConnectionResetError):
                    status = 503  # The refusal came while the image was being sent.
                if status != 503:
                    return status
                refusals.append(number)
                time.sleep(0.5)

        def visit():
            width = 100
            while not over.is_set():
                width += 1
                start = time.monotonic()
                checked(send(alula.port, "GET", f"/thumbnail?url={source}&w={width}&format=jpeg"))
                latencies.append((time.monotonic() - start) * 1000)
                held = sum(value for name, value in alula.metrics().items() if name.startswith("alula_memory_bytes{"))
                most[0] = max(most[0], held)

        send(alula.port, "GET", f"/thumbnail?url={source}&w=100&format=jpeg")
        before = alula.proportional()
        visitor = threading.Thread(target=visit)
        visitor.start()
        start = time.monotonic()
        with alula.watched() as largest, concurrent.futures.ThreadPoolExecutor(20) as pool:
            statuses = list(pool.map(upload, range(20)))
        seconds = time.monotonic() - start
        over.set()
        visitor.join()
        print(f"Twenty uploads of 40 MB at once, budget {budget}: {statuses.count(200)} of 20 answered with an image in {seconds:.1f} s, "
              f"{len(refusals)} refusals before them; "
              f"held and reserved at most {most[0] / 2**20:.0f} MiB, memory of all processes {before:.0f} MiB before, at most {largest[0]:.0f}; "
              f"{len(latencies)} thumbnails meanwhile, median {statistics.median(latencies):.0f} ms, slowest {max(latencies):.0f}")
        if statuses != [200] * 20:
            raise SystemExit(f"uploads were lost: {statuses}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--photos", required=True, help="a folder with a JPEG file")
    parser.add_argument("--venv", default=".build/venv-bench", help="where thumbor may be")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", choices=["64", "10", "large"])
    options = parser.parse_args()
    photos = sorted(glob.glob(os.path.join(options.photos, "**", "*.jpg"), recursive=True), key=os.path.getsize)
    photo = os.path.abspath(photos[len(photos) // 2])
    print(f"{photo}, {os.path.getsize(photo) / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        if options.only in (None, "64"):
            row_sixty_four(options, folder, photo)
        if options.only in (None, "10"):
            row_ten(options, folder, photo)
        if options.only in (None, "large"):
            row_large(options, folder, photo, "1200MiB")
            row_large(options, folder, photo, "700MiB")


if __name__ == "__main__":
    main()
