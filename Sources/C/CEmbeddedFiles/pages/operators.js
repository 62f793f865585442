// The page for operators: the state of the service now and over the last ten minutes.

import { Chart } from "./charts.js";
import { FigureHistory } from "./history.js";
import { made, measure, meterRow, put, RowList } from "./lists.js";
import { hasToken, open, readEvents, request } from "./session.js";
import { Transfers } from "./transfers.js";
import { bytesText, lifetimeText, numberText, shareText, timeText } from "./units.js";

const element = (id) => document.getElementById(id);
const [mostDownloads, mostEvents, longestBetweenDraws, longestSilence, statusInterval] = [40, 1000, 250, 5000, 3000];

const history = new FigureHistory();
const transfers = new Transfers();
const happened = [];
let isPaused = false;
let version = "";

const perSecond = (number) => numberText(number) + "/s";
const charts = [
  { title: "Requests", format: perSecond, series: [
    { name: "", color: "one", value: (p) => p.requests }, { name: "failed", color: "five", value: (p) => p.errors }] },
  { title: "Cache hits", format: shareText, top: () => 1, series: [{ name: "", color: "four", value: (p) => p.ratio }] },
  { title: "Downloads", format: numberText, least: 4, series: [
    { name: "running", color: "one", value: (p) => p.active }, { name: "waiting", color: "two", value: (p) => p.queued }] },
  { title: "Work", format: perSecond, series: [
    { name: "renders", color: "one", value: (p) => p.renders }, { name: "decodes", color: "two", value: (p) => p.decodes }] },
  { title: "Memory", format: bytesText, top: (stats) => stats.memory.limit, series: [{ name: "", color: "three", value: (p) => p.memory }] },
  { title: "Queue wait", format: timeText, least: 10, series: [
    { name: "small", color: "one", value: (p) => p.delay }, { name: "expensive", color: "two", value: (p) => p.expensiveDelay }] },
].map((description) => new Chart(element("charts"), description));

/** A button that copies a URL into the source field. */
function addressButton(url) {
  const button = made("button", "link", url);
  button.type = "button";
  button.addEventListener("click", () => {
    element("source-url").value = url;
    element("source-url").focus();
  });
  return button;
}

// Drawing, limited to a few times per second.

let isDrawn = true;
let lastDraw = 0;

function drawSoon() {
  if (!isDrawn) return;
  isDrawn = false;
  setTimeout(() => requestAnimationFrame(() => {
    isDrawn = true;
    lastDraw = performance.now();
    draw();
  }), Math.max(0, lastDraw + longestBetweenDraws - performance.now()));
}

const downloadRows = new RowList(element("download-list"), (url) => {
  const row = made("li");
  const bar = document.createElement("progress");
  bar.className = "whole";
  bar.setAttribute("aria-label", "Progress of " + url);
  const cancel = made("button", "quiet", "Cancel");
  cancel.type = "button";
  cancel.setAttribute("aria-label", "Cancel " + url);
  cancel.addEventListener("click", () => {
    cancel.disabled = true;
    act("DELETE", "/downloads", url, ({ downloads }) =>
      downloads > 0 ? "Cancelled: " + counted(downloads, "download") + "." : "The download had already ended.");
  });
  const value = made("span", "value whole");
  row.append(addressButton(url), cancel, bar, value);
  return { row, bar, cancel, value };
});

function drawDownloads(now) {
  const listed = transfers.listed(now);
  element("no-downloads").hidden = listed.length > 0;
  downloadRows.show(listed.slice(0, mostDownloads).map((transfer) => [transfer.url, transfer]), (parts, transfer) => {
    const { state, bytes, total, begin, end } = transfer;
    if (total) [parts.bar.max, parts.bar.value] = [total, Math.min(bytes, total)];
    else if (state === "finished") [parts.bar.max, parts.bar.value] = [1, 1];
    else if (state === "queued") [parts.bar.max, parts.bar.value] = [1, 0];
    else parts.bar.removeAttribute("value");
    parts.cancel.hidden = end !== null;
    const size = total ? bytesText(bytes) + " of " + bytesText(total) : bytesText(bytes);
    const age = lifetimeText(Math.round(((end ?? now) - begin) / 1000));
    put(parts.value, ({ queued: "waiting", running: size }[state] ?? state + ", " + size) + ", " + age);
  });
  put(element("more-downloads"), listed.length > mostDownloads ? "And " + (listed.length - mostDownloads) + " more." : "");
}

const cacheTitles = { result: "Thumbnails", decoded: "Decoded pixels", source: "Sources", shared: "Shared cache", disk: "Disk" };
const cacheRows = new RowList(element("caches"), (name) => meterRow(cacheTitles[name] ?? name));
const resourceRows = new RowList(element("resources"), meterRow);
function stateRow(name) {
  const row = made("li", "origin");
  const [state, value] = [made("span", "state"), made("span", "value")];
  state.textContent = name;
  row.append(state, value);
  return { row, state, value };
}
const originRows = new RowList(element("origins"), stateRow);
const surroundingRows = new RowList(element("surroundings"), stateRow);

function counted(count, noun) {
  const plural = noun.endsWith("y") ? noun.slice(0, -1) + "ies" : noun + "s";
  return numberText(count) + " " + (count === 1 ? noun : plural);
}

function drawFigures(stats) {
  const newest = history.newest;
  const rate = (name) => (newest ? perSecond(newest[name]) : "–");
  put(element("figure-requests"), rate("requests"));
  put(element("note-requests"), numberText(stats.requests) + " since the start");
  put(element("figure-hits"), newest && newest.ratio !== null ? shareText(newest.ratio) : "–");
  const all = stats.hits + stats.misses;
  put(element("note-hits"), all > 0 ? shareText(stats.hits / all) + " since the start" : "of thumbnails");
  put(element("figure-errors"), rate("errors"));
  put(element("note-errors"), numberText(stats.errors) + " of the server, " + numberText(stats.clientErrors) + " of clients");
  put(element("figure-downloads"), stats.downloads.active + " of " + stats.downloads.maximum);
  put(element("note-downloads"), stats.downloads.queued > 0 ? stats.downloads.queued + " waiting" : "none waiting");
  put(element("figure-decodes"), rate("decodes"));
  put(element("note-decodes"), newest ? perSecond(newest.renders) + " renders" : "");
  put(element("figure-delay"), timeText(stats.workers.small.delaySeconds * 1000));
  put(element("note-delay"), counted(stats.workers.small.waiting + stats.workers.expensive.waiting, "task") + " waiting");
}

function drawCaches(stats) {
  cacheRows.show(Object.entries(stats.caches), (parts, cache) => {
    const asked = cache.hits + cache.misses;
    measure(
      parts, cache.bytes / cache.capacity, bytesText(cache.bytes) + " of " + bytesText(cache.capacity),
      [
        counted(cache.entries, "entry"), asked > 0 ? shareText(cache.hits / asked) + " hits" : "not used yet",
        cache.evictedBytes > 0 ? bytesText(cache.evictedBytes) + " evicted" : "",
      ].filter(Boolean).join(", "));
  });
}

function drawResources({ memory, workers }) {
  const lane = ({ threads, running, waiting, delaySeconds }) => ({
    share: threads > 0 ? running / threads : 0, value: running + " of " + threads + " busy",
    note: waiting > 0 ? counted(waiting, "task") + " waiting, for about " + timeText(delaySeconds * 1000) : "none waiting",
  });
  const used = memory.held + memory.reserved;
  resourceRows.show([
    ["Memory budget", {
      share: used / memory.limit, value: bytesText(used) + " of " + bytesText(memory.limit),
      note: bytesText(memory.held) + " in use, " + bytesText(memory.reserved) + " reserved" +
        (memory.waiting > 0 ? ", " + counted(memory.waiting, "task") + " waiting" : ""),
    }],
    ["Workers for small work", lane(workers.small)],
    ["Workers for expensive work", lane(workers.expensive)],
  ], (parts, { share, value, note }) => measure(parts, share, value, note));
}

const storeStates = { up: ["reachable", "in use"], full: ["suspended", "full; read-only"], suspended: ["suspended", "too slow or failing"], down: ["not_reachable", "unreachable"] };
const callTitles = { purge_hook: "Purge hooks", job_callback: "Job callbacks" };

/** Draws the systems around the instance: its disk cache, shared caches, and the servers that it calls. */
function drawSurroundings({ diskCache, sharedCache, resultStore, outgoingCalls }) {
  const stores = [["Disk cache", diskCache], ["Shared cache", sharedCache], ["Result store", resultStore]].filter(([, store]) => store)
    .map(([name, { state }]) => [name, { state: storeStates[state]?.[0] ?? "unknown", words: storeStates[state]?.[1] ?? state }]);
  const calls = Object.entries(outgoingCalls ?? {}).map(([kind, { waiting, sent, failed, dropped }]) => [callTitles[kind] ?? kind, {
    state: failed + dropped > 0 ? "not_reachable" : sent > 0 ? "reachable" : "unknown",
    words: numberText(sent) + " sent" + (failed + dropped > 0 ? ", " + numberText(failed + dropped) + " failed" : "") +
      (waiting > 0 ? ", " + numberText(waiting) + " waiting" : ""),
  }]);
  surroundingRows.show([...stores, ...calls], (parts, { state, words }) => {
    parts.state.dataset.state = state;
    put(parts.value, words);
  });
}

const causeWords = { no_response: "no response", server_errors: "only 5xx responses" };
const stateWords = { reachable: "reachable", not_reachable: "unreachable", suspended: "suspended", held: "held by an operator", unknown: "unknown" };

function drawOrigins({ origins, originCounts }) {
  const counts = Object.entries(originCounts).filter(([, count]) => count > 0);
  put(element("origin-counts"), counts.length === 0
    ? "No origins yet." : counts.map(([state, count]) => numberText(count) + " " + (stateWords[state] ?? state)).join(", ") + ".");
  const label = ({ origin, names }) => (names && !names.includes(origin.slice(0, -1)) ? names.join(", ") + ": " : "") + origin;
  originRows.show(origins.map((origin) => [label(origin), origin]), (parts, { state, cause, retryAfterSeconds }) => {
    parts.state.dataset.state = state;
    put(parts.value, (stateWords[state] ?? state) + (cause ? ": " + (causeWords[cause] ?? cause) : "") + (retryAfterSeconds ? ", next try in " + lifetimeText(Math.ceil(retryAfterSeconds)) : ""));
  });
}

const phases = ["queue", "download", "decode", "render", "encode"];
const slowRows = new RowList(element("slow"), () => {
  const row = made("li");
  const [name, value, note] = [made("span"), made("span", "value"), made("span", "hint whole")];
  row.append(name, value, note);
  return { row, name, value, note };
});

/** Draws the slowest requests with the time of each phase, the longest first. */
function drawSlow(requests) {
  element("no-slow").hidden = requests.length > 0;
  slowRows.show(requests.map((slow) => [slow.requestId + slow.time, slow]), (parts, slow) => {
    put(parts.name, slow.source ?? slow.target);
    put(parts.value, timeText(slow.durationMs));
    const times = phases.map((phase) => [phase, slow[phase + "Ms"] ?? 0]).filter(([, time]) => time >= 0.5).sort((a, b) => b[1] - a[1]);
    put(parts.note, [
      new Date(slow.time * 1000).toLocaleTimeString(), slow.status + (slow.code ? " " + slow.code : ""), slow.cache,
      ...times.map(([phase, time]) => phase + " " + timeText(time)), slow.target, slow.client && "client " + slow.client,
      slow.tenant && slow.tenant !== "default" && "tenant " + slow.tenant,
    ].filter(Boolean).join(", "));
  });
}

const waitWords = {
  slot: "for a download slot: ", origin: "for a response of ", "small work": "for small work", "expensive work": "for expensive work",
  memory: "for memory",
};
const waitingRows = new RowList(element("waiting"), stateRow);

function drawWaiting(rows) {
  element("no-waiting").hidden = rows.length > 0;
  waitingRows.show(rows.map((row) => [(waitWords[row.for] ?? row.for) + (row.host ?? ""), row]), (parts, { count, seconds }) => {
    parts.state.dataset.state = seconds >= 1 ? "not_reachable" : "reachable";
    put(parts.value, numberText(count) + " waiting" + (seconds > 0 ? ", " + timeText(seconds * 1000) : ""));
  });
}

const workRows = new RowList(element("work"), meterRow);

/** Draws the time of worker threads by origin, step and format; each bar is a share of all listed. */
function drawWork(shares) {
  element("no-work").hidden = shares.length > 0;
  const all = shares.reduce((sum, { seconds }) => sum + seconds, 0);
  workRows.show(shares.map((share) => [share.origin + " " + share.step + " " + share.format, share]), (parts, { seconds }) =>
    measure(parts, seconds / all, timeText(seconds * 1000), shareText(seconds / all) + " in the last ten minutes"));
}

const tenantRows = new RowList(element("tenants"), meterRow);

/** Draws the use of the last minute by tenant; each bar is a share of the processor time of all listed. */
function drawTenants(tenants) {
  element("tenants-panel").hidden = tenants.length === 0;
  const all = tenants.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
  tenantRows.show(tenants.map((tenant) => [tenant.name, tenant]), (parts, { requests, refusals, processorSeconds, originBytes, waiting }) => {
    const failures = Object.entries(refusals).map(([code, count]) => numberText(count) + " " + code);
    measure(parts, processorSeconds / all, timeText(processorSeconds * 1000), "In the last minute " + [
      counted(requests, "request"), ...failures, bytesText(originBytes) + " from origins",
    ].join(", ") + (waiting > 0 ? "; now " + counted(waiting, "task") + " waiting" : ""));
  });
}

const settingRows = new RowList(element("settings"), (name) => {
  const row = made("li");
  const [value, source] = [made("span", "value"), made("span", "hint whole")];
  row.append(made("span", "", name), value, source);
  return { row, value, source };
});
const sourceWords = { file: "from the settings file", environment: "from the environment", flag: "from the command line" };

function drawSettings(settings) {
  const chosen = settings.filter(({ source }) => source !== "default");
  put(element("default-settings"), (chosen.length > 0 ? "All others have" : "All have") + " their defaults.");
  settingRows.show(chosen.map((setting) => [setting.name, setting]), (parts, { value, source }) => {
    put(parts.value, value);
    put(parts.source, sourceWords[source] ?? source);
  });
}

function drawEvents() {
  if (isPaused) return;
  element("no-events").hidden = happened.length > 0;
  // Only new entries get new rows.
  const list = element("events");
  while (happened.length > 0) {
    const { time, words, url, isFailure } = happened.shift();
    const row = made("li");
    row.append(url ? addressButton(url) : made("span", "", ""), made("span", "value", new Date(time).toLocaleTimeString()));
    row.append(made("span", isFailure ? "whole failed" : "whole hint", words));
    list.prepend(row);
  }
  while (list.childElementCount > mostEvents) list.lastElementChild.remove();
  element("no-events").hidden = list.childElementCount > 0;
}

/** Makes a list that scrolls reachable by keyboard. */
function allowScrolling() {
  for (const list of document.querySelectorAll(".scroll")) {
    if (list.scrollHeight > list.clientHeight) list.tabIndex = 0;
    else list.removeAttribute("tabindex");
  }
}

function draw() {
  const now = Date.now();
  drawDownloads(now);
  drawEvents();
  allowScrolling();
  const { stats } = history;
  if (stats === null) return;
  put(element("about"), "Admin" + (version && ", version " + version) + ", up for " + lifetimeText(stats.uptimeSeconds) + (stats.draining ? ", draining" : ""));
  drawFigures(stats);
  drawCaches(stats);
  drawSurroundings(stats);
  drawResources(stats);
  drawOrigins(stats);
  for (const chart of charts) chart.draw(history);
}

// Data from the service.

let lastNews = 0;
/** The id of the last event, and whether there was one. */
let lastID = "0";
let hasHeard = false;
/** The time of the event that is being taken. */
let heardAt = 0;

/** Shows whether work waits for a second or longer, else whether something runs. */
function connected(isLoading) {
  const { small, expensive } = history.stats?.workers ?? {};
  const isOverloaded = small?.delaySeconds >= 1;
  const isActive = isLoading || small?.running + expensive?.running > 0;
  element("connection").dataset.state = isOverloaded ? "overloaded" : isActive ? "busy" : "live";
  put(element("connection"), isOverloaded ? "Overloaded" : isActive ? "Busy" : "Idle");
}

function disconnected(text) {
  element("connection").dataset.state = "lost";
  put(element("connection"), text);
}

function note(event) {
  happened.push({ time: heardAt, ...event });
  // At a high rate, only the newest events are shown.
  if (happened.length > mostEvents) happened.splice(0, happened.length - mostEvents);
  drawSoon();
}

const purgeWords = {
  operator: "by an operator", fleet: "by an operator of another instance", full: "cache full", memory: "out of memory",
  changed: "the origin has a newer version", gone: "gone from the origin", not_storable: "the origin forbids storing",
  broken: "cannot be decoded", incomplete: "incomplete image", sent: "upload finished",
};

const heard = {
  stats(stats) {
    if (history.add(stats, Date.now())) learnHistory();
    connected(stats.active);
  },
  download(event) {
    transfers.take(event, Date.now());
    if (event.state === "failed" || event.state === "cancelled") {
      note({ words: "download " + event.state + (event.error ? ": " + event.error : ""), url: event.url, isFailure: true });
    }
    const time = event.timings ? " in " + timeText(event.timings.transfer) : "";
    const resumed = event.resumedAt ? ", resumed at " + bytesText(event.resumedAt) : "";
    if (event.state === "finished") note({ words: "downloaded, " + bytesText(event.bytes) + time + resumed, url: event.url });
  },
  upload({ id, state, bytes, error }) {
    if (state === "finished") note({ words: "upload " + id + ", " + bytesText(bytes) });
    if (state === "failed") note({ words: "upload " + id + " failed: " + error, isFailure: true });
  },
  decode: ({ url, milliseconds, format }) => note({ words: "decoded from " + format + " in " + timeText(milliseconds), url }),
  render: ({ url, milliseconds, format }) => note({ words: "rendered as " + format + " in " + timeText(milliseconds), url }),
  purge: ({ url, entries, bytes, cause, tag }) => note({
    words: "purged" + (tag ? " by tag " + tag : "") + ", " + counted(entries, "entry") + ", " + bytesText(bytes) + ": "
      + (purgeWords[cause] ?? cause), url,
  }),
  origin: ({ origin, state }) => note({ words: origin + " is " + (stateWords[state] ?? state), isFailure: state === "suspended" }),
  activity: ({ active }) => connected(active),
  // Events from before the page was opened may be gone; only later ones are reported as dropped.
  lost: ({ count }) => hasHeard && note({ words: counted(count, "event") + " dropped", isFailure: true }),
};

let statusRequest = null;

/** Loads the status, one request at a time: while the page asks for the token, requests wait. */
function learnStatus() {
  return statusRequest ??= loadStatus().finally(() => { statusRequest = null; });
}

async function loadStatus() {
  const status = await (await request("/status")).json();
  version = status.version;
  drawSettings(status.settings);
  drawSlow(status.slowRequests);
  drawWaiting(status.waiting);
  drawWork(status.work);
  drawTenants(status.tenants);
  drawSoon();
}

async function learnDownloads() {
  transfers.replace(await (await request("/downloads")).json(), Date.now());
  drawSoon();
}

/** Loads the statistics that this page missed while it was not connected. */
async function learnHistory() {
  try {
    history.fill(await (await request("/stats/history")).json(), Date.now());
    drawSoon();
  } catch {
    // Without them, the charts begin now.
  }
}

function take(name, data, id) {
  lastNews = Date.now();
  heardAt = data.time ? data.time * 1000 : lastNews;
  heard[name]?.(data);
  if (id) [lastID, hasHeard] = [id, true];
  drawSoon();
}

async function listen() {
  for (;;) {
    try {
      // From the first event that the service keeps; after an interruption from the last one that this page has.
      await readEvents("/events?after=" + lastID, () => {
        lastNews = Date.now();
        connected(false);
        learnDownloads().catch(() => {});
        learnStatus().catch(() => {});
      }, take);
    } catch {
      // Without a connection, or with too many readers of events, it tries again.
    }
    disconnected("Reconnecting …");
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

setInterval(() => {
  if (element("connection").dataset.state !== "lost" && !document.hidden) learnStatus().catch(() => {});
}, statusInterval);
setInterval(() => {
  if (element("connection").dataset.state !== "lost" && lastNews > 0 && Date.now() - lastNews > longestSilence) disconnected("No data");
  drawSoon();
}, 1000);

// Actions of the operator.

function answer(text, isFailure = false) {
  put(element("source-status"), text);
  element("source-status").classList.toggle("failure", isFailure);
}

/** Sends a request for a source or a tag, or for everything if null, and shows the result. */
async function act(method, path, url, words, parameter = "url") {
  answer("Working …");
  try {
    const response = await request(path + (url === null ? "" : "?" + parameter + "=" + encodeURIComponent(url)), { method });
    const told = response.status === 204 ? {} : await response.json();
    if (!response.ok) throw new Error(told.detail ?? "The service rejected the request.");
    answer(words(told));
  } catch (failure) {
    answer(failure.message || "No response from the service.", true);
  }
}

const removed = ({ entries, bytes }) => entries > 0
  ? "Purged " + counted(entries, "entry") + ", " + bytesText(bytes) + "." : "Nothing to purge: no cache has this source.";
const refreshWords = {
  unchanged: "The source has not changed.", changed: "The source has changed; the new version is in use.",
  gone: "The origin no longer has the source; the caches were purged.", failed: "The origin failed; the cached copies stay.",
};

/** The URL in the source field; null, with a message, if it is empty. */
function givenAddress() {
  const url = element("source-url").value.trim();
  if (url !== "") return url;
  answer("Enter the URL of a source.", true);
  element("source-url").focus();
  return null;
}

element("source").addEventListener("submit", (event) => {
  event.preventDefault();
  const url = givenAddress();
  if (url) act("POST", "/refresh", url, ({ result, detail }) => (refreshWords[result] ?? result) + (detail ? " " + detail : ""));
});
element("purge").addEventListener("click", () => {
  const url = givenAddress();
  if (url) act("DELETE", "/cache", url, removed);
});
element("tagged").addEventListener("submit", (event) => {
  event.preventDefault();
  const tag = element("source-tag").value.trim();
  if (tag !== "") return act("DELETE", "/cache", tag, removed, "tag");
  answer("Enter a tag.", true);
  element("source-tag").focus();
});
element("purge-all").addEventListener("click", () => element("ask").showModal());
element("ask").addEventListener("close", () => {
  if (element("ask").returnValue === "purge") act("DELETE", "/cache", null, removed);
  element("ask").returnValue = "";
});
element("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  element("pause").setAttribute("aria-pressed", String(isPaused));
  put(element("pause"), isPaused ? "Resume" : "Pause");
  drawSoon();
});
for (const link of document.querySelectorAll("nav[aria-label=Reference] a")) {
  link.addEventListener("click", (event) => {
    if (!hasToken()) return;
    event.preventDefault();
    open(link).catch(() => disconnected("No response"));
  });
}

listen();
