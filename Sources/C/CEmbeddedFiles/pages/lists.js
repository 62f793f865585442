// Lists that reuse the elements of their rows when texts change, so that the focus is kept.

/** Makes an element with a class and a text. */
export function made(tag, className = "", text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

/** Sets a text if it differs. */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export class RowList {
  /** `make` makes the row for a key, as an object with the element `row`. */
  constructor(element, make) {
    Object.assign(this, { element, make });
    this.rows = new Map();
  }

  /** Shows rows for these key-value pairs; `update` writes a value into its row. */
  show(pairs, update) {
    const kept = new Set(pairs.map(([key]) => key));
    for (const [key, parts] of this.rows) {
      if (kept.has(key)) continue;
      parts.row.remove();
      this.rows.delete(key);
    }
    pairs.forEach(([key, value], index) => {
      let parts = this.rows.get(key);
      if (!parts) {
        parts = this.make(key);
        this.rows.set(key, parts);
      }
      if (this.element.children[index] !== parts.row) this.element.insertBefore(parts.row, this.element.children[index] ?? null);
      update(parts, value);
    });
  }
}

/** Makes a row with a title, a value beside it, and a bar below. */
export function meterRow(title) {
  const row = made("li");
  const bar = document.createElement("progress");
  bar.className = "whole";
  bar.setAttribute("aria-label", title);
  const [value, note] = [made("span", "value"), made("span", "hint whole")];
  row.append(made("span", "", title), value, bar, note);
  return { row, bar, value, note };
}

/** Updates a row made by `meterRow`. */
export function measure(parts, share, value, note) {
  parts.bar.max = 1;
  parts.bar.value = Math.min(1, Math.max(0, share || 0));
  put(parts.value, value);
  put(parts.note, note);
}
