// Search, buttons that copy code, and the list of chapters on small screens.
const base = document.body.dataset.base;
const query = document.getElementById("query");
const found = document.getElementById("found");

/** Chapters about the code come after those for users. */
const aboutCode = /^(architecture|contributing|extending|planar|jpeg|png|decisions\/)/;

let index;

/** Loads the sections of all chapters, once. */
function sections() {
  index ??= fetch(`${base}search/search_index.json`).then((answer) => answer.json()).then(({ docs }) => {
    const places = new Map(docs.map((section) => [section.location, section]));
    const lookup = lunr(function () {
      this.ref("location");
      this.field("title", { boost: 8 });
      this.field("text");
      docs.forEach((section) => this.add(section, { boost: aboutCode.test(section.location) ? 0.3 : 1 }));
    });
    return { places, lookup };
  });
  return index;
}

/** The best sections for some words; each word may be the beginning of one. */
function best({ places, lookup }, words) {
  const hits = lookup.query((terms) => {
    for (const word of words) {
      terms.term(lunr.tokenizer(word), { boost: 4 });
      terms.term(word, { usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING });
    }
  });
  return hits.slice(0, 12).map((hit) => {
    const section = places.get(hit.ref);
    return { ...section, chapter: places.get(section.location.split("#")[0])?.title ?? section.title };
  });
}

function shown(section) {
  const link = document.createElement("a");
  link.href = base + section.location;
  link.textContent = section.title;
  const text = document.createElement("small");
  text.textContent = `${section.chapter}: ${section.text.replace(/\s+/g, " ").slice(0, 110)}`;
  link.append(text);
  return link;
}

async function search() {
  const words = query.value.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter((word) => word.length > 1);
  if (words.length === 0) {
    found.hidden = true;
    return;
  }
  // "to" is also the beginning of "toward".
  const meaningful = words.filter((word) => lunr.stopWordFilter(word));
  const hits = best(await sections(), meaningful.length > 0 ? meaningful : words);
  if (hits.length === 0) {
    const none = document.createElement("p");
    none.textContent = `Nothing about “${query.value.trim()}”.`;
    found.replaceChildren(none);
  } else {
    found.replaceChildren(...hits.map(shown));
  }
  found.hidden = false;
}

query.addEventListener("focus", sections, { once: true });
query.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") found.hidden = true;
  if (event.key === "/" && !/^(input|textarea)$/i.test(event.target.tagName)) {
    event.preventDefault();
    query.focus();
  }
  const links = [...found.querySelectorAll("a")];
  const here = links.indexOf(document.activeElement);
  if (found.hidden || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
  event.preventDefault();
  const next = here + (event.key === "ArrowDown" ? 1 : -1);
  (links[next] ?? query).focus();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("search")) found.hidden = true;
});

for (const code of document.querySelectorAll("main pre > code")) {
  // Scrolls by keyboard.
  code.tabIndex = 0;
  if (!navigator.clipboard) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent.trimEnd());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  code.parentElement.append(button);
}

// The images of examples come from the service: without its sample, only their parameters remain.
for (const image of document.querySelectorAll("figure.example img")) {
  image.addEventListener("error", () => image.remove());
  if (image.complete && image.naturalWidth === 0) image.remove();
}

if (matchMedia("(max-width: 51.99rem)").matches) {
  document.querySelector(".chapters > details").open = false;
}
