"use strict";

const form = document.getElementById("request");
const result = document.getElementById("result");
const status = document.getElementById("status");
const address = document.getElementById("address");
const copy = document.getElementById("copy");
const figure = document.getElementById("figure");
const picture = document.getElementById("thumbnail");
const facts = document.getElementById("facts");

const shownFields = [
  "Content-Type", "ETag", "Cache-Control", "Age", "Cache-Status", "Server-Timing", "Alula-Error", "X-Request-Id",
];

/** The form's fields that say something, in their order. */
function parameters() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (value.trim() !== "") query.append(name, value.trim());
  }
  return query;
}

/** Percent-encodes a query; URLSearchParams would write a space as a plus, which the service takes for a plus. */
function encoded(query) {
  return [...query].map(([name, value]) => name + "=" + encodeURIComponent(value)).join("&");
}

function announce(text, isFailure) {
  status.textContent = text;
  status.classList.toggle("failure", isFailure);
}

function list(rows) {
  const body = facts.tBodies[0];
  body.replaceChildren();
  for (const [name, value] of rows) {
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = value;
  }
  facts.hidden = rows.length === 0;
}

function headerRows(response) {
  return shownFields
    .filter((name) => response.headers.has(name))
    .map((name) => [name, response.headers.get(name)]);
}

/** Loads the picture from the address that was just fetched and says what came. */
async function show(target, response, size) {
  picture.src = target;
  await picture.decode();
  figure.hidden = false;
  picture.alt = "The thumbnail, " + picture.naturalWidth + " by " + picture.naturalHeight + " pixels";
  announce(picture.naturalWidth + " × " + picture.naturalHeight + " pixels, " + size.toLocaleString() + " bytes", false);
  list(headerRows(response));
}

async function explain(response) {
  const problem = await response.json();
  const parameter = problem.parameter ? " (" + problem.parameter + ")" : "";
  announce(problem.status + " " + problem.code + parameter + ": " + problem.detail, true);
  list(headerRows(response));
}

async function make() {
  const query = encoded(parameters());
  const target = "/thumbnail?" + query;
  history.replaceState(null, "", "/?" + query);
  address.value = new URL(target, location.href).href;
  result.hidden = false;
  figure.hidden = true;
  list([]);
  announce("Working …", false);
  try {
    const response = await fetch(target, { headers: { Accept: "image/avif,image/webp,image/*,*/*;q=0.8" } });
    if (response.ok) {
      await show(target, response, (await response.blob()).size);
    } else {
      await explain(response);
    }
  } catch {
    announce("The service gave no answer that this browser could use.", true);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  make();
});

copy.addEventListener("click", async () => {
  address.select();
  try {
    await navigator.clipboard.writeText(address.value);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  } catch {
    // Without the clipboard (plain http) the selected text can still be copied by hand.
  }
});

const given = new URLSearchParams(location.search);
for (const [name, value] of given) {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement) field.value = value;
  // A default is the empty choice; an unknown value leaves it so.
  if (field instanceof HTMLSelectElement) field.value = [...field.options].some((o) => o.value === value) ? value : "";
}
if (given.has("url")) make();
