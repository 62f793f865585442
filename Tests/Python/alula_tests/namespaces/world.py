"""The world outside, in a network namespace of its own: every address belongs to it, and each connection is noted.

Prints one line for each connection that it accepts: the address that was dialled, and the port.
"""
import asyncio
import socket
import struct
import subprocess
import sys
import urllib.parse
import zlib

ORIGIN = "93.184.216.34"
NAME_SERVER = "9.9.9.9"
PORTS = [22, 25, 80, 443, 6379, 8080]

PUBLIC, METADATA = [ORIGIN], ["169.254.169.254"]
# Addresses of a name, answer by answer; the last one stays.
NAMES = {
    "origin.test": [PUBLIC],
    "metadata.test": [METADATA],
    "private.test": [["10.0.0.1"]],
    "loopback.test": [["127.0.0.1"]],
    "private6.test": [["fd00:ec2::254"]],
    "mapped.test": [["::ffff:10.0.0.1"]],
    "mixed.test": [PUBLIC + ["10.0.0.1"]],
    "mixed-reversed.test": [["10.0.0.1"] + PUBLIC],
    "mixed-families.test": [PUBLIC + ["fd00:ec2::254"]],
    # Rebinding: good when it is judged, bad when it is asked again.
    "rebinding.test": [PUBLIC, METADATA],
    "rebinding-back.test": [METADATA, PUBLIC],
}


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(range(0, 96, 2)) for _ in range(16))
    head = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


async def serve(reader, writer):
    """An image on every path; `/redirect/HEX` leads to the URL of these bytes."""
    address, port = writer.get_extra_info("sockname")[:2]
    print(address.removeprefix("::ffff:"), port, flush=True)
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            path = urllib.parse.unquote(line.split(b" ")[1].decode())
            if path.startswith("/redirect/"):
                location = bytes.fromhex(path.removeprefix("/redirect/"))
                writer.write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nCache-Control: no-store\r\nLocation: " + location
                             + b"\r\n\r\n")
            else:
                body = png()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nCache-Control: no-store\r\nContent-Length: "
                             + str(len(body)).encode() + b"\r\n\r\n" + body)
            await writer.drain()
    except (OSError, IndexError, ValueError):
        pass
    writer.close()


class NameServer(asyncio.DatagramProtocol):
    """Answers for `NAMES`, in turn; names under `silent.test` never, and others do not exist."""

    def __init__(self):
        self.asked = {}

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, query, client):
        labels, place = [], 12
        while query[place]:
            labels.append(query[place + 1:place + 1 + query[place]].decode().lower())
            place += 1 + query[place]
        question, kind = query[12:place + 5], struct.unpack(">H", query[place + 1:place + 3])[0]
        name = ".".join(labels)
        if name.endswith("silent.test"):
            return
        is_public = name.endswith((".origin.test", ".example.com", ".example")) or name == "example.com"
        turns = NAMES.get("origin.test" if is_public else name)
        if turns is None:
            return self.answer(query, question, [], 3, client)
        # Both families of one look-up are answered alike.
        turn = self.asked.get((name, kind), 0)
        self.asked[name, kind] = turn + 1
        family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
        records = []
        for address in turns[min(turn, len(turns) - 1)]:
            if family == (socket.AF_INET6 if ":" in address else socket.AF_INET):
                data = socket.inet_pton(family, address)
                # The name is the question's; it may be kept for no time at all.
                records.append(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data)
        self.answer(query, question, records, 0, client)

    def answer(self, query, question, records, code, client):
        head = query[:2] + struct.pack(">HHHHH", 0x8580 | code, 1, len(records), 0, 0)
        self.transport.sendto(head + question + b"".join(records), client)


def ip(command):
    subprocess.run(["ip", *command.split()], check=True)


async def main():
    # The other end of the cable comes when the service's namespace hands it over.
    sys.stdin.readline()
    ip("link set lo up")
    ip("addr add 11.11.11.1/30 dev world")
    ip("-6 addr add 2a00:1450:1::1/64 dev world nodad")
    ip("link set world up")
    for address in sys.argv[1:]:
        ip(f"addr add {address} dev lo" + (" nodad" if ":" in address else ""))
    ip(f"addr add {NAME_SERVER}/32 dev lo")
    # Whatever is not at the other end of the cable is here.
    ip("route add 11.11.11.2/32 dev world table local")
    ip("route add local default dev lo table local")
    ip("-6 route add 2a00:1450:1::2/128 dev world table local")
    ip("-6 route add local default dev lo table local")
    for port in PORTS:
        await asyncio.start_server(serve, "::", port, family=socket.AF_INET6, backlog=512)
        await asyncio.start_server(serve, "0.0.0.0", port, family=socket.AF_INET, backlog=512)
    await asyncio.get_running_loop().create_datagram_endpoint(NameServer, local_addr=(NAME_SERVER, 53))
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
