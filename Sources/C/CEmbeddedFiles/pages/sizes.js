// One source in several sizes, requested at the same time, and what the requests shared.

import { members } from "./answer.js";
import { bytesText, timeText } from "./units.js";

const usual = [160, 320, 480, 640, 960, 1280];

/** The widths to request: at most six of those that the service allows, or of the usual ones. */
export function widths(allowed) {
  return allowed.length > 0 ? allowed.slice(0, 6) : usual;
}

/** The parameters for a width: the height changes with it. */
export function resized(parameters, width) {
  const values = new Map(parameters);
  const [w, h] = [Number(values.get("w")), Number(values.get("h"))];
  values.set("w", String(width));
  if (w > 0 && h > 0) values.set("h", String(Math.max(1, Math.round((width * h) / w))));
  else values.delete("h");
  return [...values];
}

/** Whether a request ran this step itself: neither the cache nor another request did. */
function ran(response, layer) {
  const found = members(response.headers.get("Cache-Status")).find(({ name }) => name === layer);
  return Boolean(found) && found.parameters.has("fwd") && !found.parameters.has("collapsed");
}

/** The processor time of a response's own work in milliseconds. */
function work(response) {
  const times = new Map(members(response.headers.get("Server-Timing")).map(({ name, parameters }) => [name, Number(parameters.get("dur")) || 0]));
  const rendered = ran(response, "alula-result") ? (times.get("render") ?? 0) + (times.get("encode") ?? 0) : 0;
  return rendered + (ran(response, "alula-decoded") ? times.get("decode") ?? 0 : 0);
}

function counted(number, word) {
  return number === 0 ? "no " + word : number + " " + word + (number === 1 ? "" : "s");
}

export class Sizes {
  constructor({ group, list, summary }) {
    [this.group, this.list, this.summary, this.urls] = [group, list, summary, []];
    /** Whether the latest request of the page had the sizes with it. */
    this.isRequested = false;
  }

  get isOpen() { return this.group.open && !this.group.hidden; }

  /** Shows the responses to these requests; `first` is the response that the page shows besides. */
  async show(requests, first, signal) {
    const answers = await Promise.all(requests.map(async (request) => {
      const response = await request;
      return { response, blob: response.ok ? await response.blob() : null };
    }));
    signal.throwIfAborted();
    const made = answers.filter(({ blob }) => blob !== null);
    this.urls.forEach((url) => URL.revokeObjectURL(url));
    this.urls = [];
    this.list.replaceChildren(...await Promise.all(made.map(({ response, blob }) => this.item(response, blob))));
    const responses = [first, ...made.map(({ response }) => response)];
    const count = (layer) => responses.filter((response) => ran(response, layer)).length;
    const time = responses.reduce((sum, response) => sum + work(response), 0);
    this.summary.textContent = [counted(count("alula-source"), "fetch").replace("fetchs", "fetches"), counted(count("alula-decoded"), "decode"),
      counted(made.length, "size")].join(", ") + (time < 0.05 ? ", all from caches" : ": " + timeText(time) + " of work");
  }

  async item(response, blob) {
    const url = URL.createObjectURL(blob);
    this.urls.push(url);
    const [item, image, text] = ["li", "img", "span"].map((tag) => document.createElement(tag));
    image.src = url;
    image.alt = "";
    await image.decode().catch(() => {});
    const time = work(response);
    text.textContent = `${image.naturalWidth} × ${image.naturalHeight}, ${bytesText(blob.size)}, ${time < 0.05 ? "cached" : timeText(time)}`;
    item.append(image, text);
    return item;
  }
}
