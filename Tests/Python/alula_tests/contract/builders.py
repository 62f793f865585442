"""URLs that the clients of imgproxy and thumbor build and sign: what the service answers to them."""
import io
import urllib.error
import urllib.request

from imgproxy import ImgProxy
from libthumbor import CryptoURL
from PIL import Image

# The scripted origin's images are of this size.
WIDTH, HEIGHT = 64, 48
KEY, SALT = "943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881", "520f986b998545b4785e0defbc4f3c1203f22de2374a3d53"
THUMBOR_KEY = "a key of thumbor"
SETTINGS = [
    "--imgproxy-path", "/imgproxy", "--imgproxy-keys", KEY, "--imgproxy-salts", SALT,
    "--thumbor-path", "/thumbor", "--thumbor-key", THUMBOR_KEY,
]

# Advanced options, parameters, and the answer: status or size, and format.
IMGPROXY = [
    ([], {}, (64, 48), "JPEG"),
    ([], {"width": 32}, (32, 24), "JPEG"),
    ([], {"height": 12}, (16, 12), "JPEG"),
    ([], {"width": 20, "height": 20, "resizing_type": "fit"}, (20, 15), "JPEG"),
    ([], {"width": 20, "height": 20, "resizing_type": "fill"}, (20, 20), "JPEG"),
    ([], {"width": 40, "height": 20}, (40, 20), "JPEG"),
    ([], {"width": 20, "height": 40}, (20, 15), "JPEG"),
    ([], {"width": 128, "height": 128, "resizing_type": "fit"}, (64, 48), "JPEG"),
    ([], {"width": 128, "height": 128, "resizing_type": "fit", "enlarge": True}, (128, 96), "JPEG"),
    ([], {"width": 32, "extension": "webp"}, (32, 24), "WEBP"),
    ([], {"width": 100, "height": 100, "gravity": "no", "extension": "jpg", "enlarge": True, "resizing_type": "fit"}, (100, 75), "JPEG"),
    ([], {"width": 20, "height": 20, "resizing_type": "fill", "gravity": "sm", "extension": "png"}, (20, 20), "PNG"),
    ([], {"width": 20, "height": 20, "resizing_type": "fill", "gravity": "fp:0.1:0.9"}, (20, 20), "JPEG"),
    (["pd:10:10:10:10", "bg:F00"], {"width": 32}, (52, 44), "JPEG"),
    (["bl:0.5", "rot:90"], {"width": 24}, (24, 32), "JPEG"),
    (["q:40", "dpr:2"], {"width": 16}, (32, 24), "JPEG"),
    (["crop:30:30"], {"width": 10}, (10, 10), "JPEG"),
    (["blur:0.5", "rotate:30"], {}, 400, None),
]

# Options of libthumbor, and the same.
THUMBOR = [
    ({}, (64, 48), "JPEG"),
    ({"width": 32}, (32, 24), "JPEG"),
    ({"height": 12}, (16, 12), "JPEG"),
    ({"width": 20, "height": 20}, (20, 20), "JPEG"),
    ({"width": 20, "height": 20, "smart": True}, (20, 20), "JPEG"),
    ({"width": 20, "height": 20, "halign": "left", "valign": "bottom"}, (20, 20), "JPEG"),
    ({"width": 30, "height": 10, "flip": True, "flop": True}, (30, 10), "JPEG"),
    ({"flip": True}, (64, 48), "JPEG"),
    ({"width": 20, "height": 20, "fit_in": True}, (20, 15), "JPEG"),
    ({"width": 20, "height": 30, "adaptive_fit_in": True}, (27, 20), "JPEG"),
    ({"width": 30, "height": 30, "full_fit_in": True}, (40, 30), "JPEG"),
    ({"width": 30, "height": 30, "adaptive_full_fit_in": True}, (40, 30), "JPEG"),
    ({"crop": ((10, 10), (30, 40))}, (20, 30), "JPEG"),
    ({"width": 10, "crop": ((10, 10), (30, 40))}, (10, 15), "JPEG"),
    ({"width": 32, "trim": True}, None, "JPEG"),
    ({"width": 32, "trim": ("bottom-right", 10)}, None, "JPEG"),
    ({"width": 32, "filters": ["quality(50)", "format(webp)"]}, (32, 24), "WEBP"),
    ({"width": 20, "height": 20, "fit_in": True, "filters": ["fill(ff0000)"]}, (20, 20), "JPEG"),
    ({"width": 32, "filters": ["grayscale()", "brightness(20)", "format(png)"]}, (32, 24), "PNG"),
    ({"width": 20, "fit_in": True, "unsafe": True}, 403, None),
]


def answer(url):
    """The size and format of the image at `url`, or the status of a failure."""
    try:
        with urllib.request.urlopen(url, timeout=120) as response:
            image = Image.open(io.BytesIO(response.read()))
            return image.size, image.format
    except urllib.error.HTTPError as failure:
        return failure.code, None


def with_thumbor(service, key, options, source):
    """The URL that libthumbor builds."""
    return f"{service}/thumbor/{CryptoURL(key=key).generate(image_url=source, **options).lstrip('/')}"


def judge(service, origin):
    """Complaints about the answers to all URLs."""
    source = origin + "/images/jpeg"
    asked = [
        (ImgProxy(source, f"{service}/imgproxy", KEY, SALT, **parameters)(*advanced), size, format)
        for advanced, parameters, size, format in IMGPROXY
    ]
    # thumbor takes sources with and without a scheme.
    asked += [
        (with_thumbor(service, THUMBOR_KEY, options, name), size, format)
        for options, size, format in THUMBOR
        for name in (source, source.removeprefix("http://"))
    ]
    asked += [
        (ImgProxy(source, f"{service}/imgproxy", KEY, SALT)(width=96, height=96, resizing_type="fit", enlarge=True), (96, 72), "JPEG"),
        (str(ImgProxy(source, f"{service}/imgproxy", KEY, SALT[2:] + SALT[:2], width=32)), 403, None),
        (str(ImgProxy(source, f"{service}/imgproxy", width=32)), 403, None),
        (with_thumbor(service, "another key", {"width": 32}, source), 403, None),
    ]
    complaints = []
    for url, size, format in asked:
        got = answer(url)
        if got[1] != format or size not in (got[0], None):
            complaints.append(f"{url}: {got} instead of {(size, format)}")
    print(f"URLs of imgproxy's and thumbor's clients: {len(asked)}")
    return complaints
