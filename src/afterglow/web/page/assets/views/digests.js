// What people were told of the times they were away, and where nothing was told, why not.

import * as api from "../api.js";
import { h, put, words } from "../dom.js";
import { plural } from "../format.js";
import { Pages } from "../paged.js";
import { command, empty, exactly, segments, state, trouble } from "../parts.js";

const PAGE = 50;
const TONES = { delivered: "good", failed: "bad", claimed: "idle", none: "closed" };
const SAID = { delivered: "told", failed: "failed", claimed: "on its way", none: "not told" };
const WHY = {
  disabled: "Digests are switched off in the settings (away_summary.enabled).",
  first: "It was the first time this person was seen.",
  clock: "The clock went backwards since they were last seen.",
  "too soon": "They were not away long enough (away_summary.threshold_hours).",
  "nothing happened": "The agent did nothing while they were away.",
};

export async function show(place, { signal, owner }) {
  const view = new Digests(signal, owner);
  put(place, view.bar, view.list);
  await view.more();
  return view;
}

class Digests {
  constructor(signal, owner) {
    Object.assign(this, { signal, owner, shown: "all" });
    this.pages = new Pages((after) => api.get("digests", { owner, limit: PAGE, after }, signal));
    this.list = h("div", { class: "scroll digests" });
    this.bar = h("div", { class: "bar-line" }, h("h1", {}, "Digests"), segments("Which", [["all", "All"], ["told", "Told"], ["not", "Not told"]], "all", (shown) => { this.shown = shown; this.draw(); }));
    this.rows = { step: (by) => this.step(by) };
  }

  async more() {
    try {
      await this.pages.more();
      this.draw();
    } catch (error) {
      const told = trouble(error, () => this.more());
      if (told) put(this.list, told);
    }
  }

  draw() {
    const wanted = this.pages.items.filter((each) => this.shown === "all" || (each.status === "delivered") === (this.shown === "told"));
    put(this.list, wanted.length > 0 && h("div", { class: "list" }, wanted.map((each, place) => digest(each, place === 0))), !wanted.length && this.nothing(),
      !this.pages.complete && h("button", { type: "button", on: { click: () => this.more() } }, "Show older ones"));
  }

  nothing() {
    if (this.pages.items.length) return empty("There is none of this sort.");
    return empty("Nobody has come back from an absence yet.", ["When somebody writes again after a while, they are told what the agent did meanwhile, and it stands here with the reason. To see now what one would say: ", command("afterglow digest")]);
  }

  step(by) {
    const all = [...this.list.querySelectorAll("details > summary")];
    all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + by))]?.focus();
  }

  heard(event) {
    if (event.kind !== "digest" && event.kind !== "reset") return;
    this.pages = new Pages(this.pages.ask);
    this.more();
  }
}

/** The text as people get it: what is marked as strong is, and no other markup is heeded. */
const strong = (text) => text.split(/\*\*(.+?)\*\*/).map((piece, place) => (place % 2 ? h("b", {}, plain(piece)) : plain(piece)));
const plain = (text) => text.replace(/\\([!-/:-@[-`{-~])/g, "$1");

function digest(each, open) {
  const why = each.status === "none" ? (WHY[each.reason] ?? each.reason) : each.reason;
  return h("details", { class: "digest", open },
    h("summary", {}, state(SAID[each.status] ?? each.status, TONES[each.status]), exactly(each.at),
      words(each.owner, { class: "mono" }), each.kind === "daily" && h("span", { class: "note" }, "daily"),
      h("span", { class: "digest-why" }, each.status === "delivered" ? `${plural(each.shown, "step")} shown of ${each.total}` : words(why || "no reason was given"))),
    h("div", { class: "digest-body" },
      h("p", { class: "faint" }, "Away from ", exactly(each.since), " to ", exactly(each.at), `; ${plural(each.total, "step")} happened.`),
      each.status === "delivered" && h("p", { class: "faint" }, "Why: they were away long enough, and something had happened."),
      why && h("p", {}, "Why not: ", words(why)),
      each.text && h("div", { class: "digest-text", dir: "auto" }, strong(each.text))));
}
