// Requests of the admin page, with the token of the listener where it needs one.

const key = "alula-admin-token";
const element = (id) => document.getElementById(id);
/** The question in progress, shared by all requests that wait for the token. */
let question = null;

/** Asks for the token until there is one; `isWrong` says that the last one was rejected. */
function ask(isWrong) {
  const [dialog, field] = [element("token"), element("token-value")];
  element("token-fault").hidden = !isWrong;
  return new Promise((resolve) => {
    dialog.addEventListener("close", function close() {
      if (field.value === "") return dialog.showModal();
      dialog.removeEventListener("close", close);
      sessionStorage.setItem(key, field.value);
      field.value = "";
      resolve();
    });
    dialog.showModal();
  });
}

/** Sends a request, and asks for the token if the service rejects it for that. */
export async function request(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(key);
    const headers = { ...options.headers, ...(token !== null && { Authorization: "Bearer " + token }) };
    const response = await fetch(path, { ...options, headers });
    if (response.status !== 401) return response;
    // If the token has changed meanwhile, the request is repeated with the new one.
    if (sessionStorage.getItem(key) === token) await (question ??= ask(token !== null).finally(() => { question = null; }));
  }
}

export function hasToken() {
  return sessionStorage.getItem(key) !== null;
}

/** Opens a link to a response that needs the token, which links do not send. */
export async function open(link) {
  const response = await request(link.href);
  const type = response.headers.get("Content-Type").split(";")[0];
  location.assign(URL.createObjectURL(new Blob([await response.arrayBuffer()], { type: type === "application/json" ? type : "text/plain" })));
}

/** Calls `take` with the name, data and ID of each server-sent event until the stream ends; EventSource sends no token. */
export async function readEvents(path, opened, take) {
  const response = await request(path, { headers: { Accept: "text/event-stream" }, cache: "no-store" });
  if (!response.ok) throw new Error("Status " + response.status);
  opened();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const fields = Object.fromEntries(event.split("\n").map((line) => [line.split(":", 1)[0], line.slice(line.indexOf(":") + 1).trimStart()]));
      if (fields.data) take(fields.event, JSON.parse(fields.data), fields.id);
    }
  }
}
