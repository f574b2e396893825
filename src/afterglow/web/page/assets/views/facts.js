// Facts: search them, see what proves each, and approve, edit or forget it.

import * as api from "../api.js";
import { h, put, words } from "../dom.js";
import { FactPanel } from "../fact.js";
import { only } from "../only.js";
import { PAGE, Paged } from "../paged.js";
import { command, empty, searchField, segments, state } from "../parts.js";
import { address, note } from "../router.js";
import { inSight } from "../rows.js";

const STATUSES = [["active", "Active"], ["pending", "Pending"], ["superseded", "Superseded"], ["", "All"]];
const TYPES = ["preference", "decision", "task_completed", "open_thread", "person", "event", "other"];

export async function show(place, { route, signal, owner }) {
  const view = new FactsView(signal, route, owner);
  put(place, view.bar, h("div", { class: "split" }, view.list.node, view.side));
  place.classList.toggle("has-detail", route.name !== null);
  await Promise.all([view.list.more(), view.open(route.name, ownerOf(route))]);
  return view;
}

/** Whose fact is opened: in a list of everyone's facts the address says it beside. */
const ownerOf = (route) => route.query.get("of") ?? route.query.get("owner");

class FactsView {
  constructor(signal, route, owner) {
    Object.assign(this, { signal, name: null });
    const asked = (name, otherwise) => route.query.get(name) ?? otherwise;
    this.asked = { owner, status: asked("status", "active"), type: asked("type", ""), q: asked("q", ""), session: asked("session", "") };
    this.list = new Paged({ ask: (after) => this.ask(after), line: (fact) => this.line(fact), nothing: () => this.nothing(), guess: 36, label: "Facts", signal });
    this.rows = this.list.rows;
    this.side = h("section", { class: "panel side", "aria-label": "The chosen fact" });
    this.panel = new FactPanel({ place: this.side, signal, changed: (fact, from) => this.changed(fact, from), close: () => history.back() });
    const type = h("select", { "aria-label": "Type", on: { change: () => this.narrow({ type: type.value }) } }, h("option", { value: "" }, "every type"), TYPES.map((each) => h("option", { value: each, selected: each === this.asked.type }, each.replace("_", " "))));
    this.bar = h("div", { class: "bar-line" }, h("h1", {}, "Facts"), searchField("Search facts", this.asked.q, (q) => this.narrow({ q })), type,
      segments("Status", STATUSES, this.asked.status, (status) => this.narrow({ status })));
  }

  line(fact) {
    return h("a", { class: "fact-line", href: this.hrefOf(fact), "aria-current": fact.id === this.name && "true" },
      h("span", { class: "fact-type" }, fact.type.replace("_", " ")), h("span", { class: "line-title" }, words(fact.content || "(forgotten)")),
      fact.status !== "active" && state(fact.status, fact.status === "pending" ? "idle" : "closed"), h("span", { class: "line-time" }, fact.source_date));
  }

  hrefOf(fact) {
    const { owner, ...rest } = this.asked;
    return address("facts", fact.id, { ...rest, owner, of: owner ? null : fact.owner });
  }

  async ask(after) {
    const { owner, status, type, q, session } = this.asked;
    if (q) return api.get("facts", { owner: owner || (await only(this.signal)), type, q, limit: PAGE }, this.signal);
    return api.get("facts", { owner, status, all: status ? null : true, type, session, limit: PAGE, after }, this.signal);
  }

  nothing() {
    const { q, status, type } = this.asked;
    if (q || type) return empty("No fact fits.", "Try other words, or every type and status.");
    if (status === "pending") return empty("Nothing waits for your approval.");
    if (status === "superseded") return empty("No fact has taken the place of another.");
    return empty("There are no facts yet.", "They are found in conversations, each with the words that prove it; without a model only plain statements are.",
      ["To state one yourself: ", command("afterglow facts add")]);
  }

  narrow(change) {
    this.asked = { ...this.asked, ...change };
    note("facts", this.name, this.asked);
    return this.list.restart();
  }

  async open(name, owner) {
    this.name = name;
    for (const [index, line] of inSight(this.rows)) {
      if (this.list.pages.items[index].id === name) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    }
    if (name === null) return put(this.side, empty("Choose a fact to see what proves it.", "j and k move through the list, Enter opens."));
    return this.panel.show(name, owner);
  }

  /** A fact was changed here: the list shows it at once, drops what no longer belongs in it, and shows again what counts again. */
  changed(fact, from) {
    const { pages } = this.list;
    const place = pages.items.findIndex((each) => each.id === from);
    if (fact.status === "forgotten" && pages.items[place]?.supersedes) return this.list.restart();
    const stays = fact.status !== "forgotten" && (!this.asked.status || fact.status === this.asked.status);
    if (place >= 0) pages.items.splice(place, 1, ...(stays ? [fact] : []));
    if (fact.status !== "forgotten") note("facts", fact.id, this.asked);
    return this.list.show(pages);
  }

  change(route) {
    const same = ["owner", "type", "q", "session"].every((name) => (route.query.get(name) ?? "") === this.asked[name]) && (route.query.get("status") ?? "active") === this.asked.status;
    if (!same) return false;
    document.getElementById("main").classList.toggle("has-detail", route.name !== null);
    this.open(route.name, ownerOf(route));
    return true;
  }

  heard(event) {
    if (["fact", "reset"].includes(event.kind) && !this.asked.q) this.list.renew();
  }
}
