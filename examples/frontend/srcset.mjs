// A plain `<img>` whose sizes Alula makes, for pages without a framework.

/** The element of an image that is shown in `sizes`, for a service at `service`. */
export function image(service, source, { widths = [320, 640, 1280, 1920], sizes = "100vw", alt = "" } = {}) {
  const url = (width) => `${service}/thumbnail?url=${encodeURIComponent(source)}&amp;w=${width}`;
  const srcset = widths.map((width) => `${url(width)} ${width}w`).join(", ");
  return `<img src="${url(widths[0])}" srcset="${srcset}" sizes="${sizes}" alt="${alt}" loading="lazy">`;
}
