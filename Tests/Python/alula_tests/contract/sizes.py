"""Asks for sizes that the operator does not allow, in all grammars, and for those of client hints."""
import json
import urllib.error
import urllib.parse
import urllib.request

from alula_tests.service import Service

SIZES = ["--sizes", "32,64", "--qualities", "50,80", "--save-data-quality", "40"]
PLACES = ["--imgproxy-path", "/i", "--thumbor-path", "/t", "--wsrv-path", "/w", "--next-path", "/_next/image",
          "--vercel-path", "/_vercel/image", "--netlify-path", "/.netlify/images", "--astro-path", "/_image"]

# What is asked for, and the allowed request in its place.
SUBSTITUTES = [
    ("/thumbnail?url=QUOTED&w=40", "/thumbnail?url=QUOTED&w=64"),
    ("/thumbnail?url=QUOTED&w=20&dpr=2", "/thumbnail?url=QUOTED&w=64"),
    ("/thumbnail?url=QUOTED&w=999", "/thumbnail?url=QUOTED&w=64"),
    ("/thumbnail?url=QUOTED", "/thumbnail?url=QUOTED&w=64"),
    ("/thumbnail?url=QUOTED&w=64&q=60", "/thumbnail?url=QUOTED&w=64&q=80"),
    ("/i/_/w:40/plain/SOURCE", "/i/_/w:64/plain/SOURCE"),
    ("/i/_/w:20/z:2/plain/SOURCE", "/i/_/w:64/plain/SOURCE"),
    ("/t/unsafe/40x0/SOURCE", "/t/unsafe/64x0/SOURCE"),
    ("/t/unsafe/fit-in/0x20/SOURCE", "/t/unsafe/fit-in/0x32/SOURCE"),
    ("/w/?url=QUOTED&w=40", "/w/?url=QUOTED&w=64"),
    ("/_next/image?url=QUOTED&w=40&q=50", "/_next/image?url=QUOTED&w=64&q=50"),
    ("/_vercel/image?url=QUOTED&w=40&q=50", "/_vercel/image?url=QUOTED&w=64&q=50"),
    ("/.netlify/images?url=QUOTED&w=40", "/.netlify/images?url=QUOTED&w=64"),
    ("/_image?href=QUOTED&w=40", "/_image?href=QUOTED&w=64"),
]

# Parameters, the fields of the request, the width of the answer, and the fields that were read.
HINTS = [
    ("w=auto", {"Sec-CH-Width": "33"}, 64, "Sec-CH-Width"),
    ("w=auto", {"Sec-CH-Width": "20", "Width": "60"}, 32, "Sec-CH-Width"),
    ("w=auto", {"Width": "20"}, 32, "Sec-CH-Width, Width"),
    ("w=auto", {}, 64, "Sec-CH-Width, Width"),
    ("w=auto", {"Sec-CH-Width": "1e2", "Width": "-20"}, 64, "Sec-CH-Width, Width"),
    ("w=20&dpr=auto", {"Sec-CH-DPR": "2.5"}, 64, "Sec-CH-DPR"),
    ("w=20&dpr=auto", {"DPR": "0"}, 32, "Sec-CH-DPR, DPR"),
    ("w=32", {"Sec-CH-Width": "64", "DPR": "2"}, 32, None),
]


def get(url, fields={}):
    """Status, header and body of an answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=fields), timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as failure:
        return failure.code, failure.headers, failure.read()


def judge(executable, origin):
    """Complaints about the answers under both policies."""
    source = origin + "/images/jpeg"
    complaints = []

    def target(text):
        return text.replace("QUOTED", urllib.parse.quote(source, safe="")).replace("SOURCE", source)

    def expect(what, got, wanted):
        if got != wanted:
            complaints.append(f"{what}: {got!r} instead of {wanted!r}")

    with Service(executable, *SIZES, *PLACES) as service:
        for asked, allowed in SUBSTITUTES:
            status, _, body = get(service.url + target(asked))
            problem = json.loads(body) if status == 400 else {}
            expect(asked, (status, problem.get("code")), (400, "size_not_allowed"))
            expect(asked, problem.get("allowed"), ["50", "80"] if problem.get("parameter") == "q" else ["32", "64"])
            expect(allowed, get(service.url + target(allowed))[0], 200)
        for parameters, fields, width, read in HINTS:
            url = f"{service.url}{target('/thumbnail?url=QUOTED')}&{parameters}&format=png"
            expected = get(f"{service.url}{target('/thumbnail?url=QUOTED')}&w={width}&format=png")
            # The second answer comes from the cache.
            for _ in range(2):
                status, header, _ = get(url, fields)
                expect(url, (status, header["ETag"]), (200, expected[1]["ETag"]))
                for name in ["Vary", "Accept-CH", "Critical-CH"]:
                    expect(f"{url}: {name}", header[name], read)
        url = service.url + target("/thumbnail?url=QUOTED&w=64&format=jpeg")
        saving, usual, named = get(url, {"Save-Data": "on"}), get(url), get(url + "&q=80")
        expect("the bytes without Save-Data", usual[2], named[2])
        expect("fewer bytes with Save-Data", len(saving[2]) < len(usual[2]), True)
        expect("Vary of both", (saving[1]["Vary"], usual[1]["Vary"]), ("Save-Data", "Save-Data"))
        expect("Save-Data", get(url + "&q=50", {"Save-Data": "on"})[1]["Vary"], None)
        complaints += service.stop()
    with Service(executable, *SIZES, "--sizes-policy", "up", *PLACES) as service:
        for asked, allowed in SUBSTITUTES:
            got, wanted = get(service.url + target(asked)), get(service.url + target(allowed))
            expect(asked, (got[0], got[1]["ETag"], got[2]), (200, wanted[1]["ETag"], wanted[2]))
        complaints += service.stop()
    print(f"sizes that are not allowed: {len(SUBSTITUTES)}, client hints: {len(HINTS)}")
    return complaints
