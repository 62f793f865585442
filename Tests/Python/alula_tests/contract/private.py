"""Sources whose origin receives fields of clients."""
import json
import pathlib
import tempfile
import urllib.error
import urllib.request

from alula_tests.service import Service

CLIENT = {"Authorization": "Bearer alice", "Cookie": "theme=dark; session=1"}
# Path of the origin, fields of the client, and what the answer is.
CASES = [
    ("cached/max-age", CLIENT, (200, None)),
    ("cached/max-age", {}, (200, None)),
    ("status/401", CLIENT, (401, "source_unauthorized")),
    ("status/403", CLIENT, (403, "source_forbidden")),
    ("status/404", CLIENT, (404, "source_not_found")),
    ("cached/max-age", {"Authorization": "x" * 4097}, (431, "headers_too_large")),
]


def answer(url, fields):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=fields), timeout=60) as response:
            response.read()
            return response.status, None, response.headers
    except urllib.error.HTTPError as failure:
        return failure.code, json.load(failure)["code"], failure.headers


def judge(executable, origin):
    """Complaints about images, facts and refusals."""
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "alula.json5")
        place = {"url": origin + "/", "forward": ["Authorization", "Cookie:session"]}
        file.write_text(json.dumps({"origins": {"guarded": place}}))
        with Service(executable, "--config", str(file)) as service:
            for path, fields, expected in CASES:
                for target in ["/thumbnail?w=20&url=", "/info?url="]:
                    status, code, headers = answer(f"{service.url}{target}guarded:{path}", fields)
                    if (status, code) != expected:
                        complaints.append(f"{target}{path}: {status} {code} instead of {expected}")
                    varies = {name.strip() for name in headers.get("Vary", "").split(",")}
                    if status == 200 and not {"Authorization", "Cookie"} <= varies:
                        complaints.append(f"{target}{path}: Vary: {headers.get('Vary')}")
                    if status == 200 and not headers["Cache-Control"].startswith("private"):
                        complaints.append(f"{target}{path}: Cache-Control: {headers['Cache-Control']}")
                    if status == 200 and headers["Cross-Origin-Resource-Policy"] != "same-site":
                        complaints.append(f"{target}{path}: other sites may embed a private image")
            hit = answer(f"{service.url}/thumbnail?w=20&url=guarded:cached/max-age", CLIENT)[2]
            stranger = answer(f"{service.url}/thumbnail?w=20&url=guarded:cached/max-age", {"Authorization": "Bearer mallory"})[2]
            if "hit" not in hit["Cache-Status"] or "hit" in stranger["Cache-Status"]:
                complaints.append(f"hits of a private source: {hit['Cache-Status']}; of a stranger: {stranger['Cache-Status']}")
            complaints += service.stop()
    return complaints
