// An image service of Astro whose images Alula makes, also for static sites. In astro.config.mjs:
//
//   export default defineConfig({ image: { service: { entrypoint: "./astro-service.mjs" } } });
//
// Where Astro itself runs as a server, a proxy may send its `/_image` to Alula with `astroPath` instead.
// Images of the project are found below Alula's `baseOrigin`, which is the site.
const service = process.env.ALULA_URL ?? "https://img.example.com";
const qualities = { low: 25, mid: 50, high: 80, max: 100 };
const fits = { contain: "inside", "scale-down": "inside", none: "outside" };
// The properties of a component that describe the image; all others are attributes of its element.
const own = new Set([
  "src", "width", "height", "format", "formats", "quality", "densities", "widths", "fit", "position", "background",
  "layout", "priority", "inferSize",
]);

/** The URL of an image with the properties of a component. */
export function getURL({ src, width, height, quality, format, fit, background }) {
  const parameters = {
    w: width, h: height, q: qualities[quality] ?? quality, format, fit: fits[fit] ?? fit,
    background: background?.replace(/^#/, ""),
  };
  const query = Object.entries(parameters).filter(([, value]) => value)
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
  return `${service}/thumbnail?url=${encodeURIComponent(src.src ?? src)}${query}`;
}

/** The attributes of the element: those of the component, and the size that the image is shown in. */
export function getHTMLAttributes(options) {
  const attributes = Object.fromEntries(Object.entries(options).filter(([name]) => !own.has(name)));
  return { loading: "lazy", decoding: "async", ...attributes, ...shownSize(options) };
}

/** The images for `srcset`, by the component's `widths` or `densities`. */
export function getSrcSet(options) {
  const { width, height } = shownSize(options);
  const widths = options.widths?.map((width) => [width, `${width}w`])
    ?? options.densities?.map((density) => [Math.round(parseFloat(density) * width), `${parseFloat(density)}x`]) ?? [];
  const most = options.src.width ?? Infinity;
  return widths.filter(([wide]) => wide > 0 && wide <= most).map(([wide, descriptor]) => {
    const { widths, densities, ...transform } = { ...options, width: wide };
    if (options.height || height) transform.height = Math.round(wide * height / width) || undefined;
    return { transform, descriptor, attributes: options.format ? { type: `image/${options.format}` } : {} };
  });
}

/** The size that the component names; a missing side follows from the image's own ratio. */
function shownSize({ src, width, height }) {
  const ratio = src.width / src.height;
  if (!width && !height) return { width: src.width, height: src.height };
  return {
    width: width ?? (ratio ? Math.round(height * ratio) : undefined),
    height: height ?? (ratio ? Math.round(width / ratio) : undefined),
  };
}

export default { getURL, getHTMLAttributes, getSrcSet };
