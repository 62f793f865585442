"""Making requests: wrk for rates, plain sockets if all requests must start at once."""
import concurrent.futures
import re
import socket
import subprocess
import threading
import time

# Stands in paths for the number of the request.
NUMBER = "NUMBER"

SCRIPT = """
local paths = {{}}
for line in io.lines("{list}") do paths[#paths + 1] = line end
local next_thread = 0
function setup(thread) thread:set("offset", next_thread); next_thread = next_thread + 1 end
local i = 0
local bad = 0
function request()
  i = i + 1
  local n = offset + {threads} * (i - 1)
  local path = paths[n % #paths + 1]:gsub("{number}", n)
  return wrk.format("GET", path .. ({unique} and "{suffix}" .. n or ""))
end
"""


def wrk(folder, port, paths, connections, seconds, threads=2, unique=False, suffix=""):
    """Requests per second, p99 in ms, failures and number of requests of a closed loop."""
    threads = min(threads, connections)
    listing = f"{folder}/paths-{port}.txt"
    with open(listing, "w") as file:
        file.write("\n".join(paths) + "\n")
    script = f"{folder}/wrk-{port}.lua"
    with open(script, "w") as file:
        file.write(SCRIPT.format(list=listing, number=NUMBER, threads=threads, unique="true" if unique else "false", suffix=suffix))
    command = ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s", "--latency"]
    if len(paths) > 1 or unique:
        command += ["-s", script, f"http://127.0.0.1:{port}"]
    else:
        command += [f"http://127.0.0.1:{port}{paths[0]}"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    count = int(re.search(r"(\d+) requests in", text)[1])
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    p99 = float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    failures = (int(failed[1]) if failed else 0) + (sum(int(n) for n in broken.groups()) if broken else 0)
    return {"rate": rate, "p99": p99, "failures": failures, "count": count}


def get(port, path, timeout=60):
    """Status and length of one answer over a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        data = bytearray()
        while chunk := connection.recv(65536):
            data += chunk
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def each(port, paths, connections):
    """Makes every request once, `connections` at a time; seconds until the last answer, and the number of failures."""
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        statuses = list(pool.map(lambda path: get(port, path)[0], paths))
    return time.monotonic() - start, sum(status != 200 for status in statuses)


def together(port, paths):
    """Sends all requests at once; seconds until the last answer, and the failures."""
    barrier = threading.Barrier(len(paths) + 1)
    failures = []

    def one(path):
        connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        barrier.wait()
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        data = bytearray()
        while chunk := connection.recv(65536):
            data += chunk
        connection.close()
        if not data.startswith(b"HTTP/1.1 200"):
            failures.append(bytes(data[:200]))

    threads = [threading.Thread(target=one, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.monotonic()
    for thread in threads:
        thread.join()
    return time.monotonic() - start, failures
