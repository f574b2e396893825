// The server, as the page speaks to it: JSON in one shape, errors as sentences, one stream of what happens.

const ROOT = "/api/v1";

/** What the server refused, in its own words. */
export class Refused extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** A name as a part of a path. A dot is encoded too: alone or doubled it would climb. */
export const part = (name) => encodeURIComponent(name).replaceAll(".", "%2E");

export const get = (path, query = {}, signal = undefined) => asked("GET", path, query, undefined, signal);
export const post = (path, body = {}, query = {}) => asked("POST", path, query, body);
export const patch = (path, body = {}, query = {}) => asked("PATCH", path, query, body);
export const remove = (path, query = {}) => asked("DELETE", path, query, {});

async function asked(method, path, query, body, signal) {
  let answer;
  try {
    answer = await fetch(where(path, query), { method, signal, headers: headers(body), body: body && JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "Unreachable", "The server does not answer. Is `afterglow serve` still running?");
  }
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  const refused = await refusal(answer);
  if (refused.status === 401 && path !== "session" && method === "GET") dispatchEvent(new Event("signedout"));
  throw refused;
}

async function refusal(answer) {
  const told = await answer.json().catch(() => null);
  const { kind = "Error", message = `the server answered ${answer.status}` } = told?.error ?? {};
  return new Refused(answer.status, kind, message);
}

/** Who is signed in; it also holds the word that every change must carry, which a page from elsewhere cannot know. */
export let session = null;

/** Sign in with the code of a link that the server printed, or go on with the cookie of before. */
export async function signIn(code) {
  session = await (code ? post("session", { code }) : get("session"));
  return session;
}

export async function signOut() {
  const answer = await remove("session");
  session = null;
  return answer;
}

function headers(body) {
  return body === undefined ? {} : { "content-type": "application/json", ...(session && { "x-afterglow-csrf": session.csrf }) };
}

function where(path, query) {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return `${path.startsWith("/") ? path : `${ROOT}/${path}`}${kept.length ? `?${new URLSearchParams(kept)}` : ""}`;
}

/** What happens on the server, behind the last that was heard: an async run of {event, id, data}. No EventSource, since that gives up
 *  for good where it is refused, and cannot say where another tab left off. */
export async function* events(last, signal, opened) {
  const answer = await fetch(where("events", {}), { signal, cache: "no-store", headers: last === null ? {} : { "last-event-id": String(last) } });
  if (answer.ok) opened();
  yield* records(answer);
}

/** Post, and hear the answer as it is written: an async run of {event, data}. */
export async function* stream(path, body, signal) {
  yield* records(await fetch(where(path, {}), { method: "POST", signal, headers: headers(body), body: JSON.stringify(body) }));
}

async function* records(answer) {
  if (!answer.ok) throw await refusal(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    waiting += value.replaceAll("\r\n", "\n");
    const records = waiting.split("\n\n");
    waiting = records.pop();
    for (const record of records) if (/^data:/m.test(record)) yield parsed(record);
  }
}

function parsed(record) {
  const lines = record.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]);
  const of = (name) => lines.filter(([key]) => key === name).map(([, value]) => value).join("\n");
  return { event: of("event") || "message", id: of("id"), data: JSON.parse(of("data")) };
}
