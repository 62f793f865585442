"""Generates a client from openapi.yaml with a stock generator, and calls the service with it as generated."""
import base64
import io
import json
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image

from alula_tests.service import Service

SETTINGS = ["--uploads", "on"]
# The one body that the generator has no type for; no program needs it.
KNOWN_WARNINGS = 1

# Runs where the generated package can be imported. Prints what the calls return, as JSON.
CALLS = """
import base64, json, sys
from alula_client import Client
from alula_client.api.public import get_info, get_thumbnail, post_thumbnail, post_thumbnails
from alula_client.models import PostThumbnailFilesBody, Renditions
from alula_client.types import File
import io

def data(file):
    return base64.b64encode(file.payload.read()).decode()

url, source, path = sys.argv[1:]
client = Client(base_url=url)
image = open(path, "rb").read()
print(json.dumps({
    "GET /thumbnail": data(get_thumbnail.sync(client=client, url_query=source, w=40)),
    "GET /info": get_info.sync(client=client, url_query=source).to_dict(),
    "POST /thumbnail": data(post_thumbnail.sync(client=client, body=File(payload=io.BytesIO(image)), w=40)),
    "POST /thumbnail, form": data(
        post_thumbnail.sync(client=client, body=PostThumbnailFilesBody(file=File(io.BytesIO(image), "a.png")), w=40)),
    "POST /thumbnails": post_thumbnails.sync(
        client=client, body=Renditions(url=source, renditions=["w=40", "w=20&format=png"])).to_dict(),
}))
"""


def width(data):
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        return image.width


def judge(executable, origin, description):
    """Complaints about the generated client and its calls."""
    with tempfile.TemporaryDirectory() as folder, Service(executable, *SETTINGS) as service:
        folder = pathlib.Path(folder)
        (folder / "configuration.yaml").write_text("post_hooks: []\n")
        made = subprocess.run(
            [pathlib.Path(sys.executable).parent / "openapi-python-client", "generate", "--path", description,
             "--config", folder / "configuration.yaml", "--output-path", folder / "client"],
            capture_output=True, text=True, timeout=300)
        complaints = []
        if made.returncode or made.stdout.count("WARNING") > KNOWN_WARNINGS:
            complaints.append(f"the generator says {made.stdout}{made.stderr}")
        Image.new("RGB", (160, 120), "teal").save(folder / "image.png")
        called = subprocess.run(
            [sys.executable, "-c", CALLS, service.url, origin + "/images/jpeg", folder / "image.png"],
            cwd=folder / "client", capture_output=True, text=True, timeout=120)
        complaints += service.stop()
        if called.returncode:
            return complaints + [f"the generated client fails: {called.stderr}"]
        answers = json.loads(called.stdout)
        for name in ["GET /thumbnail", "POST /thumbnail", "POST /thumbnail, form"]:
            if width(answers[name]) != 40:
                complaints.append(f"{name} of the generated client is {width(answers[name])} pixels wide")
        parts = answers["POST /thumbnails"]["renditions"]
        if [width(part["data"].partition(",")[2]) for part in parts] != [40, 20]:
            complaints.append(f"POST /thumbnails of the generated client answers {parts}")
        if answers["GET /info"]["format"] != "jpeg":
            complaints.append(f"GET /info of the generated client answers {answers['GET /info']}")
        return complaints
