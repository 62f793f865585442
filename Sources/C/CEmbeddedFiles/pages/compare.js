// Shows the source and the thumbnail on top of each other with a divider, or side by side.

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

  /** Moves the divider; `share` is the part that shows the source, in percent. */
  split(share) {
    this.divider.value = share;
    this.divider.setAttribute("aria-valuetext", Math.round(share) + " percent source");
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

  /** Sets the view: slider, beside or alone. */
  show(view) {
    this.stage.dataset.view = view;
    this.layOut();
  }

  /** Sets the screen pixels per thumbnail pixel; an empty text fits the thumbnail to the stage. */
  scale(zoom) {
    this.zoom = zoom;
    this.layOut();
  }

  /** Loads a thumbnail from its URL and returns its size in pixels. */
  async showThumbnail(url) {
    this.after.src = url;
    await this.after.decode();
    this.size = { width: this.after.naturalWidth, height: this.after.naturalHeight };
    this.layOut();
    return this.size;
  }

  /** Loads the source from its URL, or removes it for null; returns its size in pixels. */
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

  /** Sets the stage to the aspect ratio of the thumbnail; small thumbnails keep their size. */
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
    // Make a frame that scrolls reachable by keyboard.
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = this.frame;
    if (scrollWidth > clientWidth || scrollHeight > clientHeight) this.frame.tabIndex = 0;
    else this.frame.removeAttribute("tabindex");
  }
}
