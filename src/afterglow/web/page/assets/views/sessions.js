// Sessions, the newest first: state, what each was about, how much was said. Narrowed by owner, state and words.

import * as api from "../api.js";
import { h, put, words } from "../dom.js";
import { compact, oneLine } from "../format.js";
import { PAGE, Paged } from "../paged.js";
import { command, empty, searchField, segments, state, time } from "../parts.js";
import { address, note } from "../router.js";

const STATES = [["", "All"], ["open", "Open"], ["idle", "Quiet"], ["closed", "Closed"]];
let left = null;

export async function show(place, { route, signal, owner }) {
  const view = new Sessions(signal, { owner, state: route.query.get("state") ?? "", q: route.query.get("q") ?? "" });
  put(place, view.bar, view.list.node);
  await view.begin();
  return view;
}

/** One session on a line of a list. */
export function sessionLine(session) {
  const title = session.title || oneLine(session.summary ?? "", 120);
  return h("a", { class: "session-line", href: address("sessions", session.id, { owner: session.owner }) },
    session.state ? state(session.state) : h("span", { class: "state" }, session.category ?? ""),
    h("span", { class: "line-title" }, title ? words(title) : words(session.id, { class: "untitled" })),
    h("span", { class: "line-sub" }, words(session.owner), title && [" · ", words(session.id)]),
    h("span", { class: "line-figures" }, session.turns !== undefined && `${compact(session.turns)} turns · ${compact(session.tokens)} tok`),
    h("span", { class: "line-time" }, time(session.last_at)));
}

class Sessions {
  constructor(signal, asked) {
    Object.assign(this, { signal, asked });
    this.list = new Paged({ ask: (after) => this.ask(after), line: sessionLine, nothing: () => this.nothing(), guess: 49, label: "Sessions", signal });
    this.rows = this.list.rows;
    this.bar = h("div", { class: "bar-line" }, h("h1", {}, "Sessions"),
      searchField("Search what sessions were about", asked.q, (q) => this.narrow({ q })),
      segments("State", STATES, asked.state, (chosen) => this.narrow({ state: chosen })));
  }

  /** Who comes back to a list finds it where it was left. */
  async begin() {
    this.signal.addEventListener("abort", () => { left = { asked: this.asked, pages: this.list.pages, top: this.rows.node.scrollTop }; });
    if (JSON.stringify(left?.asked) !== JSON.stringify(this.asked)) return this.list.more();
    left.pages.ask = this.list.ask;
    this.list.show(left.pages);
    this.rows.node.scrollTop = left.top;
    return this.list.renew();
  }

  ask(after) {
    const { owner, state, q } = this.asked;
    if (q) return api.get("summaries", { owner, words: q, limit: PAGE, after }, this.signal);
    return api.get("sessions", { owner, state, limit: PAGE, after }, this.signal);
  }

  nothing() {
    const { q, state, owner } = this.asked;
    if (q) return empty("No summary has all of these words.", ["Look in what was said itself: ", h("a", { href: address("search", null, { owner, q }) }, words(`search for “${q}”`)), "."]);
    if (state) return empty("There is no session in this state.");
    return empty("Nothing was said yet.", "A session begins with its first turn: from the library, the HTTP API, a bot or the chat.",
      ["To bring in what was said elsewhere: ", command("afterglow import"), "."]);
  }

  narrow(change) {
    this.asked = { ...this.asked, ...change };
    note("sessions", null, this.asked);
    return this.list.restart();
  }

  change(route) {
    return route.name === null && ["owner", "q", "state"].every((name) => (route.query.get(name) ?? "") === this.asked[name]);
  }

  heard(event) {
    if (["turn", "session", "summary", "reset"].includes(event.kind) && !this.asked.q) this.list.renew();
  }
}
