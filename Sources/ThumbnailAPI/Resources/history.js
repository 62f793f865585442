// The figures of the last ten minutes, from counts that rise for as long as the service runs.

const longest = 600;

/** How much a count has risen; a count that fell began anew with the service. */
function rise(now, before) {
  return now >= before ? now - before : now;
}

export class FigureHistory {
  constructor() {
    this.points = [];
    this.last = null;
  }

  /** Adds the figures of a moment, in milliseconds. */
  add(stats, time) {
    const before = this.last;
    this.last = { stats, time };
    if (before === null) return;
    const seconds = Math.max(0.2, (time - before.time) / 1000);
    const rate = (name) => rise(stats[name], before.stats[name]) / seconds;
    const [hits, misses] = ["hits", "misses"].map(rate);
    // A service that was away for longer leaves a gap.
    if (seconds > 5) this.points.push({ time: before.time + 1000, isGap: true });
    this.points.push({
      time, hits, misses, requests: rate("requests"), refused: rate("clientErrors"), errors: rate("errors"),
      decodes: rate("decodes"), renders: rate("renders"), ratio: hits + misses > 0 ? hits / (hits + misses) : null,
      active: stats.downloads.active, queued: stats.downloads.queued,
      memory: stats.memory.held + stats.memory.reserved,
      delay: Math.max(stats.workers.small.delaySeconds, 0) * 1000, dearDelay: Math.max(stats.workers.dear.delaySeconds, 0) * 1000,
    });
    while (this.points.length > 0 && this.points[0].time < time - longest * 1000) this.points.shift();
  }

  /** The figures of this second; undefined before there are two moments. */
  get newest() {
    return this.points.at(-1);
  }

  /** The time that charts show, in milliseconds: whole minutes, as many as there are figures for, up to ten. */
  get span() {
    const age = this.points.length > 0 ? this.last.time - this.points[0].time : 0;
    return 60_000 * ([1, 2, 5].find((minutes) => age <= minutes * 60_000) ?? longest / 60);
  }
}
