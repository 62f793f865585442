// The statistics of the last ten minutes, computed from counters.

const longest = 600;
/** Statistics that arrive within this time, in milliseconds, count as one moment: they were delayed in transit. */
const leastApart = 500;
/** A longer time without statistics, in milliseconds, is a gap. */
const longestApart = 5000;

/** The increase of a counter; a counter that decreased was reset by a restart of the service. */
function rise(now, before) {
  return now >= before ? now - before : now;
}

/** The values of a moment that the charts use. */
function moment(time, { downloads, workers, memory, ...counts }) {
  return {
    time, counts, active: downloads.active, queued: downloads.queued, memory: memory.held + memory.reserved,
    delay: workers.small.delaySeconds * 1000, expensiveDelay: workers.expensive.delaySeconds * 1000,
  };
}

/** The values at an index in all lists of an object and its nested objects. */
function at(index, lists) {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, Array.isArray(list) ? list[index] : at(index, list)]));
}

/** The point of a chart at a moment, with the rates since the previous moment. */
function point(before, { time, counts, ...states }) {
  const rate = (name) => rise(counts[name], before.counts[name]) / ((time - before.time) / 1000);
  const [hits, misses] = ["hits", "misses"].map(rate);
  return {
    time, ...states, requests: rate("requests"), errors: rate("errors"), decodes: rate("decodes"), renders: rate("renders"),
    ratio: hits + misses > 0 ? hits / (hits + misses) : null,
  };
}

export class FigureHistory {
  constructor() {
    this.moments = [];
    this.points = [];
    /** The newest statistics, including values that the charts do not use. */
    this.stats = null;
  }

  /** Adds the current statistics; `now` is in milliseconds. Returns whether there is a gap before them. */
  add(stats, now) {
    this.stats = stats;
    const before = this.moments.at(-1);
    // Replaces close moments, and those after this one if the clock was set back.
    while (this.moments.length > 0 && now - this.moments.at(-1).time < leastApart) this.moments.pop();
    this.moments.push(moment(now, stats));
    this.derive();
    return before === undefined || now - before.time > longestApart;
  }

  /** Replaces the moments that the history of the service covers; `now` is in milliseconds. */
  fill(kept, now) {
    const theirs = kept.ageSeconds.map((age, index) => moment(now - age * 1000, at(index, kept)));
    if (theirs.length === 0) return;
    const [from, to] = [theirs[0].time - leastApart, theirs.at(-1).time + leastApart];
    this.moments = [...this.moments.filter(({ time }) => time < from), ...theirs, ...this.moments.filter(({ time }) => time > to)];
    this.derive();
  }

  /** Computes the points from the moments. */
  derive() {
    const oldest = this.moments.at(-1).time - longest * 1000;
    this.moments = this.moments.filter(({ time }) => time >= oldest);
    this.points = this.moments.slice(1).flatMap((now, index) => {
      const before = this.moments[index];
      // Counts from a gap have no known time.
      if (now.time - before.time > longestApart) return [before.time + 1000, now.time].map((time) => ({ time, isGap: true }));
      return [point(before, now)];
    });
  }

  /** The point of the current second; undefined if there is no recent moment before it. */
  get newest() {
    const last = this.points.at(-1);
    return last?.isGap ? undefined : last;
  }

  /** The time at the right edge of the charts, in milliseconds. */
  get end() {
    return this.moments.at(-1)?.time ?? 0;
  }

  /** The time span of the charts, in milliseconds: 1, 2, 5 or 10 minutes, as the number of statistics allows. */
  get span() {
    const age = this.points.length > 0 ? this.end - this.points[0].time : 0;
    return 60_000 * ([1, 2, 5].find((minutes) => age <= minutes * 60_000) ?? longest / 60);
  }
}
