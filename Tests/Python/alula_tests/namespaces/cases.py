"""URLs that must lead nowhere: denied addresses in every spelling, and other ways to the machine itself or its neighbors."""
import ipaddress

# One or two of each network that is denied, and addresses with a meaning of their own.
DENIED_IPV4 = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.254", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
    "168.63.129.16", "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.254", "192.0.0.192",
    "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.254", "198.18.0.1", "198.19.255.254", "198.51.100.1",
    "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
]
DENIED_IPV6 = [
    "::", "::1", "100::1", "2001::1", "2001:2::1", "2001:db8::1", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1",
    "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2606:2800:220:1:0:5efe:808:808", "2606:2800:220:1:200:5efe:808:808",
]
# Their neighbors on the allowed side.
ALLOWED = [
    "8.8.8.8", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.254", "128.0.0.1", "169.253.255.255", "169.255.0.1",
    "172.15.255.255", "172.32.0.1", "192.167.255.255", "192.169.0.1", "198.17.255.255", "198.20.0.1", "223.255.255.254",
    "2001:200::1", "2606:2800:220:1::1", "2a00:1450:4001::1",
]

NAMES = [
    "localhost", "LOCALHOST.", "foo.localhost", "localhost.localdomain", "ip6-localhost", "loc\u00adalhost", "\u24dbocalhost",
]
URLS = [
    "http://user@127.0.0.1/", "http://127.0.0.1@[::1]/", "http://[::1]\\@example.com/", "http:127.0.0.1", "http:///127.0.0.1",
    "file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "dict://127.0.0.1/", "ws://127.0.0.1/", "//127.0.0.1/",
    "http://127.0.0.1%00.example.com/", "http://[fe80::1%25lo]/", "http://[::ffff:0:127.0.0.1]/",
    # Ports of mail, databases and the service itself.
    "http://8.8.8.8:25/", "http://8.8.8.8:6379/", "http://8.8.8.8:8080/", "http://8.8.8.8:0/", "http://8.8.8.8:65536/",
]


def spellings(address):
    """Ways to write an IPv4 address that some parser takes."""
    number = int(ipaddress.IPv4Address(address))
    parts = address.split(".")
    high, low = f"{number >> 16:x}", f"{number & 0xffff:x}"
    yield from [
        address, address + ".", str(number), hex(number), "0" + oct(number)[2:], ".".join(hex(int(part)) for part in parts),
        ".".join(f"{int(part):012o}" for part in parts), f"{parts[0]}.{number & 0xffffff}",
        f"{parts[0]}.{parts[1]}.{number & 0xffff}", address.replace(".", "\u3002"), address.replace(".", "\uff0e"),
        "".join(chr(ord(c) - 0x30 + 0xff10) if c.isdigit() else c for c in address),
        "".join(f"%{ord(c):02x}" for c in address),
        f"[::ffff:{address}]", f"[::ffff:{high}:{low}]", f"[::{address}]", f"[64:ff9b::{address}]", f"[64:ff9b:1::{address}]",
        f"[2002:{high}:{low}::1]", f"[2001::{high}:{low}]", f"[2606:2800:220:1:0:5efe:{high}:{low}]",
        f"[2606:2800:220:1:200:5efe:{high}:{low}]",
    ]


def rejected():
    """URLs that must be refused and never dialled."""
    hosts = [host for address in DENIED_IPV4 for host in spellings(address)] + [f"[{a}]" for a in DENIED_IPV6] + NAMES
    return [f"http://{host}/a.png" for host in hosts] + [f"https://{host}/a.png" for host in DENIED_IPV4] + URLS


def allowed():
    """URLs that must be dialled."""
    return [f"http://[{a}]/a.png" if ":" in a else f"http://{a}/a.png" for a in ALLOWED]


def from_file(path):
    """Further cases, one a line: URL, `reject` or `allow`, separated by a tab; what follows is ignored."""
    rejects, allows = [], []
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            url, _, rest = line.rstrip("\n").partition("\t")
            expectation = rest.partition("\t")[0]
            for escape, byte in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\x00", "\0")):
                url = url.replace(escape, byte)
            if expectation == "reject":
                rejects.append(url)
            elif expectation == "allow":
                allows.append(url)
    return rejects, allows
