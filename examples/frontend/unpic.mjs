// A transformer of unpic whose images Alula makes, for the `Image` of its packages' `base` entry:
//
//   import { Image } from "@unpic/react/base";
//   import { transform } from "./unpic.mjs";
//   <Image src="photos:2026/bird.jpg" width={800} height={600} transformer={transform} options={{ baseURL: "https://img.example.com" }} />
//
// unpic's own providers `cloudflare` and `ipx` make URLs that Alula reads with `cloudflarePath` and `ipxPath`.
const names = { width: "w", height: "h", quality: "q", format: "format", fit: "fit" };

/** The URL of an image with these operations. */
export function transform(src, operations, { baseURL = "" } = {}) {
  const query = Object.entries(names).filter(([name]) => operations[name])
    .map(([name, parameter]) => `&${parameter}=${encodeURIComponent(Math.round(operations[name]) || operations[name])}`).join("");
  return `${baseURL}/thumbnail?url=${encodeURIComponent(src)}${query}`;
}
