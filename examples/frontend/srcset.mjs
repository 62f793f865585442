// A plain `<img>` whose sizes Alula makes, for pages without a framework.

const escaped = (text) => String(text).replace(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0)};`);

/**
 * The element of an image that is shown in `sizes`, for a service at `service`.
 *
 * `width` and `height` are those of the source: browsers keep its place free while it loads.
 */
export function image(
  service, source, { widths = [320, 640, 1280, 1920], sizes = "100vw", alt = "", width, height } = {},
) {
  const url = (width) => `${service}/thumbnail?url=${encodeURIComponent(source)}&w=${width}`;
  const attributes = {
    src: url(widths[0]), srcset: widths.map((width) => `${url(width)} ${width}w`).join(", "), sizes, alt, width, height,
    loading: "lazy",
  };
  const text = Object.entries(attributes).filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
  return `<img${text}>`;
}
