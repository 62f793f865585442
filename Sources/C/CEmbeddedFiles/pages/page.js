// The page for clients: requests the thumbnail that the form specifies, and shows the response.

import { cacheRows, keepingText, problemWords, timingSteps } from "./answer.js";
import { Comparison } from "./compare.js";
import { queryText, RequestForm } from "./form.js";
import { SigningKey } from "./signing.js";
import { resized, Sizes, widths } from "./sizes.js";
import { Snippets } from "./snippets.js";
import { bytesText, timeText } from "./units.js";

const element = (id) => document.getElementById(id);
const service = JSON.parse(document.documentElement.dataset.service);
const form = new RequestForm(element("request"));
const key = element("key");
// Signed requests may use any size.
if (!service.signed) {
  if (service.sizes.length > 0) for (const name of ["w", "h"]) form.offer(name, service.sizes);
  if (service.allowedQualities.length > 0) form.offer("q", service.allowedQualities);
}
const comparison = new Comparison({
  frame: element("frame"), stage: element("stage"), before: element("source-image"), after: element("thumbnail"), divider: element("divider"),
});
const sizes = new Sizes({ group: element("many"), list: element("renditions"), summary: element("shared") });
const accept = "image/avif,image/webp,image/*,*/*;q=0.8";
const shownFields = [
  "Content-Type", "Alula-Quality", "Alula-HDR", "ETag", "Cache-Control", "Age", "Vary", "Cache-Status", "Server-Timing", "Alula-Error", "X-Request-Id",
];

/** The elements that show a thumbnail and its details. */
const shown = [element("looking"), element("telling")];
/** The file that the user chose; null for none. */
let chosen = null;
/** The file to upload as the source; null if the source is a URL. */
let upload = null;
/** The current request, which a newer one cancels. */
let current = new AbortController();
let snippets = null;
/** The object URLs of images in memory. */
const held = { thumbnail: null, source: null };
/** Details of sources, by URL. */
const known = { address: null, facts: null };

function announce(text, isFailure = false) {
  element("status").textContent = text;
  element("status").classList.toggle("failure", isFailure);
}

/** Replaces an image in memory and returns its object URL. */
function hold(name, blob) {
  if (held[name]) URL.revokeObjectURL(held[name]);
  held[name] = blob && URL.createObjectURL(blob);
  return held[name];
}

/** Makes the items of a definition list or the rows of a table. */
function fill(list, rows, head, cell) {
  list.replaceChildren(...rows.flatMap(([name, value]) => {
    const parts = [head, cell].map((tag) => document.createElement(tag));
    parts[0].textContent = name;
    parts[1].textContent = value;
    if (head === "dt") return parts;
    parts[0].scope = "row";
    const row = document.createElement("tr");
    row.append(...parts);
    return [row];
  }));
}

/** The error if only other dialects have signing keys, so that no request of this page can be signed. */
const closedText = "This page cannot use the service: it accepts only signed URLs of another dialect. " +
  "The operator can set signingKeys, or allow these routes with unsignedDialects=native.";

/** The key that the user entered; null for none. Throws if it is invalid. */
async function signingKey() {
  const typed = key.value.trim();
  if (typed !== "") return SigningKey.read(typed);
  if (service.signed) throw new Error("This service accepts only signed requests. Enter a key.");
  return null;
}

/** Sends a request with these form parameters for the URL or the file. */
async function ask(path, parameters, signing, signal) {
  let target = path + "?" + queryText(parameters);
  if (!upload) {
    if (signing) target = await signing.signed(target);
    return fetch(target, { headers: { Accept: accept }, signal });
  }
  const headers = { Accept: accept, "Content-Type": upload.type || "application/octet-stream" };
  if (signing) headers["Alula-Signature"] = await signing.bodySignature(target, await upload.arrayBuffer());
  return fetch(target, { method: "POST", headers, body: upload, signal });
}

function tellAnswer(response) {
  const { total, steps } = timingSteps(response.headers.get("Server-Timing"));
  element("bar").replaceChildren(...steps.map(({ kind, milliseconds }) => {
    const part = document.createElement("span");
    part.className = "step-" + kind;
    part.style.flex = String(milliseconds);
    return part;
  }));
  const words = [...steps.map(({ kind, words, milliseconds }) => [kind, words + " " + timeText(milliseconds)])];
  element("bar").setAttribute("aria-label", "Time by step: " + (words.map(([, text]) => text).join(", ") || "nothing to measure"));
  element("steps").replaceChildren(...words.map(([kind, text]) => {
    const item = document.createElement("li");
    const label = document.createElement("span");
    item.className = "step-" + kind;
    label.textContent = text;
    item.append(label);
    return item;
  }));
  const rows = [["Time in the service", total < 0.05 ? "less than 0.1 ms" : timeText(total)], ...cacheRows(response.headers.get("Cache-Status"))];
  rows.push(["Caching", keepingText(response.headers.get("Cache-Control"))]);
  if (response.headers.has("Alula-Quality")) rows.push(["Quality", response.headers.get("Alula-Quality")]);
  if (response.headers.has("Alula-Error")) rows.push(["Instead of", "the error " + response.headers.get("Alula-Error")]);
  fill(element("caches"), rows, "dt", "dd");
  tellFields(response);
}

function tellFields(response) {
  const rows = shownFields.filter((name) => response.headers.has(name)).map((name) => [name, response.headers.get(name)]);
  fill(element("facts").tBodies[0], rows, "th", "td");
}

function tellSizes(facts, size, blob) {
  element("result-pixels").textContent = size.width + " × " + size.height;
  element("result-bytes").textContent = bytesText(blob.size) + ", " + blob.type.replace("image/", "");
  element("source-pixels").textContent = facts.width ? facts.width + " × " + facts.height : "–";
  element("source-bytes").textContent = [facts.bytes && bytesText(facts.bytes), facts.format].filter(Boolean).join(", ");
  const share = facts.bytes ? 1 - blob.size / facts.bytes : null;
  element("saving-title").textContent = share !== null && share < 0 ? "Larger by" : "Saved";
  element("saving").textContent = share === null ? "–" : (Math.abs(share) * 100).toFixed(Math.abs(share) > 0.99 ? 1 : 0) + " %";
  element("saving-note").textContent = share === null ? "" : "of the bytes";
}

/** The details of the source, from the service or from the file. */
async function sourceFacts(signing, signal) {
  if (upload) return { bytes: upload.size, format: upload.type.replace("image/", "") };
  const url = form.field("url").value.trim();
  // Emptied since the request of the thumbnail.
  if (url === "") return {};
  if (known.address === url) return known.facts;
  const response = await ask("/info", form.parameters().filter(([name]) => name === "url" || name === "expires"), signing, signal);
  if (!response.ok) return {};
  const facts = await response.json();
  [known.address, known.facts] = [url, facts];
  return facts;
}

/** Shows the source, resized to the thumbnail but otherwise unchanged. */
async function showSource(size, signing, signal) {
  if (upload) {
    try {
      return await comparison.showSource(hold("source", upload));
    } catch {
      // The browser cannot decode this format, but the service can.
      signal.throwIfAborted();
    }
  }
  const format = size.width * size.height <= 1_000_000 ? ["png"] : ["webp", "95"];
  const plain = form.parameters().filter(([name]) => ["url", "page", "expires"].includes(name));
  const shape = [["w", size.width], ["h", size.height], ["fit", "inside"], ["format", format[0]]].map(([n, v]) => [n, String(v)]);
  if (format[1]) shape.push(["q", format[1]]);
  const response = await ask("/thumbnail", [...plain, ...shape], signing, signal);
  const blob = response.ok ? await response.blob() : null;
  signal.throwIfAborted();
  await comparison.showSource(hold("source", blob));
  return null;
}

async function showResult(response, signing, signal) {
  const blob = await response.blob();
  // A newer request may have replaced this one during each `await`.
  signal.throwIfAborted();
  const size = await comparison.showThumbnail(hold("thumbnail", blob));
  signal.throwIfAborted();
  element("thumbnail").alt = "The thumbnail, " + size.width + " by " + size.height + " pixels";
  for (const part of shown) {
    part.hidden = false;
    part.classList.remove("stale");
  }
  // The default quality depends on the format of the response.
  if (form.field("format").value === "") form.setDefault("q", service.qualities[blob.type.replace("image/", "")]);
  tellAnswer(response);
  comparison.layOut();
  announce("Thumbnail of " + size.width + " × " + size.height + " pixels, " + bytesText(blob.size) + ".");
  await tellSnippets(size, signing, response, signal);
  const facts = await sourceFacts(signing, signal);
  signal.throwIfAborted();
  tellSizes(facts, size, blob);
  const seen = await showSource(size, signing, signal);
  signal.throwIfAborted();
  if (upload && seen) tellSizes({ ...facts, ...seen }, size, blob);
  element("source-note").textContent = held.source ? "" : "The source cannot be displayed.";
}

/** A file name for saving the thumbnail. */
function fileName(response) {
  return /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "thumbnail";
}

async function tellSnippets(size, signing, response, signal) {
  const ratio = Number(form.field("dpr").value) || 1;
  let file = null;
  if (upload) {
    file = { name: upload.name, type: upload.type || "application/octet-stream", signature: null };
    const target = "/thumbnail?" + queryText(form.parameters("url"));
    if (signing) file.signature = await signing.bodySignature(target, await upload.arrayBuffer());
    signal.throwIfAborted();
  }
  snippets = new Snippets({
    origin: location.origin, parameters: form.parameters(...(upload ? ["url"] : [])), upload: file, fileName: fileName(response),
    size: { width: Math.max(1, Math.round(size.width / ratio)), height: Math.max(1, Math.round(size.height / ratio)) },
    sign: async (target) => (signing ? signing.signed(target) : target), sizes: service.signed ? [] : service.sizes,
  });
  await writeSnippet();
}

async function writeSnippet() {
  if (snippets === null) return;
  const chosen = () => document.querySelector("[name=form]:checked").value;
  const [form, from] = [chosen(), snippets];
  const text = await from.text(form);
  // A newer choice or thumbnail updates the page itself.
  if (form !== chosen() || from !== snippets) return;
  element("snippet").textContent = text;
  element("copied").textContent = "";
}

/** Explains an error in plain words, also next to the field that caused it. */
async function explain(response, takesFocus, signal) {
  const problem = await response.json();
  signal.throwIfAborted();
  const { parameter, detail } = problemWords(problem);
  const isFile = upload !== null && parameter === "url";
  const field = isFile ? element("file") : parameter && form.field(parameter);
  if (field) form.mark(field, detail, takesFocus);
  const title = isFile ? upload.name : field?.labels?.[0]?.firstChild.textContent.trim();
  announce((title ? title + ": " : "") + detail, true);
}

/** Requests the thumbnail; if the user pressed the button, the first invalid field gets the focus. */
async function make({ takesFocus = false } = {}) {
  current.abort();
  const { signal } = (current = new AbortController());
  form.unmark();
  for (const part of shown) part.classList.add("stale");
  element("looking").setAttribute("aria-busy", "true");
  try {
    await tryToMake(takesFocus, signal);
  } catch (failure) {
    if (!signal.aborted) announce("The browser could not read the response.", true);
  }
  if (signal.aborted) return;
  element("looking").setAttribute("aria-busy", "false");
  // Mark the figures as outdated until a response arrives, so that after an error they do not seem to belong to it.
  for (const part of shown) part.hidden = part.classList.contains("stale");
}

async function tryToMake(takesFocus, signal) {
  if (service.closed) return announce(closedText, true);
  const fault = (field, text) => {
    form.mark(field, text, takesFocus);
    announce(field.labels[0].firstChild.textContent.trim() + ": " + text, true);
  };
  // Browsers submit no value for a number that they cannot parse, so the service would not see the error.
  if (form.unread) return fault(form.unread, "Must be a number.");
  if (isFileWanted() && !upload) return announce("Choose a file, or drop or paste one.", takesFocus);
  if (!upload) completeURL();
  if (!upload && form.field("url").value.trim() === "") {
    return takesFocus ? fault(form.field("url"), "Enter the URL of an image" + (service.uploads ? ", or choose a file." : ".")) : undefined;
  }
  let signing;
  try {
    signing = await signingKey();
  } catch (failure) {
    signal.throwIfAborted();
    return fault(key, failure.message);
  }
  signal.throwIfAborted();
  const parameters = form.parameters(...(upload ? ["url"] : []));
  // A file has no URL, so a reload opens the page with the URL in the form.
  history.replaceState(null, "", "/?" + queryText(form.parameters()));
  announce("Working …");
  element("many").hidden = upload !== null;
  // All at the same time, so that they share the fetch and the decode.
  const others = sizes.isOpen ? widths(service.signed ? [] : service.sizes).map((width) =>
    ask("/thumbnail", resized(parameters, width), signing, signal)) : [];
  for (const other of others) other.catch(() => {});
  sizes.isRequested = others.length > 0;
  const response = await ask("/thumbnail", parameters, signing, signal);
  await (response.ok ? showResult(response, signing, signal) : explain(response, takesFocus, signal));
  if (response.ok && others.length > 0) await sizes.show(others, response, signal);
}

/** Adds the scheme to a URL that was typed without it, such as example.com/a.jpg. */
function completeURL() {
  const field = form.field("url");
  if (/^[\w-]+(\.[\w-]+)+(:\d+)?(\/|$)/.test(field.value.trim())) field.value = "https://" + field.value.trim();
}

let delay = 0;

/** Requests the thumbnail after a pause in the input. */
function makeSoon(milliseconds) {
  clearTimeout(delay);
  delay = setTimeout(make, milliseconds);
}

function isFileWanted() {
  return document.querySelector("[name=source]:checked").value === "file";
}

/** Shows the fields for the chosen kind of source, and uses the source that they contain. */
function takeSource() {
  const isFile = isFileWanted();
  upload = isFile ? chosen : null;
  element("by-address").hidden = isFile;
  element("by-file").hidden = !isFile;
  element("chosen-name").textContent = chosen ? chosen.name + ", " + bytesText(chosen.size) : "";
  document.querySelector("label[for=file]").textContent = chosen ? "Choose another" : "Choose a file";
}

function choose(source) {
  document.querySelector("[name=source][value=" + source + "]").checked = true;
  takeSource();
}

/** Uses a file as the source. */
function chooseFile(file) {
  element("file").value = "";
  if (file.size > service.maxUploadBytes) {
    announce("The file has " + bytesText(file.size) + "; the service takes " + bytesText(service.maxUploadBytes) + ".", true);
    return;
  }
  chosen = file;
  choose("file");
  make();
}

/** Accepts files that the user chooses or pastes. */
function takeFiles() {
  element("sources").hidden = false;
  element("file").addEventListener("change", ({ target }) => {
    if (target.files.length > 0) chooseFile(target.files[0]);
  });
  for (const choice of document.querySelectorAll("[name=source]")) choice.addEventListener("change", takeSource);
  addEventListener("paste", (event) => {
    const file = event.clipboardData?.files[0];
    if (!file) return;
    event.preventDefault();
    chooseFile(file);
  });
}

/** Accepts drops on the page: a file if uploads are allowed, or an image or a link from another page by its URL. */
function takeDrops() {
  const veil = element("veil");
  const isOffered = ({ dataTransfer }) => (service.uploads && dataTransfer.types.includes("Files")) || dataTransfer.types.includes("text/uri-list");
  addEventListener("dragover", (event) => {
    if (!isOffered(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  addEventListener("drop", (event) => {
    veil.hidden = true;
    if (!isOffered(event)) return;
    event.preventDefault();
    const { files } = event.dataTransfer;
    if (service.uploads && files.length > 0) return chooseFile(files[0]);
    const address = event.dataTransfer.getData("text/uri-list").split(/\r?\n/).find((line) => line !== "" && !line.startsWith("#"));
    if (!address) return;
    choose("address");
    form.field("url").value = address;
    make();
  });
}

form.element.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(delay);
  make({ takesFocus: true });
});
form.element.addEventListener("reset", () => {
  // The fields are reset after this event.
  setTimeout(() => {
    chosen = null;
    takeSource();
    form.refresh();
    make();
  });
});
form.field("format").addEventListener("change", ({ target }) => form.setDefault("q", service.qualities[target.value || "jpeg"]));
form.element.addEventListener("input", (event) => {
  if (["number", "range"].includes(event.target.type)) makeSoon(400);
});
form.element.addEventListener("change", (event) => {
  if (event.target.type !== "file") makeSoon(0);
});
element("many").addEventListener("toggle", ({ target }) => {
  if (target.open && !sizes.isRequested) make();
});
form.addColorPickers(["background", "trimColor", "placeholder"]);
for (const choice of document.querySelectorAll("[name=view]")) {
  choice.addEventListener("change", () => comparison.show(choice.value));
}
for (const choice of document.querySelectorAll("[name=form]")) choice.addEventListener("change", writeSnippet);
element("zoom").addEventListener("change", (event) => comparison.scale(event.target.value));
element("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(element("snippet").textContent);
    element("copied").textContent = "Copied.";
  } catch {
    // Without clipboard access (plain HTTP), the user can copy the selected text.
    getSelection().selectAllChildren(element("snippet"));
    element("copied").textContent = "Selected: press Ctrl-C.";
  }
});

takeDrops();
if (service.uploads) takeFiles();
if (service.signed) key.closest("details").open = true;
const given = new URLSearchParams(location.search.replaceAll("+", "%2B"));
if (service.sample) {
  form.field("url").defaultValue = service.sample;
  element("many").open = true;
}
if (given.size > 0) form.fill(given);
form.setDefault("q", service.qualities[form.field("format").value || "jpeg"]);
if (service.closed) announce(closedText, true);
else if (form.field("url").value !== "") make();
