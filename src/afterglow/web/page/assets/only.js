// Whose memory a search is about where nobody is chosen.

import * as api from "./api.js";

/** A search is about one owner's memory: where there is one alone, it need not be named. */
export async function only(signal) {
  const { items } = await api.get("owners", { limit: 2 }, signal);
  if (items.length === 1) return items[0].id;
  throw Object.assign(new Error("Choose whose memory to search, in the list at “Memory of”"), { name: "Unchosen" });
}
