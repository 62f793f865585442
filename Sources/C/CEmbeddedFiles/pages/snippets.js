// The request as snippets for other tools.

import { queryText } from "./form.js";

const path = "/thumbnail?";

/** Quotes a text as an attribute value. */
function attribute(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** Quotes a text as one word of a shell. */
function word(text) {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

/** Replaces the parameters with the same names. */
function changed(parameters, changes) {
  const kept = parameters.filter(([name]) => !(name in changes));
  return [...kept, ...Object.entries(changes).filter(([, value]) => value !== null)];
}

export class Snippets {
  /**
   * The snippets of a request.
   *
   * - parameters: name-value pairs
   * - size: the thumbnail's width and height in CSS pixels
   * - sign: signs a target
   * - upload: the file to send, with its signature if required; null if the source is a URL
   * - sizes: the allowed sides in pixels; empty for any
   */
  constructor({ origin, parameters, size, sign, upload, fileName, sizes }) {
    Object.assign(this, { origin, parameters, size, sign, upload, fileName, sizes });
  }

  /** Whether sides of this many pixels are allowed. */
  allows(...sides) {
    return this.sizes.length === 0 || sides.every((side) => this.sizes.includes(side));
  }

  /** The sides in the parameters. */
  get sides() {
    return this.parameters.filter(([name]) => name === "w" || name === "h").map(([, value]) => Number(value));
  }

  /** The text of a snippet by its name. */
  async text(form) {
    if (this.upload && form !== "curl") return "An uploaded file has no URL. Choose curl, or put the image where the service can fetch it.";
    return this[form]();
  }

  async url(changes = {}) {
    return this.origin + (await this.sign(path + queryText(changed(this.parameters, changes))));
  }

  address() {
    return this.url();
  }

  /** The srcset attribute for pairs of a descriptor and changed parameters. */
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
