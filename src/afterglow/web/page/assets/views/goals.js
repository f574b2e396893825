// The goal log: each step of the agent's own work, the newest first.

import * as api from "../api.js";
import { h, put, words } from "../dom.js";
import { Pages } from "../paged.js";
import { command, empty, exactly, searchField, state, trouble } from "../parts.js";
import { address } from "../router.js";

const PAGE = 100;
const TONES = { completed: "good", failed: "bad", needs_you: "idle", cancelled: "closed", running: "busy" };

export async function show(place, { route, signal, owner }) {
  const view = new Goals(signal, owner, route.query.get("goal") ?? "");
  put(place, view.bar, view.list);
  await view.more();
  return view;
}

class Goals {
  constructor(signal, owner, goal) {
    Object.assign(this, { signal, owner, goal, words: "" });
    this.pages = new Pages((after) => api.get("goals", { owner, goal, limit: PAGE, after }, signal));
    this.list = h("div", { class: "scroll goals" });
    this.bar = h("div", { class: "bar-line" }, h("h1", {}, "Goal log"), searchField("Narrow the steps below", "", (text) => { this.words = text.toLowerCase(); this.draw(); }),
      goal && h("a", { href: address("goals", null, { owner }) }, "every goal"));
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
    const found = this.pages.items.filter((each) => `${each.title} ${each.note} ${each.goal} ${each.outcome}`.toLowerCase().includes(this.words));
    put(this.list, found.length ? h("div", { class: "list" }, h("table", { class: "log" }, h("tbody", {}, found.map((each) => this.line(each))))) : this.nothing(),
      !this.pages.complete && h("button", { type: "button", on: { click: () => this.more() } }, "Show older steps"));
  }

  line(each) {
    return h("tr", {}, h("td", { class: "log-state" }, state(each.outcome.replace("_", " "), TONES[each.outcome])), h("td", { class: "log-time" }, exactly(each.at)),
      h("td", {}, h("a", { href: address("goals", null, { owner: each.owner, goal: each.goal }) }, words(each.title || each.goal)), each.note && h("p", { class: "log-note" }, words(each.note))),
      h("td", { class: "log-who faint" }, words(each.agent), " · ", words(each.step, { class: "mono" })));
  }

  nothing() {
    if (this.words) return empty("None of the steps that are loaded fits.");
    return empty("No goal was worked on yet.", ["Agents write down each step of their own work: in the library with ", command("memory.record_goal"), ", over HTTP with ", command("POST /api/v1/goals"), "."]);
  }

  step(by) {
    const all = [...this.list.querySelectorAll("tbody a")];
    all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + by))]?.focus();
  }

  heard(event) {
    if (event.kind !== "goal" && event.kind !== "reset") return;
    this.pages = new Pages(this.pages.ask);
    this.more();
  }
}
