// A provider of Nuxt Image whose images Alula makes. In nuxt.config.ts:
//
//   image: {
//     provider: "alula",
//     providers: { alula: { provider: "~/nuxt-provider.mjs", options: { baseURL: "https://img.example.com" } } },
//   }
//
// With Alula's `ipxPath`, Nuxt's own provider does as well:
//
//   image: { provider: "ipx", ipx: { baseURL: "https://img.example.com/_ipx" } }
const names = {
  width: "w", height: "h", quality: "q", format: "format", fit: "fit", background: "background", blur: "blur",
};

// Alula's colors have no `#`, and its blur is at most 100.
const changed = {
  background: (color) => String(color).replace(/^#/, ""),
  blur: (deviation) => Math.min(deviation, 100),
};

/** The URL of an image with the modifiers of a component. */
export function getImage(src, { modifiers = {}, baseURL = "" } = {}) {
  const query = Object.entries(modifiers).filter(([name, value]) => name in names && value)
    .map(([name, value]) => `&${names[name]}=${encodeURIComponent(changed[name]?.(value) ?? value)}`).join("");
  return { url: `${baseURL}/thumbnail?url=${encodeURIComponent(src)}${query}` };
}

export default () => ({ getImage });
