"""The expected thumbnails, drawn by Pillow from the sources."""
import io

from PIL import Image, ImageCms, ImageOps

from alula_tests.smoke import geometry

Image.MAX_IMAGE_PIXELS = None
STANDARD = ImageCms.createProfile("sRGB")
WHITE = (255, 255, 255, 255)
# Sources are compared in small: means over squares of the image show color, turn and crop.
GRID = (12, 12)
LARGEST = 1024


def upright(path):
    """The source upright, in sRGB with alpha, at most LARGEST wide and high; and its upright size."""
    with Image.open(path) as file:
        profile = file.info.get("icc_profile")
        image = ImageOps.exif_transpose(file)
        size = image.size
        # Alpha is premultiplied while shrinking only in RGBA.
        if image.mode in ("P", "LA", "PA") or "transparency" in image.info:
            image = image.convert("RGBA")
        image.thumbnail((LARGEST, LARGEST), Image.Resampling.BOX)
    if profile and image.mode in ("RGB", "CMYK", "L"):
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        image = ImageCms.profileToProfile(
            image, source, STANDARD, renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB",
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION)
    return image.convert("RGBA"), size


def drawn(image, job, source, size):
    """The expected thumbnail."""
    if job.fit == "cover":
        return ImageOps.fit(image, size, Image.Resampling.BOX)
    if job.fit != "contain":
        return image.resize(size, Image.Resampling.BOX)
    width, height = geometry.inner(job, source)
    canvas = Image.new("RGBA", size, (255, 255, 255, 0))
    canvas.paste(image.resize((width, height), Image.Resampling.BOX), ((size[0] - width) // 2, (size[1] - height) // 2))
    return canvas


def flat(image):
    """Without alpha, on white, in small."""
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, WHITE), image).convert("RGB").resize(
        GRID, Image.Resampling.BOX)


def difference(one, other):
    """The mean and the largest difference of squares, 0…255."""
    values = [abs(a - b) for a, b in zip(flat(one).tobytes(), flat(other).tobytes())]
    return sum(values) / len(values), max(values)


def is_translucent(image):
    return image.convert("RGBA").getextrema()[3][0] < 255


def is_hazy(image):
    """Whether more than a few pixels are neither opaque nor wholly transparent."""
    counts = image.convert("RGBA").getchannel("A").histogram()
    return sum(counts[1:255]) > sum(counts) / 100


class ContactSheet:
    """One row a source: the source, then its thumbnails, on squares that show alpha."""

    CELL = (180, 140)

    def __init__(self, columns):
        self.columns = columns
        self.rows = {}

    def add(self, name, column, image):
        cell = ImageOps.contain(image.convert("RGBA"), self.CELL)
        self.rows.setdefault(name, {}).setdefault(column, cell)

    def save(self, path):
        width, height = self.CELL
        sheet = Image.new("RGB", (len(self.columns) * width, max(1, len(self.rows)) * height), (160, 160, 160))
        dark = Image.new("RGB", (8, 8), (110, 110, 110))
        for x in range(0, sheet.width, 16):
            for y in range(0, sheet.height, 16):
                sheet.paste(dark, (x, y))
                sheet.paste(dark, (x + 8, y + 8))
        for row, name in enumerate(sorted(self.rows)):
            for column, cell in self.rows[name].items():
                place = (self.columns.index(column) * width, row * height)
                sheet.paste(cell, place, cell)
        sheet.save(path)
