"use strict";

const form = document.getElementById("request");
const result = document.getElementById("result");
const status = document.getElementById("status");
const address = document.getElementById("address");
const copy = document.getElementById("copy");
const figure = document.getElementById("figure");
const image = document.getElementById("thumbnail");
const facts = document.getElementById("facts");

const shownFields = [
  "Content-Type", "Alula-Quality", "ETag", "Cache-Control", "Age", "Cache-Status", "Server-Timing", "Alula-Error", "X-Request-Id",
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

/** The field of this parameter; null if the form has none. */
function fieldOf(name) {
  const field = form.elements.namedItem(name);
  return field instanceof HTMLElement ? field : null;
}

/** Says beside a field, which it shows, what is wrong with it. */
function mark(field, text) {
  const note = document.createElement("span");
  note.className = "fault";
  note.id = field.id + "-fault";
  note.textContent = text;
  field.closest(".field").append(note);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-errormessage", note.id);
  const group = field.closest("details");
  if (group) group.open = true;
  field.focus();
}

function unmark() {
  for (const note of form.querySelectorAll(".fault")) note.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-errormessage");
  }
}

/** Whether the field says something other than its default. */
function isSet(field) {
  return field.type === "checkbox" ? field.checked : field.value.trim() !== "";
}

/** Says in the heading of each group how many of its fields are set. */
function count() {
  for (const group of form.querySelectorAll("details")) {
    const number = [...group.querySelectorAll("input, select")].filter(isSet).length;
    group.querySelector("summary").dataset.count = number === 0 ? "" : number + " set";
  }
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

/** Loads the image from the address that was just fetched and says what came. */
async function show(target, response, size) {
  image.src = target;
  await image.decode();
  figure.hidden = false;
  image.alt = "The thumbnail, " + image.naturalWidth + " by " + image.naturalHeight + " pixels";
  announce(image.naturalWidth + " × " + image.naturalHeight + " pixels, " + size.toLocaleString() + " bytes", false);
  list(headerRows(response));
}

async function explain(response) {
  const problem = await response.json();
  const parameter = problem.parameter ? " (" + problem.parameter + ")" : "";
  const field = problem.parameter ? fieldOf(problem.parameter) : null;
  if (field) mark(field, problem.detail);
  announce(problem.status + " " + problem.code + parameter + ": " + problem.detail, true);
  list(headerRows(response));
}

async function make() {
  unmark();
  // A browser gives no value for a number that it cannot read, so the service would not see the fault.
  const unread = [...form.elements].find((field) => field.validity.badInput);
  if (unread) {
    mark(unread, "Must be a number.");
    return;
  }
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

// The service judges the values, and says in words what is wrong.
form.noValidate = true;
form.addEventListener("input", count);

const given = new URLSearchParams(location.search);
for (const [name, value] of given) {
  const field = fieldOf(name);
  if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = field.value === value;
  else if (field instanceof HTMLInputElement) field.value = value;
  // A default is the empty choice; an unknown value leaves it so.
  if (field instanceof HTMLSelectElement) field.value = [...field.options].some((o) => o.value === value) ? value : "";
}
for (const group of form.querySelectorAll("details")) {
  group.open = [...group.querySelectorAll("input, select")].some(isSet);
}
count();
if (given.has("url")) make();
