// Explains the header fields of a response in words.

import { lifetimeText } from "./units.js";

/** Parses a list of tokens with parameters, such as Cache-Status or Server-Timing. */
export function members(text) {
  return (text ?? "").split(",").filter((part) => part.trim() !== "").map((part) => {
    const [name, ...rest] = part.split(";").map((piece) => piece.trim());
    return { name, parameters: new Map(rest.map((piece) => [piece.split("=")[0], piece.split("=")[1] ?? true])) };
  });
}

const layers = new Map([
  ["alula-result", ["Thumbnail", "rendered"]],
  ["alula-shared", ["Shared cache", null]],
  ["alula-store", ["Result store", null]],
  ["alula-decoded", ["Decoded pixels", "decoded"]],
  ["alula-source", ["Source", "fetched"]],
]);

/** Pairs of a cache and its result, from Cache-Status. */
export function cacheRows(text) {
  return members(text).map(({ name, parameters }) => {
    const [title, work] = layers.get(name) ?? [name, null];
    const reason = {
      "uri-miss": "miss",
      "vary-miss": "miss: cached for other formats only",
      stale: "stale",
      request: "bypassed by the request",
    }[parameters.get("fwd")];
    const words = [reason ?? (parameters.has("hit") ? "hit" : "used")];
    if (parameters.get("fwd-status") === "304") words.push("revalidated");
    else if (reason && work) words.push(work);
    if (parameters.has("fwd-status") && parameters.get("fwd-status") !== "304") words.push("status " + parameters.get("fwd-status"));
    if (parameters.has("collapsed")) words.push("shared with another request");
    if (parameters.has("stored")) words.push("stored");
    const age = Number(parameters.get("ttl"));
    if (age < 0) words.push("stale for " + lifetimeText(-age));
    return [title, words.join(", ")];
  });
}

/** How long caches may store the response, from Cache-Control. */
export function keepingText(text) {
  const directives = new Map((text ?? "").split(",").map((part) => part.trim().split("=")));
  if (directives.has("no-store")) return "not cacheable";
  const caches = directives.has("private") ? "the browser only" : "browsers and shared caches";
  const seconds = Number(directives.get("max-age"));
  if (directives.has("no-cache") || seconds === 0) return "cacheable by " + caches + ", revalidated before each use";
  if (seconds > 0) return "cacheable by " + caches + " for " + lifetimeText(seconds);
  return "cacheable by " + caches + "; the origin sets no lifetime";
}

/**
 * The steps of a response in order, each with a kind, words and milliseconds, from Server-Timing.
 *
 * Some times contain others: `source` is the wait for the source, including its transfer; `transfer` is the whole exchange
 * with the origin; `total` contains everything.
 */
export function timingSteps(text) {
  const told = new Map(members(text).map(({ name, parameters }) => [name, Number(parameters.get("dur")) || 0]));
  const time = (name) => told.get(name) ?? 0;
  const setup = time("dns") + time("connect") + time("tls");
  const steps = [
    ["connect", "name, connection, TLS", setup],
    ["origin", "origin's first byte", time("ttfb")],
    ["transfer", "transfer", Math.max(0, time("transfer") - setup - time("ttfb"))],
    ["wait", "waits in queues", Math.max(0, time("source") - time("transfer")) + time("queue")],
    ["decode", "decode", time("decode")],
    ["render", "resize and encode", time("render") + time("encode")],
  ];
  const known = steps.reduce((sum, [, , milliseconds]) => sum + milliseconds, 0);
  const rest = Math.max(0, time("total") - known);
  return {
    total: time("total"),
    steps: [...steps, ["rest", "everything else", rest]]
      .filter(([, , milliseconds]) => milliseconds >= 0.05)
      .map(([kind, words, milliseconds]) => ({ kind, words, milliseconds })),
  };
}

/** The error and the parameter that caused it, from a problem document. */
export function problemWords(problem) {
  const ofSource = /^(source_|origin_|not_an_image|cannot_decode|too_many_redirects|bad_url)/.test(problem.code);
  const ofKey = { bad_signature: "key", expired: "expires" }[problem.code];
  const detail = problem.detail + (problem.upstreamStatus ? " Status of the origin: " + problem.upstreamStatus + "." : "");
  return { parameter: problem.parameter ?? ofKey ?? (ofSource ? "url" : null), detail };
}
