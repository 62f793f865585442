"""Damages image files: the ways in which disks, networks and people do it, and some that only a people's worst do."""
import struct
import zlib

# Sides that decoders have been tripped by.
SIDES = [0, 1, 2, 7, 255, 256, 4095, 16383, 16384, 32767, 32768, 65500, 65535]
LONG_SIDES = SIDES + [65536, 100_000, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]


def flip(data, choice):
    """A few bits, anywhere or in the header."""
    end = len(data) if choice.random() < 0.5 else min(len(data), 200)
    for _ in range(choice.choice([1, 1, 2, 4, 16, 64])):
        data[choice.randrange(end)] ^= 1 << choice.randrange(8)
    return data


def truncate(data, choice):
    return data[:choice.randrange(len(data))]


def overwrite(data, choice):
    """A run of bytes becomes zeros, ones or noise."""
    start = choice.randrange(len(data))
    length = min(len(data) - start, choice.choice([1, 2, 4, 16, 256]))
    data[start:start + length] = choice.choice([bytes(length), b"\xff" * length, choice.randbytes(length)])
    return data


def repeat(data, choice):
    """A part comes once more, or many times."""
    start = choice.randrange(len(data))
    part = data[start:start + choice.choice([1, 8, 64, 1024])]
    return data[:start] + part * choice.choice([1, 1, 2, 50]) + data[start:]


def cut(data, choice):
    start = choice.randrange(len(data))
    return data[:start] + data[start + choice.choice([1, 2, 8, 64, 1024]):]


def swap(data, choice):
    """Chunks, segments or boxes change places; parts of any other file do."""
    parts = chunks(data)
    if len(parts) > 3:
        first, second = choice.sample(range(1, len(parts)), 2)
        parts[first], parts[second] = parts[second], parts[first]
        return bytearray(b"".join(parts))
    middle = choice.randrange(len(data))
    return data[middle:] + data[:middle]


def resize(data, choice):
    """Another size in the header, with a right checksum if the format has one."""
    if data[:4] == b"\x89PNG" and len(data) > 33:
        data[16:24] = struct.pack(">II", choice.choice(LONG_SIDES), choice.choice(LONG_SIDES))
        return repaired(data)
    if data[:3] == b"GIF" and len(data) > 10:
        data[6:10] = struct.pack("<HH", choice.choice(SIDES), choice.choice(SIDES))
        return data
    if data[:2] == b"\xff\xd8":
        for marker in (b"\xff\xc0", b"\xff\xc2"):
            at = data.find(marker)
            if 0 <= at < len(data) - 9:
                data[at + 5:at + 9] = struct.pack(">HH", choice.choice(SIDES), choice.choice(SIDES))
        return data
    if data[:4] == b"RIFF":
        for name, at in ((b"VP8X", 12), (b"VP8 ", 14), (b"VP8L", 9), (b"ANMF", 14)):
            found = data.find(name)
            if 0 <= found < len(data) - at - 6:
                data[found + at:found + at + 6] = choice.choice([choice.randbytes(6), b"\xff" * 6, bytes(6)])
        return data
    if data[:2] == b"BM" and len(data) > 26:
        data[18:26] = struct.pack("<II", choice.choice(LONG_SIDES), choice.choice(LONG_SIDES))
        return data
    at = data.find(b"width='")
    if at >= 0:
        side = str(choice.choice([*LONG_SIDES, 1e300, -1, "nan", "9em", "100%"])).encode()
        return data[:at + 7] + side + data[at + 7:]
    at = data.find(b"ispe")
    if 0 <= at < len(data) - 16:
        data[at + 8:at + 16] = struct.pack(">II", choice.choice(LONG_SIDES), choice.choice(LONG_SIDES))
    return data


def miscount(data, choice):
    """A length field lies."""
    parts = chunks(data)
    at = sum(map(len, parts[:choice.randrange(len(parts))]))
    width = 2 if data[:2] == b"\xff\xd8" else 4
    at += 2 if width == 2 else (4 if data[:4] == b"RIFF" else 0)
    value = choice.choice([0, 1, 2, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF]) & ((1 << 8 * width) - 1)
    data[at:at + width] = value.to_bytes(width, choice.choice(["big", "little"]))
    return data


def splice(data, choice, other):
    """The beginning of one file and the end of another of its format."""
    return data[:choice.randrange(len(data))] + other[choice.randrange(len(other)):]


def chunks(data):
    """The file in the parts that its format knows: the first is the signature."""
    if data[:4] == b"\x89PNG":
        return walk(data, 8, lambda at: 12 + int.from_bytes(data[at:at + 4], "big"))
    if data[:4] == b"RIFF":
        return walk(data, 12, lambda at: 8 + (int.from_bytes(data[at + 4:at + 8], "little") + 1) // 2 * 2)
    if data[4:8] == b"ftyp":
        return walk(data, 0, lambda at: max(8, int.from_bytes(data[at:at + 4], "big")))
    if data[:2] == b"\xff\xd8":
        starts = [at for at in range(2, len(data) - 1) if data[at] == 0xFF and data[at + 1] >= 0xC0]
    else:
        starts = [at for at in range(13, len(data) - 1) if data[at] in (0x21, 0x2C) and data[at - 1] == 0]
    bounds = [0, *starts, len(data)]
    return [bytes(data[first:last]) for first, last in zip(bounds, bounds[1:])]


def walk(data, start, length):
    parts, at = [bytes(data[:start])], start
    while at < len(data):
        end = min(len(data), at + max(1, length(at)))
        parts.append(bytes(data[at:end]))
        at = end
    return parts


def repaired(data):
    """A PNG whose checksums are right again, so that its decoder accepts it."""
    parts = chunks(data)
    fixed = [part[:-4] + struct.pack(">I", zlib.crc32(part[4:-4])) if len(part) >= 12 else part for part in parts[1:]]
    return bytearray(b"".join([parts[0], *fixed]))


WAYS = [flip, flip, flip, truncate, overwrite, overwrite, repeat, cut, swap, resize, resize, miscount]


def mutated(good, choice):
    """One of these files of a kind, damaged."""
    data = bytearray(choice.choice(good))
    for _ in range(choice.choice([1, 1, 1, 2, 3])):
        if len(data) < 16:
            break
        if choice.random() < 0.07:
            data = splice(data, choice, choice.choice(good))
        else:
            data = choice.choice(WAYS)(data, choice)
    if data[:4] == b"\x89PNG" and choice.random() < 0.7:
        data = repaired(data)
    return bytes(data)
