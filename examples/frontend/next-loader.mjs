// The loader of a Next.js application whose images Alula makes. In next.config.mjs:
//
//   export default { images: { loader: "custom", loaderFile: "./next-loader.mjs" } };
//
// Without a loader, `images: { path: "https://img.example.com/_next/image" }` and Alula's `nextPath` do as well.
// Sources that begin with one slash lie below Alula's `baseOrigin`.
const service = process.env.NEXT_PUBLIC_ALULA ?? "https://img.example.com";

/** The URL of an image in a width, in CSS pixels times the device's pixel ratio. */
export default function loader({ src, width, quality }) {
  return `${service}/thumbnail?url=${encodeURIComponent(src)}&w=${width}` + (quality ? `&q=${quality}` : "");
}
