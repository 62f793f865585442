#!/usr/bin/env python3
"""Sends an image to Alula, gets eight sizes and a BlurHash in one call, and writes an HTML picture element.

  upload.py PHOTO [FOLDER] [http://127.0.0.1:8080]

Needs the standard library only, and a service with `--uploads on`.
"""
import email
import html
import json
import os
import sys
import urllib.request

WIDTHS = (320, 640, 1280, 1920)
FORMATS = ("webp", "jpeg")


def form(fields):
    """The body and the media type of a form; a value is text, or a file name with bytes."""
    boundary = "alula-example-" + os.urandom(16).hex()
    body = b""
    for name, value in fields.items():
        head = f'Content-Disposition: form-data; name="{name}"'
        if isinstance(value, tuple):
            head += f'; filename="{value[0]}"'
            value = value[1]
        body += f"--{boundary}\r\n{head}\r\n\r\n".encode() + (value.encode() if isinstance(value, str) else value) + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def post(url, fields):
    body, media_type = form(fields)
    request = urllib.request.Request(url, body, {"Content-Type": media_type})
    with urllib.request.urlopen(request) as response:
        return response.headers["Content-Type"], response.read()


def parts(media_type, body):
    """The parts of a multipart answer by their names."""
    message = email.message_from_bytes(f"Content-Type: {media_type}\r\n\r\n".encode() + body)
    return {part["Content-ID"].strip("<>"): part for part in message.get_payload()}


def main():
    photo = sys.argv[1]
    folder = sys.argv[2] if len(sys.argv) > 2 else "."
    service = sys.argv[3] if len(sys.argv) > 3 else "http://127.0.0.1:8080"
    with open(photo, "rb") as file:
        image = (os.path.basename(photo), file.read())
    renditions = [{"name": f"{format}-{width}", "query": f"w={width}&format={format}"} for width in WIDTHS for format in FORMATS]
    renditions.append({"name": "facts", "include": "color,blurhash"})
    answer = parts(*post(f"{service}/thumbnails", {"request": json.dumps({"renditions": renditions}), "file": image}))

    os.makedirs(folder, exist_ok=True)
    sources = {format: [] for format in FORMATS}
    for format in FORMATS:
        for width in WIDTHS:
            name = f"{format}-{width}"
            part = answer[name]
            data = part.get_payload(decode=True)
            if part.get_content_type() == "application/problem+json":
                sys.exit(f"{name}: {json.loads(data)['detail']}")
            file_name = f"{name}.{'jpg' if format == 'jpeg' else format}"
            with open(os.path.join(folder, file_name), "wb") as file:
                file.write(data)
            sources[format].append(f"{file_name} {width}w")
    facts = json.loads(answer["facts"].get_payload(decode=True))
    attributes = f'width="{facts["width"]}" height="{facts["height"]}" data-blurhash="{html.escape(facts["blurHash"])}"'
    attributes += f' style="background: {facts["dominantColor"]}; height: auto"'
    element = "<picture>\n"
    for format in FORMATS[:-1]:
        element += f'  <source type="image/{format}" srcset="{html.escape(", ".join(sources[format]))}">\n'
    element += f'  <img src="jpeg-{WIDTHS[0]}.jpg" srcset="{html.escape(", ".join(sources[FORMATS[-1]]))}" {attributes} alt="">\n</picture>\n'
    with open(os.path.join(folder, "picture.html"), "w") as file:
        file.write(element)
    print(f"{len(renditions) - 1} files and picture.html in {folder}")


main()
