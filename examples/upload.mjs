#!/usr/bin/env node
// Sends an image to Alula, gets eight sizes and a BlurHash in one call, and writes an HTML picture element.
//
//   upload.mjs PHOTO [FOLDER] [http://127.0.0.1:8080]
//
// Needs Node 18 or later and no packages, and a service with `--uploads on`.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

const widths = [320, 640, 1280, 1920];
const formats = [["webp", "webp"], ["jpeg", "jpg"]];

const [photo, folder = ".", service = "http://127.0.0.1:8080"] = process.argv.slice(2);
if (!photo) throw new Error("Usage: upload.mjs PHOTO [FOLDER] [SERVICE]");

const renditions = widths.flatMap((width) =>
  formats.map(([format]) => ({ name: `${format}-${width}`, query: `w=${width}&format=${format}` })));
renditions.push({ name: "facts", include: "color,blurhash" });

const form = new FormData();
form.append("request", JSON.stringify({ renditions }));
form.append("file", new Blob([await readFile(photo)]), basename(photo));

// For more than 16 MiB of images, ask for multipart/mixed or application/x-tar.
const answer = await fetch(`${service}/thumbnails`, { method: "POST", headers: { Accept: "application/json" }, body: form });
if (!answer.ok) throw new Error(await answer.text());

// An image is a data: URI, the facts are an object; a rendition that failed has a problem.
const bytes = (part) => Buffer.from(part.data.slice(part.data.indexOf(",") + 1), "base64");
const parts = new Map((await answer.json()).renditions.map((part) => [part.name, part]));
for (const part of parts.values()) {
  if (part.problem) throw new Error(`${part.name}: ${part.problem.detail}`);
}

await mkdir(folder, { recursive: true });
const srcsets = [];
for (const [format, ending] of formats) {
  const entries = [];
  for (const width of widths) {
    const name = `${format}-${width}`;
    await writeFile(join(folder, `${name}.${ending}`), bytes(parts.get(name)));
    entries.push(`${name}.${ending} ${width}w`);
  }
  srcsets.push(entries.join(", "));
}

const { facts } = parts.get("facts");
// Of all characters of a BlurHash, only this one means something in an attribute.
const hash = facts.blurHash.replaceAll("&", "&amp;");
await writeFile(join(folder, "picture.html"), `<picture>
  <source type="image/webp" srcset="${srcsets[0]}">
  <img src="jpeg-${widths[0]}.jpg" srcset="${srcsets[1]}" width="${facts.width}" height="${facts.height}" \
data-blurhash="${hash}" style="background: ${facts.dominantColor}; height: auto" alt="">
</picture>
`);
console.log(`${parts.size - 1} files and picture.html in ${folder}`);
