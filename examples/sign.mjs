#!/usr/bin/env node
// Signs requests to Alula, and verifies its callbacks:
//
//   node sign.mjs KEY SOURCE [NAME=VALUE ...]        prints the signed target of a thumbnail
//   node sign.mjs --post KEY TARGET < BODY           prints the value of Alula-Signature for a POST
//   node sign.mjs --verify KEY TARGET CODE < BODY    ends with status 0 if a callback has a valid Alula-Signature
//
// KEY is hexadecimal, one of the service's `signingKeys`, or a tenant's: then the last parameter is key=ID, and so is
// TARGET's. TARGET is the path with its query, exactly as sent. Needs Node.js 18 or later and no packages.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { argv, exit } from "node:process";
import { pathToFileURL } from "node:url";

/** The target for a source, with its signature as the last parameter. */
export function signed(key, source, parameters = []) {
  const target = "/thumbnail?" + [["url", source], ...parameters]
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return `${target}&sig=${code(key, target)}`;
}

function code(key, text) {
  return createHmac("sha256", Buffer.from(key, "hex")).update(text).digest("base64url");
}

/** The value of Alula-Signature for a POST to Alula. */
export function postSignature(key, target, body) {
  return code(key, `POST\n${target}\n${createHash("sha256").update(body).digest("hex")}`);
}

/** Whether a POST with this Alula-Signature comes from Alula. */
export function isCallback(key, target, signature, body) {
  const [own, theirs] = [Buffer.from(postSignature(key, target, body)), Buffer.from(signature)];
  return own.length === theirs.length && timingSafeEqual(own, theirs);
}

if (import.meta.url === pathToFileURL(argv[1]).href) {
  const [key, source, ...rest] = argv.slice(2);
  if (key === "--post") console.log(postSignature(source, rest[0], readFileSync(0)));
  else if (key === "--verify") exit(isCallback(source, ...rest, readFileSync(0)) ? 0 : 1);
  else console.log(signed(key, source, rest.map((text) => {
    const equals = text.indexOf("=");
    return [text.slice(0, equals), text.slice(equals + 1)];
  })));
}
