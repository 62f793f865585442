// The page: makes the thumbnail that the form asks for, and says what came.

import { cacheRows, keepingText, problemWords, timingSteps } from "./answer.js";
import { Comparison } from "./compare.js";
import { queryText, RequestForm } from "./form.js";
import { SigningKey } from "./signing.js";
import { Snippets } from "./snippets.js";
import { bytesText, timeText } from "./units.js";

const element = (id) => document.getElementById(id);
const service = JSON.parse(document.documentElement.dataset.service);
const form = new RequestForm(element("request"));
const key = element("key");
// Signed requests may ask for any size.
if (!service.signed) {
  if (service.sizes.length > 0) for (const name of ["w", "h"]) form.offer(name, service.sizes);
  if (service.allowedQualities.length > 0) form.offer("q", service.allowedQualities);
}
const comparison = new Comparison({
  frame: element("frame"), stage: element("stage"), before: element("source-image"), after: element("thumbnail"), divider: element("divider"),
});
const accept = "image/avif,image/webp,image/*,*/*;q=0.8";
const shownFields = [
  "Content-Type", "Alula-Quality", "Alula-HDR", "ETag", "Cache-Control", "Age", "Vary", "Cache-Status", "Server-Timing", "Alula-Error", "X-Request-Id",
];

/** The parts of the page that show a thumbnail and tell of it. */
const shown = [element("looking"), element("telling")];
/** The file that was chosen; null for none. */
let chosen = null;
/** The file that is sent as the source; null if the source has an address. */
let upload = null;
/** The work under way, which a newer one ends. */
let current = new AbortController();
let snippets = null;
/** The URLs of images that are held in memory. */
const held = { thumbnail: null, source: null };
/** What the source is, by its address. */
const known = { address: null, facts: null };

function announce(text, isFailure = false) {
  element("status").textContent = text;
  element("status").classList.toggle("failure", isFailure);
}

/** Holds an image in memory instead of the one before, and returns its URL. */
function hold(name, blob) {
  if (held[name]) URL.revokeObjectURL(held[name]);
  held[name] = blob && URL.createObjectURL(blob);
  return held[name];
}

/** A list of definitions, or rows of a table. */
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

/** Said where other dialects have keys, and the routes that this page asks have none. */
const closedText = "This service is closed to this page: it answers signed addresses of another kind only. " +
  "Its operator can set signingKeys and sign, or open these routes with unsignedDialects=native.";

/** The key that is typed in; null for none. Throws a fault of it. */
async function signingKey() {
  const typed = key.value.trim();
  if (typed !== "") return SigningKey.read(typed);
  if (service.signed) throw new Error("This service answers only what is signed. Type a key to try it.");
  return null;
}

/** Asks for what a form of parameters says, of the address or of the file. */
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
  element("bar").setAttribute("aria-label", "Time by step: " + (words.map(([, text]) => text).join(", ") || "nothing worth measuring"));
  element("steps").replaceChildren(...words.map(([kind, text]) => {
    const item = document.createElement("li");
    const label = document.createElement("span");
    item.className = "step-" + kind;
    label.textContent = text;
    item.append(label);
    return item;
  }));
  const rows = [["Time in the service", total < 0.05 ? "less than 0.1 ms" : timeText(total)], ...cacheRows(response.headers.get("Cache-Status"))];
  rows.push(["This answer", keepingText(response.headers.get("Cache-Control"))]);
  if (response.headers.has("Alula-Quality")) rows.push(["Quality", response.headers.get("Alula-Quality")]);
  if (response.headers.has("Alula-Error")) rows.push(["In place of", "the error " + response.headers.get("Alula-Error")]);
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
  element("saving-title").textContent = share !== null && share < 0 ? "Grown by" : "Saved";
  element("saving").textContent = share === null ? "–" : (Math.abs(share) * 100).toFixed(Math.abs(share) > 0.99 ? 1 : 0) + " %";
  element("saving-note").textContent = share === null ? "" : "of the bytes";
}

/** What is known of the source, from the service or from the file. */
async function sourceFacts(signing, signal) {
  if (upload) return { bytes: upload.size, format: upload.type.replace("image/", "") };
  const url = form.field("url").value.trim();
  if (known.address === url) return known.facts;
  const response = await ask("/info", form.parameters().filter(([name]) => name === "url" || name === "expires"), signing, signal);
  if (!response.ok) return {};
  const facts = await response.json();
  [known.address, known.facts] = [url, facts];
  return facts;
}

/** Shows the source, reduced to the size of the thumbnail and nothing else. */
async function showSource(size, signing, signal) {
  if (upload) {
    try {
      return await comparison.showSource(hold("source", upload));
    } catch {
      // A format that the browser does not know: the service knows it.
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
  // After each wait, newer work may have taken the place of this one.
  signal.throwIfAborted();
  const size = await comparison.showThumbnail(hold("thumbnail", blob));
  signal.throwIfAborted();
  element("thumbnail").alt = "The thumbnail, " + size.width + " by " + size.height + " pixels";
  for (const part of shown) {
    part.hidden = false;
    part.classList.remove("stale");
  }
  // The default quality is that of the format that came.
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
  element("source-note").textContent = held.source ? "" : "The source cannot be shown by itself.";
}

/** The name under which a thumbnail is best kept. */
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
  // A newer choice, or a newer thumbnail, writes its own.
  if (form !== chosen() || from !== snippets) return;
  element("snippet").textContent = text;
  element("copied").textContent = "";
}

/** Says in plain words, and beside the field that it concerns, why there is no thumbnail. */
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

/** Makes the thumbnail; after a press of the button the first fault takes the focus. */
async function make({ takesFocus = false } = {}) {
  current.abort();
  const { signal } = (current = new AbortController());
  form.unmark();
  for (const part of shown) part.classList.add("stale");
  element("looking").setAttribute("aria-busy", "true");
  try {
    await tryToMake(takesFocus, signal);
  } catch (failure) {
    if (!signal.aborted) announce("The service gave no answer that this browser could use.", true);
  }
  if (signal.aborted) return;
  element("looking").setAttribute("aria-busy", "false");
  // Only an answer makes them fresh: after a failure, figures of an earlier one would seem to belong to it.
  for (const part of shown) part.hidden = part.classList.contains("stale");
}

async function tryToMake(takesFocus, signal) {
  if (service.closed) return announce(closedText, true);
  const fault = (field, text) => {
    form.mark(field, text, takesFocus);
    announce(field.labels[0].firstChild.textContent.trim() + ": " + text, true);
  };
  // A browser gives no value for a number that it cannot read, so the service would not see the fault.
  if (form.unread) return fault(form.unread, "Must be a number.");
  if (isFileWanted() && !upload) return announce("Choose a file, or drop or paste one.", takesFocus);
  if (!upload && form.field("url").value.trim() === "") {
    return takesFocus ? fault(form.field("url"), "Give the address of an image" + (service.uploads ? ", or choose a file." : ".")) : undefined;
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
  // A file has no address: opened again, the page is at the address that stands in the form.
  history.replaceState(null, "", "/?" + queryText(form.parameters()));
  announce("Working …");
  const response = await ask("/thumbnail", parameters, signing, signal);
  await (response.ok ? showResult(response, signing, signal) : explain(response, takesFocus, signal));
}

let delay = 0;

/** Makes the thumbnail when the user has paused for so long. */
function makeSoon(milliseconds) {
  clearTimeout(delay);
  delay = setTimeout(make, milliseconds);
}

function isFileWanted() {
  return document.querySelector("[name=source]:checked").value === "file";
}

/** Shows the one way in which the source is given, and takes what is there by it. */
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

/** Takes a file as the source. */
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

/** Takes files that are chosen or pasted. */
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

/** Takes what is dropped on the page: a file where files are taken, or an image or a link of another page by its address. */
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
  // The fields have their defaults after this event.
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
    // Without the clipboard (plain http) the selected text can still be copied by hand.
    getSelection().selectAllChildren(element("snippet"));
    element("copied").textContent = "Selected: press Ctrl-C.";
  }
});

takeDrops();
if (service.uploads) takeFiles();
if (service.signed) key.closest("details").open = true;
const given = new URLSearchParams(location.search.replaceAll("+", "%2B"));
if (service.sample) form.field("url").defaultValue = service.sample;
if (given.size > 0) form.fill(given);
form.setDefault("q", service.qualities[form.field("format").value || "jpeg"]);
if (service.closed) announce(closedText, true);
else if (form.field("url").value !== "") make();
