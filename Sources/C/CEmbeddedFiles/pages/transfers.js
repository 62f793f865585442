// The current downloads, from the events.

const lingering = 1500;
const leastShown = 500;
const mostKept = 2000;

export class Transfers {
  constructor() {
    this.byURL = new Map();
  }

  /** Replaces the downloads by those that the service lists as running or waiting. */
  replace(downloads, time) {
    const known = new Set(downloads.map(({ url }) => url));
    for (const [url, transfer] of this.byURL) {
      if (!known.has(url) && !transfer.end) this.byURL.delete(url);
    }
    for (const { url, state, receivedBytes, expectedBytes, ageSeconds } of downloads) {
      this.byURL.set(url, { url, state, bytes: receivedBytes, total: expectedBytes, begin: time - ageSeconds * 1000, end: null });
    }
  }

  /** Applies an event of kind download. */
  take({ url, state, bytes, total }, time) {
    const known = this.byURL.get(url);
    const isOver = state === "finished" || state === "failed" || state === "cancelled";
    // Downloads that end before they are listed appear only in the list of events.
    if (!known && isOver) return;
    if (!known && this.byURL.size >= mostKept) return;
    // Short downloads get no row when they end.
    if (isOver && time - known.begin < leastShown) return void this.byURL.delete(url);
    this.byURL.set(url, {
      url, bytes, total, state: state === "progress" || state === "started" ? "running" : state,
      begin: state === "started" ? time : known?.begin ?? time, end: isOver ? time : null,
    });
  }

  /** Running downloads, oldest first, then waiting ones; ended ones remain for a moment. */
  listed(time) {
    for (const [url, { end }] of this.byURL) if (end && time - end > lingering) this.byURL.delete(url);
    const rank = ({ state }) => (state === "queued" ? 1 : 0);
    return [...this.byURL.values()].sort((one, other) => rank(one) - rank(other) || one.begin - other.begin);
  }
}
