// How it is doing: health, what waits, who is primary, what today has cost, and the newest sessions.

import * as api from "../api.js";
import { h, put, words } from "../dom.js";
import { compact, count, percent, plural, usd } from "../format.js";
import { attempt, command, empty, heading, pairs, sentence, state, time, told, trouble } from "../parts.js";
import { address } from "../router.js";
import { sessionLine } from "./sessions.js";

const EVERY = 20_000;
const PARTS = {
  health: [["status", {}]],
  spend: [["spend", {}]],
  work: [["work", { limit: 8, state: "parked" }], ["work", { limit: 8, state: "claimed" }]],
  newest: [["sessions", { limit: 8 }]],
};
const COLUMNS = [["health", "work"], ["spend", "newest"]];

export async function show(place, { signal, owner, who }) {
  const bound = Boolean((await who)?.owner);
  if (signal.aborted) return null;
  const view = new Overview(signal, owner, Object.keys(PARTS).filter((name) => !(bound && name === "health")));
  put(place, h("h1", { class: "visually-hidden" }, "Overview"), h("div", { class: "overview" }, COLUMNS.map((names) => h("div", {}, names.map((name) => view.places[name])))));
  await view.refresh();
  return view;
}

class Overview {
  /** Who is bound to one owner is shown that owner's part, and nothing of the server as a whole. */
  constructor(signal, owner, names) {
    Object.assign(this, { signal, owner, names });
    this.places = Object.fromEntries(names.map((name) => [name, h("section", { class: `panel part-${name}` })]));
    const timer = setInterval(() => document.hidden || this.refresh(), EVERY);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  /** Each part is asked for by itself, so that one that fails or is slow does not keep the others. */
  async refresh() {
    await Promise.all(this.names.map((name) => this.fill(name)));
  }

  async fill(name) {
    try {
      const answers = await Promise.all(PARTS[name].map(([path, query]) => this.ask(path, query)));
      if (!this.signal.aborted) put(this.places[name], this[name](...answers));
    } catch (error) {
      if (!this.signal.aborted) put(this.places[name], trouble(error, () => this.fill(name)));
    }
  }

  ask(path, query) {
    const owned = ["work", "sessions", "spend"].includes(path) ? { ...query, owner: this.owner } : query;
    return api.get(path, owned, this.signal);
  }

  health(status) {
    const { totals, backlog, summarization: made } = status;
    const well = !status.trouble;
    return [
      heading("Health", state(well ? "ready" : "not ready", well ? "good" : "bad")),
      !well && h("p", { class: "warning" }, told(sentence(status.trouble))),
      h("div", { class: "figures" }, figure(compact(totals.sessions), "sessions"), figure(compact(totals.turns), "turns"), figure(compact(totals.tokens), "tokens"), figure(compact(totals.owners), "owners")),
      pairs(
        ["Primary", made.primaryHolder ? words(made.primaryHolder, { class: "mono" }) : "nobody: work waits until a process is primary"],
        ["Queue", `${plural(backlog.due ?? 0, "piece")} due, ${count(backlog.claimed ?? 0)} under way, ${count(backlog.waiting ?? 0)} waiting, ${count(backlog.parked ?? 0)} parked`],
        backlog.oldest_due_at && ["Oldest due", time(backlog.oldest_due_at)],
        ["Summaries", `${count(made.queueDepth)} to make`, made.lastSuccessAt && [", last made ", time(made.lastSuccessAt)]],
        ["Last sweep", time(made.lastSweepAt), made.lastSweepFound !== null && `, found ${count(made.lastSweepFound)}`],
        ["Server", `Afterglow ${status.version}, `, words(status.where, { class: "mono" })]),
      made.off.length > 0 && h("ul", { class: "remarks" }, made.off.map((each) => h("li", {}, told(sentence(each))))),
    ];
  }

  spend(spend) {
    const { total } = spend;
    const models = byModel(spend.models);
    const most = Math.max(...models.map((each) => each.usd ?? 0), 1e-9);
    const tokensMost = Math.max(...models.map((each) => each.tokens), 1);
    const rows = models.map((each) => h("tr", {}, h("th", { scope: "row" }, words(each.model)),
      h("td", { class: "bar-cell" }, h("i", { class: "bar", vars: { "--share": each.usd ? each.usd / most : each.tokens / tokensMost / 4 } })),
      h("td", {}, count(each.calls)), h("td", {}, compact(each.tokens)), h("td", {}, usd(each.usd))));
    const alone = Object.entries(spend.left_alone ?? {}).map(([model, seconds]) => h("li", {}, state("left alone", "bad"), words(`${model} failed again and again; it is called again in ${count(Math.ceil(seconds))} s`)));
    return [
      heading("Spend today", h("span", { class: "faint" }, spend.day)),
      h("div", { class: "figures" }, figure(usd(total.usd), `of ${usd(spend.ceiling_usd)} a day`), figure(compact(total.tokens), `of ${compact(spend.ceiling_tokens)} tokens`), figure(count(total.calls), "calls")),
      h("div", { class: "gauge", role: "img", "aria-label": `${percent(total.usd, spend.ceiling_usd)} of today's ceiling` }, h("i", { vars: { "--share": Math.min(1, spend.ceiling_usd ? total.usd / spend.ceiling_usd : 0) } })),
      rows.length ? h("table", { class: "spend" }, h("thead", {}, h("tr", {}, ["Model", "", "Calls", "Tokens", "Cost"].map((each) => h("th", { scope: "col" }, each)))), h("tbody", {}, rows))
        : h("p", { class: "faint" }, "No model was called today."),
      alone.length > 0 && h("ul", { class: "lines" }, alone),
    ];
  }

  work(parked, claimed) {
    const items = [...claimed.items, ...parked.items];
    return [
      heading("Work", parked.items.length > 0 && h("button", { type: "button", on: { click: () => this.retry() } }, "Try parked work again")),
      items.length ? h("ul", { class: "lines" }, items.map((each) => h("li", {}, state(each.state, each.state === "parked" ? "bad" : "good"), h("b", {}, each.kind), words(each.subject, { class: "mono" }), each.last_error && words(each.last_error, { class: "faint" }))))
        : h("p", { class: "faint" }, "Nothing is under way, and nothing is parked."),
    ];
  }

  newest({ items }) {
    return [
      heading("Newest sessions", h("a", { href: address("sessions", null, { owner: this.owner }) }, "all")),
      items.length ? h("div", { class: "short" }, items.map(sessionLine))
        : empty("Nothing was said yet.", ["Send a first turn with the library, the HTTP API or a bot, or bring in what there is: ", command("afterglow import")]),
    ];
  }

  async retry() {
    await attempt(() => api.post("work/retry", {}, { owner: this.owner }), "It is tried again.");
    await this.fill("work");
  }

  heard(event) {
    const parts = { turn: ["newest"], session: ["newest"], summary: ["newest", "spend"], block: ["spend"], work: ["work"] }[event.kind] ?? this.names;
    this.due = new Set([...(this.due ?? []), ...parts]);
    this.later ??= setTimeout(() => { this.later = null; this.due.forEach((name) => this.fill(name)); this.due = null; }, 1500);
  }
}

/** What is accounted by model and purpose, by model alone; the dearest first. */
function byModel(rows) {
  const sums = new Map();
  for (const { model, calls, tokens, usd: cost } of rows) {
    const sum = sums.get(model) ?? { model, calls: 0, tokens: 0, usd: 0 };
    sums.set(model, { model, calls: sum.calls + calls, tokens: sum.tokens + tokens, usd: sum.usd + cost });
  }
  return [...sums.values()].sort((one, other) => other.usd - one.usd || other.tokens - one.tokens);
}

const figure = (value, label) => h("div", { class: "figure-box" }, h("b", {}, value), h("span", {}, label));
