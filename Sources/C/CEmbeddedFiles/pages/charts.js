// Small line charts over time, drawn as SVG.

const namespace = "http://www.w3.org/2000/svg";
const [width, height] = [600, 100];
/** The share of the width by which an arrow key moves. */
const keyStep = 1 / 30;

function made(tag, className, parent, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  parent.append(element);
  return element;
}

/** The smallest of 1, 2, 5, 10 … that is not below the value. */
function roundedUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((bound) => bound >= value * 0.999999) ?? value;
}

/** Formats a time of day. */
function clock(time, style) {
  return new Date(time).toLocaleTimeString([], { timeStyle: style });
}

/** Splits the points that have a value into runs without gaps. */
function unbroken(points, value) {
  const pieces = [[]];
  for (const point of points) {
    if (point.isGap || value(point) === null) pieces.push([]);
    else pieces.at(-1).push(point);
  }
  return pieces.filter((piece) => piece.length > 0);
}

export class Chart {
  /**
   * - title: the heading
   * - series: the name, color class and value function of each line; a value may be null
   * - format: formats a value
   * - least: the smallest top, so that small changes are not drawn large
   * - top: returns the top for a moment; if undefined, the values determine it
   */
  constructor(parent, { title, series, format, least = 1, top = null }) {
    Object.assign(this, { title, series, format, least, top });
    this.figure = made("figure", "chart", parent);
    const caption = made("figcaption", "", this.figure);
    made("strong", "", caption, title);
    this.texts = series.map(({ name, color }) => made("span", "", made("span", "series " + color, caption)));
    this.plot = made("div", "plot", this.figure);
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", title);
    const svg = document.createElementNS(namespace, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    this.plot.append(svg);
    const path = (className) => {
      const element = document.createElementNS(namespace, "path");
      element.setAttribute("class", className);
      svg.append(element);
      return element;
    };
    this.area = path("filled " + series[0].color);
    this.lines = series.map(({ color }) => path(color));
    this.most = made("span", "most", this.plot);
    this.cursor = made("span", "cursor", this.plot);
    this.cursor.hidden = true;
    const axis = made("div", "axis", this.figure);
    this.begin = made("span", "", axis);
    this.now = made("span", "", axis, "now");
    /** The selected moment as a share of the width; null for now. */
    this.reading = null;
    this.plot.addEventListener("pointermove", (event) => {
      const box = this.plot.getBoundingClientRect();
      this.read((event.clientX - box.left) / box.width);
    });
    this.plot.addEventListener("pointerleave", () => this.read(null));
    this.plot.addEventListener("blur", () => this.read(null));
    this.plot.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.read(null);
      const share = this.shareAfter(event.key);
      if (share === undefined) return;
      event.preventDefault();
      this.read(share);
    });
  }

  /** The share of the width that a key selects, from 0 for the oldest point to 1 for now; undefined for other keys. */
  shareAfter(key) {
    const first = this.history?.points[0];
    const oldest = first ? 1 - (this.history.end - first.time) / this.history.span : 1;
    const from = this.reading ?? 1;
    const wanted = { ArrowLeft: from - keyStep, ArrowRight: from + keyStep, Home: oldest, End: 1 }[key];
    return wanted === undefined ? undefined : Math.min(1, Math.max(oldest, wanted));
  }

  read(share) {
    this.reading = share;
    if (this.history) this.tell();
  }

  draw(history) {
    this.history = history;
    const { points, end } = history;
    const values = points.filter((point) => !point.isGap).flatMap((point) => this.series.map(({ value }) => value(point) ?? 0));
    const top = this.top?.(history.stats) ?? roundedUp(Math.max(this.least, ...values));
    const x = (point) => (width * (1 - (end - point.time) / history.span)).toFixed(1);
    const y = (value) => (height * (1 - Math.min(1, value / top))).toFixed(1);
    this.series.forEach(({ value }, index) => {
      const pieces = unbroken(points, value).map((piece) => ({
        // A moment between two gaps is drawn as a dot, which is a line of length zero.
        line: "M" + [...piece, piece.at(-1)].map((point) => x(point) + " " + y(value(point))).join("L"), begin: x(piece[0]), end: x(piece.at(-1)),
      }));
      this.lines[index].setAttribute("d", pieces.map(({ line }) => line).join(""));
      // Gaps are not filled.
      if (index === 0) this.area.setAttribute("d", pieces.map(({ line, begin, end }) => `${line}L${end} ${height}L${begin} ${height}Z`).join(""));
    });
    this.most.textContent = this.format(top);
    this.tell();
  }

  /** Shows the values at the selected moment. */
  tell() {
    const { points, end, span } = this.history;
    const wanted = this.reading === null ? null : end - span * (1 - this.reading);
    const near = (best, point) => (Math.abs(point.time - wanted) < Math.abs(best.time - wanted) ? point : best);
    const point = wanted === null || points.length === 0 ? points.at(-1) : points.reduce(near);
    const words = this.series.map(({ name, value }) => {
      const known = point && !point.isGap ? value(point) : null;
      return (name ? name + " " : "") + (known === null ? "–" : this.format(known));
    });
    words.forEach((text, index) => { this.texts[index].textContent = text; });
    // In a gap, show the moment itself, not the edge of the gap.
    const time = point?.isGap ? wanted ?? point.time : point?.time;
    const ago = wanted === null || !point ? 0 : Math.round((end - time) / 1000);
    const when = ago > 0 ? ago + (ago === 1 ? " second ago" : " seconds ago") : "now";
    this.plot.setAttribute("aria-label", this.title + ", " + when + ": " + words.join(", "));
    this.cursor.hidden = wanted === null || !point;
    if (!this.cursor.hidden) this.cursor.style.left = 100 * (1 - (end - time) / span) + "%";
    this.begin.textContent = ago > 0
      ? clock(time, "medium") + ", " + ago + " s ago" : clock(end - span, "short") + ", " + span / 60_000 + " min ago";
    this.now.textContent = clock(end, "short") + ", now";
  }
}
