// The figures of the last ten minutes, from counts that rise for as long as the service runs.

const longest = 600;
/** Figures that come sooner after each other, in milliseconds, stand for one moment: they were held up on their way. */
const leastApart = 500;
/** A service that was away for longer, in milliseconds, leaves a gap. */
const longestApart = 5000;

/** How much a count has risen; a count that fell began anew with the service. */
function rise(now, before) {
  return now >= before ? now - before : now;
}

/** What charts need of the figures of a moment. */
function moment(time, { downloads, workers, memory, ...counts }) {
  return {
    time, counts, active: downloads.active, queued: downloads.queued, memory: memory.held + memory.reserved,
    delay: workers.small.delaySeconds * 1000, dearDelay: workers.dear.delaySeconds * 1000,
  };
}

/** The value of each list of an object, and of the objects in it, at a place. */
function at(index, lists) {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, Array.isArray(list) ? list[index] : at(index, list)]));
}

/** The point of a chart at a moment, with the rates since the moment before. */
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
    /** The newest figures, which have more than the charts show. */
    this.stats = null;
  }

  /** Adds the figures of now, in milliseconds; returns whether there is a gap before them. */
  add(stats, now) {
    this.stats = stats;
    const before = this.moments.at(-1);
    // A clock that was set back begins anew where it is.
    while (this.moments.length > 0 && now - this.moments.at(-1).time < leastApart) this.moments.pop();
    this.moments.push(moment(now, stats));
    this.derive();
    return before === undefined || now - before.time > longestApart;
  }

  /** Takes what the service has kept, for the time that it covers; `now` is in milliseconds. */
  fill(kept, now) {
    const theirs = kept.ageSeconds.map((age, index) => moment(now - age * 1000, at(index, kept)));
    if (theirs.length === 0) return;
    const [from, to] = [theirs[0].time - leastApart, theirs.at(-1).time + leastApart];
    this.moments = [...this.moments.filter(({ time }) => time < from), ...theirs, ...this.moments.filter(({ time }) => time > to)];
    this.derive();
  }

  /** Makes the points anew from the moments. */
  derive() {
    const oldest = this.moments.at(-1).time - longest * 1000;
    this.moments = this.moments.filter(({ time }) => time >= oldest);
    this.points = this.moments.slice(1).flatMap((now, index) => {
      const before = this.moments[index];
      // What was counted while nobody looked belongs to no moment.
      if (now.time - before.time > longestApart) return [before.time + 1000, now.time].map((time) => ({ time, isGap: true }));
      return [point(before, now)];
    });
  }

  /** The figures of this second; undefined if there is no moment just before it. */
  get newest() {
    const last = this.points.at(-1);
    return last?.isGap ? undefined : last;
  }

  /** The time at the end of charts, in milliseconds. */
  get end() {
    return this.moments.at(-1)?.time ?? 0;
  }

  /** The time that charts show, in milliseconds: whole minutes, as many as there are figures for, up to ten. */
  get span() {
    const age = this.points.length > 0 ? this.end - this.points[0].time : 0;
    return 60_000 * ([1, 2, 5].find((minutes) => age <= minutes * 60_000) ?? longest / 60);
  }
}
