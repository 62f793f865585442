// The request in the forms in which it is used elsewhere.

import { queryText } from "./form.js";

const path = "/thumbnail?";

/** A text as the value of an attribute in quotes. */
function attribute(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** A text as one word of a shell. */
function word(text) {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

/** The parameters with these instead of those of the same names. */
function changed(parameters, changes) {
  const kept = parameters.filter(([name]) => !(name in changes));
  return [...kept, ...Object.entries(changes).filter(([, value]) => value !== null)];
}

export class Snippets {
  /**
   * The forms of a request.
   *
   * - parameters: pairs of names and values
   * - size: width and height of the thumbnail in CSS pixels
   * - sign: makes the target that is sent of a target
   * - upload: the file that is sent, with its signature if it needs one; null if the source has an address
   * - sizes: the sides in pixels that may be asked for; empty for any
   */
  constructor({ origin, parameters, size, sign, upload, fileName, sizes }) {
    Object.assign(this, { origin, parameters, size, sign, upload, fileName, sizes });
  }

  /** Whether sides of so many pixels may be asked for. */
  allows(...sides) {
    return this.sizes.length === 0 || sides.every((side) => this.sizes.includes(side));
  }

  /** The sides that the parameters name. */
  get sides() {
    return this.parameters.filter(([name]) => name === "w" || name === "h").map(([, value]) => Number(value));
  }

  /** The text of a form by its name. */
  async text(form) {
    if (this.upload && form !== "curl") return "A file that you send has no address. Choose curl, or put the image where the service can fetch it.";
    return this[form]();
  }

  async url(changes = {}) {
    return this.origin + (await this.sign(path + queryText(changed(this.parameters, changes))));
  }

  address() {
    return this.url();
  }

  /** The attribute srcset of these pairs of a descriptor and changes. */
  async srcset(candidates) {
    const parts = [];
    for (const [descriptor, changes] of candidates) parts.push(attribute(await this.url(changes)) + " " + descriptor);
    return parts.join(",\n            ");
  }

  densityCandidates(changes = {}) {
    const candidates = [["1x", { ...changes, dpr: null }], ["2x", { ...changes, dpr: "2" }]];
    return this.allows(...this.sides.map((side) => 2 * side)) ? candidates : candidates.slice(0, 1);
  }

  get sizeAttributes() {
    return 'width="' + this.size.width + '" height="' + this.size.height + '" alt=""';
  }

  async densities() {
    return '<img src="' + attribute(await this.url({ dpr: null })) + '"\n    srcset="' + (await this.srcset(this.densityCandidates())) +
      '"\n    ' + this.sizeAttributes + ">";
  }

  async widths() {
    const { width, height } = this.size;
    const hasHeight = this.parameters.some(([name]) => name === "h");
    const heightOf = (w) => Math.max(1, Math.round((w * height) / width));
    const widths = this.sizes.length > 0 ? this.sizes : [0.5, 1, 1.5, 2, 3].map((factor) => Math.round(width * factor));
    const candidates = widths.filter((w) => w >= 1 && w <= 16384 && (!hasHeight || this.allows(heightOf(w))))
      .map((w) => [w + "w", { w: String(w), dpr: null, ...(hasHeight ? { h: String(heightOf(w)) } : {}) }]);
    return '<img src="' + attribute(await this.url({ dpr: null })) + '"\n    srcset="' + (await this.srcset(candidates)) +
      '"\n    sizes="(max-width: ' + width + "px) 100vw, " + width + 'px"\n    ' + this.sizeAttributes + ">";
  }

  async picture() {
    const sources = [];
    for (const format of ["avif", "webp"]) {
      sources.push('  <source type="image/' + format + '"\n    srcset="' +
        (await this.srcset(this.densityCandidates({ format }))) + '">');
    }
    const fallback = { format: "jpeg" };
    return "<picture>\n" + sources.join("\n") + '\n  <img src="' + attribute(await this.url({ ...fallback, dpr: null })) +
      '"\n    srcset="' + (await this.srcset(this.densityCandidates(fallback))) + '"\n    ' + this.sizeAttributes + ">\n</picture>";
  }

  async curl() {
    const isNegotiated = !this.parameters.some(([name]) => name === "format");
    const lines = ["curl --fail --output " + word(this.fileName)];
    if (isNegotiated) lines.push("  --header 'Accept: image/avif,image/webp,image/*'");
    if (!this.upload) return [...lines, "  " + word(await this.url())].join(" \\\n");
    lines.push("  --header " + word("Content-Type: " + this.upload.type), "  --data-binary " + word("@" + this.upload.name));
    if (this.upload.signature) lines.push("  --header " + word("Alula-Signature: " + this.upload.signature));
    return [...lines, "  " + word(this.origin + path + queryText(this.parameters))].join(" \\\n");
  }
}
