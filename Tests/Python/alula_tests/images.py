"""Images made in code, and the media types of image files."""
import random
import struct
import zlib

MEDIA_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif"}


def png(width, height, rows):
    """A PNG file of these rows of RGB, each behind its filter byte."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


def noisy_png(width, height, number):
    """Noise that no other number makes."""
    noise = random.Random(number)
    return png(width, height, b"".join(b"\0" + noise.randbytes(width * 3) for _ in range(height)))


def gradient_png(width, height):
    """An image that is not trivial to scale: gradients under a little noise."""
    noise = random.Random(1)
    return png(width, height, b"".join(
        b"\0" + bytes((x * y // 256 + (bits & 15)) & 255 for x, bits in enumerate(noise.randbytes(width * 3)))
        for y in range(height)))
