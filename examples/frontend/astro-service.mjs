// An image service of Astro whose images Alula makes, also for static sites. In astro.config.mjs:
//
//   export default defineConfig({ image: { service: { entrypoint: "./astro-service.mjs" } } });
//
// Where Astro itself runs as a server, a proxy may send its `/_image` to Alula with `astroPath` instead.
// Images of the project are found below Alula's `baseOrigin`, which is the site.
const service = process.env.ALULA_URL ?? "https://img.example.com";
const names = { width: "w", height: "h", quality: "q", format: "format", fit: "fit", background: "background" };

export default {
  /** The URL of an image with the properties of a component. */
  getURL(options) {
    const source = typeof options.src === "string" ? options.src : options.src.src;
    const query = Object.entries(names).filter(([name]) => options[name])
      .map(([name, parameter]) => `&${parameter}=${encodeURIComponent(options[name])}`).join("");
    return `${service}/thumbnail?url=${encodeURIComponent(source)}${query}`;
  },
};
