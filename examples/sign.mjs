#!/usr/bin/env node
// Prints the signed target of a thumbnail: node sign.mjs KEY SOURCE [NAME=VALUE ...]
//
// KEY is hexadecimal, one of the service's `signingKeys`. Needs Node.js 18 or later and no packages.
import { createHmac } from "node:crypto";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";

/** The target for a source, with its signature as the last parameter. */
export function signed(key, source, parameters = []) {
  const target = "/thumbnail?" + [["url", source], ...parameters]
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return `${target}&sig=${createHmac("sha256", Buffer.from(key, "hex")).update(target).digest("base64url")}`;
}

if (import.meta.url === pathToFileURL(argv[1]).href) {
  const [key, source, ...rest] = argv.slice(2);
  console.log(signed(key, source, rest.map((text) => {
    const equals = text.indexOf("=");
    return [text.slice(0, equals), text.slice(equals + 1)];
  })));
}
