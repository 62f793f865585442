// Small charts of lines over time, drawn as SVG.

const namespace = "http://www.w3.org/2000/svg";
const [width, height] = [600, 100];

function made(tag, className, parent, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  parent.append(element);
  return element;
}

/** The least of 1, 2, 5, 10 … that is no less than the value. */
function roundedUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((bound) => bound >= value * 0.999999) ?? value;
}

export class Chart {
  /**
   * - title: what it shows
   * - series: for each line its name, its class of colour, and its value at a point, which may be null
   * - format: a value as text
   * - least: the least value of the top, so that a small change is not drawn large
   * - top: the value of the top at a moment; computed from the values without it
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
    this.begin = made("span", "", axis, "10 min ago");
    made("span", "", axis, "now");
    /** The share of the width at which a moment is read; null for now. */
    this.reading = null;
    this.plot.addEventListener("pointermove", (event) => {
      const box = this.plot.getBoundingClientRect();
      this.read((event.clientX - box.left) / box.width);
    });
    this.plot.addEventListener("pointerleave", () => this.read(null));
    this.plot.addEventListener("blur", () => this.read(null));
    this.plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1 / 30, ArrowRight: 1 / 30 }[event.key];
      if (event.key === "Escape") this.read(null);
      if (step === undefined) return;
      event.preventDefault();
      this.read(Math.min(1, Math.max(0, (this.reading ?? 1) + step)));
    });
  }

  read(share) {
    this.reading = share;
    if (this.history) this.tell();
  }

  draw(history) {
    this.history = history;
    const points = history.points;
    const end = history.last?.time ?? 0;
    const values = points.filter((point) => !point.isGap).flatMap((point) => this.series.map(({ value }) => value(point) ?? 0));
    const top = this.top?.(history.last.stats) ?? roundedUp(Math.max(this.least, ...values));
    const x = (point) => (width * (1 - (end - point.time) / history.span)).toFixed(1);
    const y = (value) => (height * (1 - Math.min(1, value / top))).toFixed(1);
    this.series.forEach(({ value }, index) => {
      let [line, isOpen, first, last] = ["", false, null, null];
      for (const point of points) {
        const known = point.isGap ? null : value(point);
        if (known === null) {
          isOpen = false;
          continue;
        }
        line += (isOpen ? "L" : "M") + x(point) + " " + y(known);
        first ??= point;
        [isOpen, last] = [true, point];
      }
      this.lines[index].setAttribute("d", line);
      if (index === 0) this.area.setAttribute("d", first ? line.replaceAll(/(?!^)M/g, "L") + `L${x(last)} ${height}L${x(first)} ${height}Z` : "");
    });
    this.most.textContent = this.format(top);
    this.tell();
  }

  /** Says the values of the moment that is read. */
  tell() {
    const { points, last, span } = this.history;
    const wanted = this.reading === null ? null : last.time - span * (1 - this.reading);
    const near = (best, point) => (Math.abs(point.time - wanted) < Math.abs(best.time - wanted) ? point : best);
    const point = wanted === null || points.length === 0 ? points.at(-1) : points.reduce(near);
    const words = this.series.map(({ name, value }) => {
      const known = point && !point.isGap ? value(point) : null;
      return (name ? name + " " : "") + (known === null ? "–" : this.format(known));
    });
    words.forEach((text, index) => { this.texts[index].textContent = text; });
    const ago = wanted === null || !point ? 0 : Math.round((last.time - point.time) / 1000);
    this.plot.setAttribute("aria-label", this.title + (ago > 0 ? ", " + ago + " seconds ago: " : ", now: ") + words.join(", "));
    this.cursor.hidden = wanted === null || !point;
    if (!this.cursor.hidden) this.cursor.style.left = 100 * (1 - (last.time - point.time) / span) + "%";
    this.begin.textContent = ago > 0 ? "read " + ago + " s ago" : span / 60_000 + " min ago";
  }
}
