"""Tries the running service against openapi.yaml, with an origin that does everything that origins do."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

from alula_tests.contract import builders, generated, isolation, metrics, private, sizes, sources, traces
from alula_tests.service import Origin, Service

HERE = pathlib.Path(__file__).resolve().parent
DESCRIPTION = HERE.parents[3] / "openapi.yaml"
CONFIGURATION = HERE / "schemathesis.toml"
# Where each answer is known beforehand, only origins that never come are too late, also on a slow machine.
PATIENT = ["--connect-timeout", "3s", "--first-byte-timeout", "3s", "--download-timeout", "10s", "--request-timeout", "60s"]
# Where any answer may be a failure of the origin, many sources are tried in a short time.
HURRIED = ["--connect-timeout", "500ms", "--first-byte-timeout", "500ms", "--download-timeout", "2s", "--request-timeout", "10s"]
SETTINGS = [
    # Larger results would only take time.
    "--max-output-pixels", "1000000",
    # By default AVIF depends on whether this machine can confine decoders.
    "--source-formats", "jpeg,png,webp,gif,avif,jxl,tiff,bmp,ico,raw,svg",
    "--uploads", "on",
]
LEAST_EXAMPLES = 500
LEAST_THUMBNAILS = 50


def tool(name):
    return str(pathlib.Path(sys.executable).parent / name)


def try_description(url, tag, origin):
    """Whether every check of the operations with this tag holds."""
    # A cancelled job can still be read: what it came to is wanted afterwards.
    command = [tool("schemathesis"), "--config-file", str(CONFIGURATION), "run", str(DESCRIPTION), "--url", url,
               "--include-tag", tag, "--checks", "all", "--exclude-checks", "use_after_free"]
    environment = os.environ | {"ALULA_ORIGIN": origin.url, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=HERE, env=environment).returncode == 0


def read(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def thumbnail_counts(text):
    """Answers to /thumbnail by status."""
    counts = {}
    for labels, count in re.findall(r"^alula_requests_total\{([^}]*)\} (\S+)$", text, re.MULTILINE):
        if 'route="/thumbnail"' in labels or 'route="thumbnail"' in labels:
            status = re.search(r'status="(\d+)"', labels)[1]
            counts[status] = counts.get(status, 0) + int(float(count))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--origin", required=True, help="the scripted origin's executable")
    options = parser.parse_args()
    subprocess.run([tool("openapi-spec-validator"), str(DESCRIPTION)], check=True)

    complaints = []
    with Origin(options.origin) as origin, Service(options.alula, *SETTINGS, *HURRIED) as service:
        if read(service.url + "/openapi.yaml") != DESCRIPTION.read_text():
            complaints.append("the service does not serve this description")
        with Service(options.alula, *SETTINGS, *PATIENT) as patient:
            complaints += sources.judge(patient.url, origin.url)
            complaints += patient.stop()
        for url, tag in [(service.url, "public"), (service.admin_url, "operators")]:
            if not try_description(url, tag, origin):
                complaints.append(f"the {tag} operations do not keep to the description")
        counts = thumbnail_counts(read(service.admin_url + "/metrics"))
        print("answers to /thumbnail by status:", dict(sorted(counts.items())))
        if sum(counts.values()) < LEAST_EXAMPLES or counts.get("200", 0) < LEAST_THUMBNAILS:
            complaints.append(f"fewer than {LEAST_EXAMPLES} examples or {LEAST_THUMBNAILS} thumbnails: {counts}")
        if "500" in counts:
            complaints.append("an answer with status 500")
        read(service.url + "/health/ready")
        complaints += service.stop()
        with Service(options.alula, *builders.SETTINGS) as service:
            complaints += builders.judge(service.url, origin.url)
            complaints += service.stop()
        complaints += generated.judge(options.alula, origin.url, DESCRIPTION)
        complaints += sizes.judge(options.alula, origin.url)
        complaints += traces.judge(options.alula, origin.url)
        complaints += metrics.judge(options.alula, origin.url)
        complaints += private.judge(options.alula, origin.url)
        complaints += isolation.judge(options.alula, origin.url)
    for complaint in complaints:
        print("FAILED:", complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
