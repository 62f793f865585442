// Reads and fills the request form, and shows its errors.

/** Percent-encodes a value, including quotes, which encodeURIComponent keeps but which could end a string in a shell or in HTML. */
export function encoded(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => "%" + one.charCodeAt(0).toString(16).toUpperCase());
}

/** Makes a query string of name-value pairs. */
export function queryText(pairs) {
  return pairs.map(([name, value]) => name + "=" + encoded(value)).join("&");
}

/** Whether the field differs from its default. */
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
    // The service validates the values, with better messages than the browser.
    element.noValidate = true;
    element.addEventListener("input", () => this.refresh());
    this.refresh();
  }

  /** The fields that are parameters, in document order. */
  get fields() {
    // Radio buttons only choose the kind of source.
    return [...this.element.elements].filter((field) => field.name && "value" in field && !["submit", "radio"].includes(field.type));
  }

  /** Name-value pairs of the parameters that are set, except those in the list. */
  parameters(...without) {
    return this.fields
      .filter((field) => this.isSet(field) && !without.includes(field.name))
      .map((field) => [field.name, this.auto(field)?.checked ? "auto" : field.value.trim()]);
  }

  /** The checkbox that sets a field to `auto`; null if the field has none. */
  auto(field) {
    return this.element.querySelector(`[data-auto="${CSS.escape(field.name)}"]`);
  }

  isSet(field) {
    return this.auto(field)?.checked || isSet(field);
  }

  /** Limits a field to a list of numbers; selects the first that is not below its value. */
  offer(name, numbers) {
    const field = this.field(name);
    const select = document.createElement("select");
    [select.id, select.name] = [field.id, name];
    const chosen = field.type === "number" && field.value !== "" ? numbers.find((number) => number >= Number(field.value)) ?? numbers.at(-1) : "";
    select.append(...["", ...numbers].map((number) => new Option(number === "" ? field.placeholder || "usual" : number, number, number === chosen, number === chosen)));
    this.element.querySelector(`output[for="${CSS.escape(name)}"]`)?.remove();
    field.replaceWith(select);
  }

  /** Adds a picker beside fields with a color. */
  addColorPickers(names) {
    for (const name of names) {
      const field = this.field(name);
      const picker = document.createElement("input");
      picker.type = "color";
      picker.defaultValue = "#ffffff";
      picker.setAttribute("aria-label", "Pick: " + field.labels[0].firstChild.textContent.trim());
      picker.addEventListener("input", (event) => event.stopPropagation());
      picker.addEventListener("change", (event) => {
        event.stopPropagation();
        field.value = picker.value;
        field.dispatchEvent(new Event("change", { bubbles: true }));
        this.refresh();
      });
      field.addEventListener("change", () => {
        if (/^#[0-9a-f]{6}$/i.test(field.value)) picker.value = field.value;
      });
      const row = document.createElement("div");
      row.className = "with-picker";
      field.replaceWith(row);
      row.append(field, picker);
    }
  }

  /** Changes the default of a slider, and its value if it had the old default; undefined disables the slider. */
  setDefault(name, value) {
    const field = this.field(name);
    if (field.type !== "range") return;
    const kept = field.value === field.defaultValue ? value : field.value;
    field.toggleAttribute("data-idle", value === undefined);
    if (value !== undefined) [field.defaultValue, field.value] = [value, kept];
    this.refresh();
  }

  /** The field with this parameter name or id; null if there is none. */
  field(name) {
    return this.fields.find((field) => field.name === name) ?? this.element.querySelector("#" + CSS.escape(name));
  }

  /** A field with a number that the browser cannot parse and would omit; undefined if there is none. */
  get unread() {
    return this.fields.find((field) => field.validity.badInput);
  }

  /** Fills the form from a query; choices and sliders ignore values that they do not support. */
  fill(given) {
    for (const field of this.fields) {
      const value = given.get(field.name);
      if (value === null) {
        // Parameters that are not in the URL are unset, regardless of the defaults of the form.
        if (field.type === "number") field.value = "";
      } else if (this.auto(field) && value === "auto") this.auto(field).checked = true;
      else if (field.type === "checkbox") field.checked = field.value === value;
      else if (field.type === "range") {
        // Browsers set a slider to its middle for a value that they cannot parse.
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

  /** Shows an error next to its field, and makes the field visible. */
  mark(field, text, takesFocus) {
    const note = document.createElement("p");
    note.className = "fault";
    note.id = field.id + "-fault";
    note.textContent = text;
    field.closest(".field, .upload").append(note);
    field.setAttribute("aria-invalid", "true");
    // Some screen readers read only the description.
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

  /** Shows the values of the sliders, and the number of set fields in the heading of each group. */
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
