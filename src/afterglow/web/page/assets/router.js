// The address of what is shown: `#/sessions/planning?owner=kate%2Ftelegram%2Fana&at=7`. Names are encoded, their / too.

/** The route of an address, or of the one that is open. */
export function read(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...names] = path.split("/");
  return { view: view || "overview", name: names.length ? decoded(names.join("/")) : null, query: new URLSearchParams(query) };
}

/** The address of a view, of a thing in it, with what narrows it. Empty values are left out. */
export function address(view, name = null, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const path = name === null ? view : `${view}/${encodeURIComponent(name)}`;
  return `#/${path}${kept.length ? `?${new URLSearchParams(kept)}` : ""}`;
}

export const go = (...to) => { location.hash = address(...to); };

/** The address changes, and what is shown stays. */
export const note = (...to) => history.replaceState(history.state, "", address(...to));

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
