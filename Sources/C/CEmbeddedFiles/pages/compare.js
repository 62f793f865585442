// Source and thumbnail, one over the other behind a divider, or side by side.

export class Comparison {
  constructor({ frame, stage, before, after, divider }) {
    Object.assign(this, { frame, stage, before, after, divider });
    this.size = { width: 1, height: 1 };
    this.zoom = "";
    divider.addEventListener("input", () => this.split(Number(divider.value)));
    stage.addEventListener("pointerdown", (event) => this.drag(event));
    stage.addEventListener("pointermove", (event) => {
      if (stage.hasPointerCapture(event.pointerId)) this.follow(event);
    });
    this.split(50);
  }

  /** Moves the divider; the share of the source is in per cent. */
  split(share) {
    this.divider.value = share;
    this.divider.setAttribute("aria-valuetext", Math.round(share) + " per cent source");
    this.stage.style.setProperty("--split", share + "%");
  }

  drag(event) {
    if (this.stage.dataset.view !== "slider" || event.button !== 0) return;
    this.stage.setPointerCapture(event.pointerId);
    this.follow(event);
    this.divider.focus({ preventScroll: true });
    event.preventDefault();
  }

  follow(event) {
    const box = this.stage.getBoundingClientRect();
    this.split(Math.min(100, Math.max(0, ((event.clientX - box.left) / box.width) * 100)));
  }

  /** Shows this way: slider, beside or alone. */
  show(view) {
    this.stage.dataset.view = view;
    this.layOut();
  }

  /** Shows so many screen pixels for a pixel of the thumbnail; as many as fit for an empty text. */
  scale(zoom) {
    this.zoom = zoom;
    this.layOut();
  }

  /** Shows a thumbnail by its URL, and returns its size in pixels. */
  async showThumbnail(url) {
    this.after.src = url;
    await this.after.decode();
    this.size = { width: this.after.naturalWidth, height: this.after.naturalHeight };
    this.layOut();
    return this.size;
  }

  /** Shows the source by its URL, or nothing for null, and returns its size in pixels. */
  async showSource(url) {
    if (url === null) {
      this.before.removeAttribute("src");
      this.stage.dataset.lacks = "source";
      return null;
    }
    this.before.src = url;
    await this.before.decode();
    delete this.stage.dataset.lacks;
    return { width: this.before.naturalWidth, height: this.before.naturalHeight };
  }

  /** Gives the stage the shape of the thumbnail; small ones are shown in their own size. */
  layOut() {
    const { width, height } = this.size;
    const columns = this.stage.dataset.view === "beside" ? 2 : 1;
    const ratio = width / height;
    for (const image of [this.before, this.after]) image.style.aspectRatio = width + " / " + height;
    if (this.zoom === "") {
      const widest = columns * width + "px";
      this.stage.style.width = "min(100%, " + widest + ", " + columns * ratio + " * var(--highest))";
    } else {
      this.stage.style.width = (columns * width * Number(this.zoom)) / devicePixelRatio + "px";
    }
    this.stage.toggleAttribute("data-zoomed", Number(this.zoom) > 1);
    // A frame that scrolls can be scrolled by keyboard.
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = this.frame;
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) this.frame.tabIndex = 0;
    else this.frame.removeAttribute("tabindex");
  }
}
