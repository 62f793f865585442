// The form of the request: what it says, and what is wrong with it.

/** Percent-encodes a value; what encodeURIComponent leaves bare could end a quotation in a shell or in HTML. */
export function encoded(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => "%" + one.charCodeAt(0).toString(16).toUpperCase());
}

/** A query of pairs of names and values. */
export function queryText(pairs) {
  return pairs.map(([name, value]) => name + "=" + encoded(value)).join("&");
}

/** Whether the field says something other than its default. */
function isSet(field) {
  switch (field.type) {
    case "checkbox": return field.checked;
    case "range": return !field.disabled && field.value !== field.defaultValue;
    default: return field.value.trim() !== "";
  }
}

export class RequestForm {
  constructor(element) {
    this.element = element;
    // The service judges the values, and says in words what is wrong.
    element.noValidate = true;
    element.addEventListener("input", () => this.refresh());
    this.refresh();
  }

  /** The fields that are parameters, in their order. */
  get fields() {
    // Radio buttons choose how the source is given.
    return [...this.element.elements].filter((field) => field.name !== "" && "value" in field && !["submit", "radio"].includes(field.type));
  }

  /** Pairs of the parameters that are set, without those named. */
  parameters(...without) {
    return this.fields
      .filter((field) => this.isSet(field) && !without.includes(field.name))
      .map((field) => [field.name, this.auto(field)?.checked ? "auto" : field.value.trim()]);
  }

  /** The checkbox that says `auto` in place of a field; null if the field has none. */
  auto(field) {
    return this.element.querySelector(`[data-auto="${CSS.escape(field.name)}"]`);
  }

  isSet(field) {
    return this.auto(field)?.checked || isSet(field);
  }

  /** Lets a field choose among numbers alone; the first that is no less than its value is chosen. */
  offer(name, numbers) {
    const field = this.field(name);
    const select = document.createElement("select");
    [select.id, select.name] = [field.id, name];
    const chosen = field.type === "number" && field.value !== "" ? numbers.find((number) => number >= Number(field.value)) ?? numbers.at(-1) : "";
    select.append(...["", ...numbers].map((number) => new Option(number === "" ? field.placeholder || "usual" : number, number, number === chosen, number === chosen)));
    this.element.querySelector(`output[for="${CSS.escape(name)}"]`)?.remove();
    field.replaceWith(select);
  }

  /** Gives a slider another default, and takes it along if it stands at the old one; undefined: no value of it means anything. */
  setDefault(name, value) {
    const field = this.field(name);
    if (field.type !== "range") return;
    const kept = field.value === field.defaultValue ? value : field.value;
    field.toggleAttribute("data-idle", value === undefined);
    if (value !== undefined) [field.defaultValue, field.value] = [value, kept];
    this.refresh();
  }

  /** The field of a parameter or with this id; null if there is none. */
  field(name) {
    return this.fields.find((field) => field.name === name) ?? this.element.querySelector("#" + CSS.escape(name));
  }

  /** A number that the browser cannot read, and would leave out; undefined if there is none. */
  get unread() {
    return this.fields.find((field) => field.validity.badInput);
  }

  /** Takes the values of a query; a value that a choice or a slider cannot have leaves it at its default. */
  fill(given) {
    for (const field of this.fields) {
      const value = given.get(field.name);
      if (value === null) {
        // An address says all that it means: a default of the form is none of the address.
        if (field.type === "number") field.value = "";
      } else if (this.auto(field) && value === "auto") this.auto(field).checked = true;
      else if (field.type === "checkbox") field.checked = field.value === value;
      else if (field.type === "range") {
        // What a slider cannot have, a browser puts in its middle.
        field.value = value;
        if (field.value !== value) field.value = field.defaultValue;
      } else if (field instanceof HTMLSelectElement) field.value = [...field.options].some((o) => o.value === value) ? value : "";
      else field.value = value;
    }
    for (const group of this.element.querySelectorAll("details")) {
      group.open = this.fields.some((field) => group.contains(field) && this.isSet(field));
    }
    this.refresh();
  }

  /** Says beside a field, which it shows, what is wrong with it. */
  mark(field, text, takesFocus) {
    const note = document.createElement("p");
    note.className = "fault";
    note.id = field.id + "-fault";
    note.textContent = text;
    field.closest(".field, .upload").append(note);
    field.setAttribute("aria-invalid", "true");
    // Some screen readers know only the description.
    field.setAttribute("aria-errormessage", note.id);
    field.dataset.described = field.getAttribute("aria-describedby") ?? "";
    field.setAttribute("aria-describedby", [note.id, field.dataset.described].join(" ").trim());
    const group = field.closest("details");
    if (group) group.open = true;
    if (takesFocus) field.focus();
  }

  unmark() {
    for (const note of this.element.querySelectorAll(":is(.field, .upload) > .fault")) note.remove();
    for (const field of this.element.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-errormessage");
      if (field.dataset.described) field.setAttribute("aria-describedby", field.dataset.described);
      else field.removeAttribute("aria-describedby");
    }
  }

  /** Says the values of the sliders, and in the heading of each group how many of its fields are set. */
  refresh() {
    for (const output of this.element.querySelectorAll("output")) {
      const field = this.field(output.htmlFor.value);
      const [isAuto, isIdle] = [this.auto(field)?.checked ?? false, field.hasAttribute("data-idle")];
      field.disabled = isAuto || isIdle;
      const untouched = isSet(field) ? "" : output.dataset.untouched ?? "";
      output.value = isAuto ? "auto" : isIdle ? "none" : field.value + output.dataset.unit + untouched;
    }
    for (const group of this.element.querySelectorAll("details")) {
      const count = this.fields.filter((field) => group.contains(field) && this.isSet(field)).length;
      group.querySelector("summary").dataset.count = count === 0 ? "" : count + " set";
    }
  }
}
