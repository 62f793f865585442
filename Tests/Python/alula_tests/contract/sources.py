"""The status and error code that the service answers for each path of the scripted origin."""
import json
import urllib.error
import urllib.parse
import urllib.request

CANNOT_DECODE = (422, "cannot_decode")
NOT_AN_IMAGE = (415, "not_an_image")
TOO_MANY_PIXELS = (422, "too_many_pixels")
PROTOCOL = (502, "origin_protocol_error")

# Every other path is answered with a thumbnail.
FAILURES = {
    "/images/empty": NOT_AN_IMAGE,
    "/images/text": NOT_AN_IMAGE,
    "/images/jpegTruncated": CANNOT_DECODE,
    "/images/pngTruncated": CANNOT_DECODE,
    "/images/webpTruncated": CANNOT_DECODE,
    "/images/gifTruncated": CANNOT_DECODE,
    "/images/jpegHeadOnly": CANNOT_DECODE,
    "/images/jpegManyScans": CANNOT_DECODE,
    "/images/jpegGiant": TOO_MANY_PIXELS,
    "/images/pngGiant": TOO_MANY_PIXELS,
    "/images/webpGiant": TOO_MANY_PIXELS,
    "/status/401": (502, "origin_error"),
    "/status/403": (502, "origin_error"),
    "/status/404": (404, "source_not_found"),
    "/status/410": (404, "source_not_found"),
    "/status/429": (502, "origin_error"),
    "/status/500": (502, "origin_error"),
    "/status/503": (502, "origin_error"),
    "/status/204": NOT_AN_IMAGE,
    "/status/206": PROTOCOL,
    "/status/304": PROTOCOL,
    "/cut": PROTOCOL,
    "/cut-until-close": CANNOT_DECODE,
    "/reset-in-body": PROTOCOL,
    "/huge-announced": (413, "source_too_large"),
    "/two-lengths": PROTOCOL,
    "/gzip": PROTOCOL,
    "/bad-chunk": PROTOCOL,
    "/no-http": PROTOCOL,
    "/redirect/loop": (502, "too_many_redirects"),
    "/redirect/denied": (403, "source_not_allowed"),
    "/redirect/scheme": (403, "source_not_allowed"),
    "/redirect/nowhere": PROTOCOL,
    "/silence": (504, "origin_timeout"),
    "/drip": (504, "origin_timeout"),
    "/close": (502, "origin_unreachable"),
    "/reset": (502, "origin_unreachable"),
    "/html": NOT_AN_IMAGE,
    "/html-as-png": NOT_AN_IMAGE,
    "/no-body": NOT_AN_IMAGE,
    "/zip": NOT_AN_IMAGE,
    "/other-type": NOT_AN_IMAGE,
    "/status-with-image": (404, "source_not_found"),
}
DIRECTIVES = {
    "/cached/private": "private",
    "/cached/no-store": "no-store",
    "/cached/no-cache": "public, max-age=0",
    "/cached/max-age": "public, max-age=600",
}


def outcome(service, source, parameters=""):
    """Status, code of the failure and `Cache-Control` of the thumbnail of a source."""
    url = f"{service}/thumbnail?url={urllib.parse.quote(source, safe='')}&w=20{parameters}"
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            answer.read()
            return answer.status, answer.headers["Alula-Error"], answer.headers["Cache-Control"]
    except urllib.error.HTTPError as failure:
        return failure.code, json.load(failure)["code"], failure.headers["Cache-Control"]


def reassure(service, origin):
    """Lets so many transfers succeed that the origin is not suspended for its faults."""
    for _ in range(3):
        outcome(service, origin + "/cached/no-store")


def judge(service, origin):
    """Complaints about the answers for all paths of the origin."""
    complaints = []
    with urllib.request.urlopen(origin + "/paths", timeout=60) as answer:
        paths = answer.read().decode().split()
    complaints += [f"the origin has no {path}" for path in {**FAILURES, **DIRECTIVES} if path not in paths]
    for path in paths:
        reassure(service, origin)
        expected = FAILURES.get(path, (200, None))
        status, code, cache_control = outcome(service, origin + path)
        if (status, code) != expected:
            complaints.append(f"{path}: {status} {code} instead of {expected}")
        if path in DIRECTIVES and cache_control != DIRECTIVES[path]:
            complaints.append(f"{path}: Cache-Control: {cache_control}")
        # A placeholder stands for a failing source, but hides no refusal.
        if code is not None:
            visible = (status, code) if status in (403, 413) else (200, code)
            answered = outcome(service, origin + path, "&placeholder=silver")[:2]
            if answered != visible:
                complaints.append(f"{path} with a placeholder: {answered} instead of {visible}")
    return complaints
