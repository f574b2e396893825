// Search in all that one owner said and was told; each hit leads to its turn.

import * as api from "../api.js";
import { h, put, words } from "../dom.js";
import { plural } from "../format.js";
import { only } from "../only.js";
import { empty, exactly, marked, searchField, trouble } from "../parts.js";
import { address, note } from "../router.js";

const LIMIT = 50;

export async function show(place, { route, signal, owner }) {
  const view = new Search(signal, owner, route.query.get("q") ?? "", route.query.get("regex") === "true");
  put(place, view.bar, view.results);
  await view.ask();
  if (!view.q) view.field.focus();
  return view;
}

class Search {
  constructor(signal, owner, q, regex) {
    Object.assign(this, { signal, owner, q, regex });
    this.field = searchField("Search what was said", q, (text) => this.narrow({ q: text }));
    const box = h("input", { type: "checkbox", checked: regex, on: { change: () => this.narrow({ regex: box.checked }) } });
    this.bar = h("div", { class: "bar-line" }, h("h1", {}, "Search"), this.field, h("label", { class: "check" }, box, "regular expression"));
    this.results = h("div", { class: "scroll results" });
    this.rows = { step: (by) => this.step(by) };
  }

  async narrow(change) {
    Object.assign(this, change);
    note("search", null, { owner: this.owner, q: this.q, regex: this.regex || null });
    await this.ask();
  }

  async ask() {
    this.running?.abort();
    if (!this.q) return put(this.results, empty("What are you looking for?", "Words in any order; the best fit comes first. A regular expression gives the newest matches."));
    this.running = new AbortController();
    try {
      const owner = this.owner || (await only(this.signal));
      const found = await api.get("search", { q: this.q, owner, limit: LIMIT, regex: this.regex || null, ignore_case: this.regex || null }, AbortSignal.any([this.running.signal, this.signal]));
      put(this.results, this.found(found));
    } catch (error) {
      const told = trouble(error);
      if (told) put(this.results, told);
    }
    return null;
  }

  found({ hits, complete = true }) {
    if (!hits.length) return empty("Nothing that was said fits.", "Try fewer words, or another form of them.");
    return [
      h("p", { class: "faint" }, plural(hits.length, "hit"), !complete && ", of the newest turns alone: the search ended at its limit"),
      h("div", { class: "list" }, hits.map((hit) => h("a", { class: "hit", href: address("sessions", hit.session, { owner: hit.owner, turn: hit.seq }) },
        h("span", { class: "hit-head" }, h("b", {}, hit.role), words(hit.session, { class: "mono" }), `#${hit.seq}`, exactly(hit.at)),
        h("span", { class: "hit-text" }, marked(hit.snippet, hit.marks))))),
    ];
  }

  step(by) {
    const all = [...this.results.querySelectorAll("a.hit")];
    const place = all.indexOf(document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, place + by))]?.focus();
  }

  change() {
    return false;
  }
}
