// Explains the header fields of a response in words.

import { lifetimeText } from "./units.js";

/** Parses a list of tokens with parameters, such as Cache-Status or Server-Timing. */
function members(text) {
  return (text ?? "").split(",").filter((part) => part.trim() !== "").map((part) => {
    const [name, ...rest] = part.split(";").map((piece) => piece.trim());
    return { name, parameters: new Map(rest.map((piece) => [piece.split("=")[0], piece.split("=")[1] ?? true])) };
  });
}

const layers = new Map([
  ["alula-result", ["Thumbnail", "made now"]],
  ["alula-shared", ["Shared cache", "asked the next layer"]],
  ["alula-store", ["Result store", "asked the next layer"]],
  ["alula-decoded", ["Decoded pixels", "decoded now"]],
  ["alula-source", ["Source", "fetched now"]],
]);

/** Pairs of a cache and its result, from Cache-Status. */
export function cacheRows(text) {
  return members(text).map(({ name, parameters }) => {
    const [title, work] = layers.get(name) ?? [name, "asked the next layer"];
    let words = {
      "uri-miss": "not in the cache; " + work,
      "vary-miss": "in the cache for other formats only; " + work,
      stale: "in the cache, but no longer fresh; " + (name === "alula-source" ? "asked the origin" : work),
      request: "not taken from the cache, as the request demands; " + work,
    }[parameters.get("fwd")] ?? (parameters.has("hit") ? "found in the cache" : "asked");
    if (parameters.get("fwd-status") === "304") words += ", which said that it has not changed";
    else if (parameters.has("fwd-status")) words += ", which answered " + parameters.get("fwd-status");
    if (parameters.has("collapsed")) words += ", together with another request";
    if (parameters.has("stored")) words += ", and kept";
    const age = Number(parameters.get("ttl"));
    if (age < 0) words += "; stale for " + lifetimeText(-age);
    return [title, words];
  });
}

/** How long caches may store the response, from Cache-Control. */
export function keepingText(text) {
  const directives = new Map((text ?? "").split(",").map((part) => part.trim().split("=")));
  if (directives.has("no-store")) return "must not be kept by any cache";
  const keepers = directives.has("private") ? "the browser only" : "browsers and shared caches";
  const seconds = Number(directives.get("max-age"));
  if (directives.has("no-cache") || seconds === 0) return "may be kept by " + keepers + ", and must be confirmed before each use";
  if (seconds > 0) return "may be kept by " + keepers + " for " + lifetimeText(seconds);
  return "may be kept by " + keepers + "; its origin does not say how long";
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
    ["wait", "wait for the source", Math.max(0, time("source") - time("transfer"))],
    ["decode", "decode", time("decode")],
    ["render", "resize and encode", time("render")],
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
  const detail = problem.detail + (problem.upstreamStatus ? " The origin answered " + problem.upstreamStatus + "." : "");
  return { parameter: problem.parameter ?? ofKey ?? (ofSource ? "url" : null), detail };
}
