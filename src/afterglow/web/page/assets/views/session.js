// One session: the picture of its blocks, its turns, and beside them what the model saw at any of them.

import * as api from "../api.js";
import { BlockPanel } from "../block.js";
import { h, put, words } from "../dom.js";
import { count, plural } from "../format.js";
import { attempt, confirmed, empty, exactly, segments, sentence, state, tell, time, trouble } from "../parts.js";
import { go, note } from "../router.js";
import { Rows, inSight } from "../rows.js";
import { seenPanel } from "../seen.js";
import { Timeline } from "../timeline.js";
import { turnComing, turnRow } from "../turn.js";

const PAGE = 100;

export async function show(place, { route, signal, owner }) {
  const view = new SessionView(place, route, signal, owner);
  await view.load();
  return view;
}

class SessionView {
  constructor(place, route, signal, owner) {
    Object.assign(this, { place, signal, owner, name: route.name, wanted: Number(route.query.get("at")) || null, turn: Number(route.query.get("turn")) || null });
    this.path = `sessions/${api.part(this.name)}`;
    this.turns = new Map();
    this.asked = new Set();
    this.wide = new Set();
    this.rows = new Rows({ draw: (index) => this.drawTurn(index + 1), near: (first, last) => this.need(first + 1, last + 1), guess: 84, label: "Turns" });
    this.timeline = new Timeline({ slide: (at) => this.slide(at), pick: (number) => this.pick(number) });
    this.block = new BlockPanel({ path: this.path, owner: () => this.owner, signal, pick: (number) => this.pick(number), reveal: (seq) => this.reveal(seq) });
    this.side = h("section", { class: "panel side", "aria-label": "What the model saw" });
    this.head = h("div", { class: "session-head" });
  }

  async load() {
    const [session, blocks] = await Promise.all([api.get(this.path, { owner: this.owner }, this.signal), this.allBlocks(this.signal)]);
    Object.assign(this, { session, blocks, owner: session.owner });
    this.summary = await this.summaryOf(session, this.signal);
    this.begin();
  }

  begin() {
    this.draw();
    if (!this.session.turns) return;
    this.rows.grow(this.session.turns);
    this.timeline.show(this.session.turns, this.blocks);
    this.slide(Math.min(this.wanted ?? this.session.turns, this.session.turns));
    this.reveal(this.turn ?? Math.min(this.wanted ?? this.session.turns, this.session.turns), { chosen: Boolean(this.turn) });
  }

  async allBlocks(signal) {
    const found = [];
    for (let first = 1; first;) {
      const { items, next } = await api.get(`${this.path}/blocks`, { owner: this.owner, first, limit: 500 }, signal);
      found.push(...items);
      first = next;
    }
    return found;
  }

  async summaryOf(session, signal) {
    return session.summary_seq ? api.get(`${this.path}/summary`, { owner: session.owner }, signal) : null;
  }

  draw() {
    this.drawHead();
    const tabs = segments("Part of the session", [["turns", "Turns"], ["seen", "What the model saw"], ["summary", "Summary"]], "turns", (part) => this.tab(part));
    this.body = h("div", { class: "session-body", "data-part": "turns" },
      h("section", { class: "panel turns", "aria-label": "Turns" }, this.session.turns ? this.rows.node : empty("Nothing was said here yet.", "The first message of this session will stand here.")),
      this.side, h("section", { class: "panel about", "aria-label": "Summary" }, this.about()));
    put(this.place, this.head, this.session.turns > 0 && this.timeline.node, tabs, this.body);
    this.rows.layout();
    if (!this.session.turns) put(this.side, empty("The model has seen nothing yet."));
  }

  drawHead() {
    const { session, summary } = this;
    put(this.head,
      h("div", { class: "title-line" }, h("h1", {}, words(summary?.title || session.id)), state(session.state)),
      h("p", { class: "meta" },
        summary && [words(session.id, { class: "mono" }), " · "], words(session.owner, { class: "mono" }), " · ", plural(session.turns, "turn"), " · ", plural(session.tokens, "token"),
        " · ", plural(this.blocks.length, "block"), " · begun ", exactly(session.created_at), " · last ", time(session.last_at)),
      h("div", { class: "actions" }, this.actions()));
  }

  actions() {
    const act = (text, path, done, danger) => h("button", { type: "button", class: danger && "danger", on: { click: () => this.act(path, done) } }, text);
    return [
      act("Compact", "compact", "It is to be folded; this view follows."),
      act("Summarise", "summary", "The summary is there."),
      this.session.state === "closed" ? act("Reopen", "restore", "It is open again.") : act("Close", "sunset", "It is closed; its summary is made next."),
      h("button", { type: "button", class: "danger", on: { click: () => this.forget() } }, "Forget…"),
    ];
  }

  async act(path, done) {
    const answer = await attempt(() => api.post(`${this.path}/${path}`, {}, { owner: this.owner }));
    if (answer === null) return;
    tell(answer.due === false ? "There is nothing to do: all of it is done already." : done);
    await this.refresh();
  }

  async forget() {
    const sure = await confirmed("Forget this session?", `${this.summary?.title ?? this.session.id}: all its turns, and everything that came from them, go for good.`, "Forget it");
    if (!sure) return;
    clearTimeout(this.later);
    this.looking?.abort();
    const gone = await attempt(() => api.post(`${this.path}/forget`, {}, { owner: this.owner }), "It is forgotten.");
    if (gone) go("sessions", null, { owner: this.owner });
  }

  about() {
    const { summary } = this;
    if (!summary) return empty("There is no summary yet.", "One is made when the session ends or goes quiet; Summarise makes it now.");
    const list = (title, items) => items.length > 0 && [h("h3", {}, title), h("ul", {}, items.map((each) => h("li", {}, words(each))))];
    return h("div", { class: "summary" }, h("p", { dir: "auto" }, summary.summary),
      list("Decided", summary.decisions), list("Still open", summary.open_threads), list("Outcomes", summary.outcomes), list("People", summary.people),
      h("p", { class: "faint" }, `${summary.category} · turns 1–${count(summary.last_seq)} · ${summary.trigger} · `, words(summary.model), summary.degraded && " · made without a model's help"));
  }

  tab(part) {
    this.body.dataset.part = part;
    this.rows.layout();
  }

  // Turns: only those in sight are asked for, a page at a time.

  drawTurn(seq) {
    const turn = this.turns.get(seq);
    if (!turn) return turnComing(seq);
    const row = turnRow(turn, { open: this.wide.has(seq), toggle: () => this.widen(seq), chosen: (at) => this.slide(at) });
    row.classList.toggle("marked", Boolean(this.span && seq >= this.span[0] && seq <= this.span[1]));
    row.classList.toggle("at", seq === this.at);
    row.classList.toggle("beyond", seq > this.at);
    return row;
  }

  need(first, last) {
    for (let page = Math.floor((first - 1) / PAGE); page <= Math.floor((last - 1) / PAGE); page += 1) if (!this.asked.has(page)) this.fetch(page);
  }

  async fetch(page) {
    this.asked.add(page);
    try {
      const { items } = await api.get(`${this.path}/turns`, { owner: this.owner, first: page * PAGE + 1, last: (page + 1) * PAGE, limit: PAGE }, this.signal);
      for (const turn of items) this.turns.set(turn.seq, turn);
      this.rows.redraw((index) => Math.floor(index / PAGE) === page);
      if (this.pending) this.reveal(...this.pending);
    } catch (error) {
      this.asked.delete(page);
      if (error.name !== "AbortError") tell(error.message, "wrong");
    }
  }

  async widen(seq) {
    const turn = this.turns.get(seq);
    if (turn.cut && !this.wide.has(seq)) {
      const whole = await attempt(() => api.get(`${this.path}/turns/${seq}`, { owner: this.owner }, this.signal));
      if (whole) this.turns.set(seq, { ...whole, cut: false });
    }
    if (!this.wide.delete(seq)) this.wide.add(seq);
    this.rows.redraw((index) => index + 1 === seq);
  }

  /** Bring a turn into sight; once more when it has come, since the turns around it are higher than was guessed. */
  reveal(seq, { chosen = true } = {}) {
    this.pending = this.turns.has(seq) ? null : [seq, { chosen }];
    if (chosen && this.body.dataset.part !== "turns") this.tab("turns");
    this.rows.reveal(seq - 1, chosen ? "top" : "nearest");
    if (chosen) this.rows.choose(seq - 1, { focus: false });
  }

  // What the model saw: the picture moves at once, the words follow when the slider rests.

  /** At its end the slider shows what the model sees next: blocks that were made since the last turn are in that. */
  get now() {
    return this.at === this.session.turns;
  }

  slide(at) {
    const first = this.at === undefined;
    this.at = at;
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.mark(); });
    clearTimeout(this.rests);
    this.rests = setTimeout(() => this.see(at, first), first ? 0 : 90);
  }

  mark() {
    this.timeline.move(this.at);
    for (const [index, turn] of inSight(this.rows)) {
      turn.classList.toggle("at", index + 1 === this.at);
      turn.classList.toggle("beyond", index + 1 > this.at);
    }
  }

  async see(at, first = false) {
    if (!first) note("sessions", this.name, { owner: this.owner, at: at === this.session.turns ? null : at });
    this.seeing?.abort();
    this.seeing = new AbortController();
    try {
      const context = await api.get(`${this.path}/context`, { owner: this.owner, at: this.now ? null : at }, AbortSignal.any([this.seeing.signal, this.signal]));
      if (at !== this.at) return;
      const tail = context.portions.find((each) => each.name === "tail");
      this.timeline.move(at, tail?.first_seq);
      this.context = context;
      if (!this.block.shown) this.drawSeen();
    } catch (error) {
      if (error.name !== "AbortError") put(this.side, trouble(error, () => this.see(at)));
    }
  }

  drawSeen() {
    const top = this.side.scrollTop;
    const { now } = this;
    put(this.side,
      h("div", { class: "heading" }, h("h2", {}, now ? "What the model sees now" : `What the model saw at turn ${count(this.at)}`),
        !now && h("button", { type: "button", class: "link", on: { click: () => this.slide(this.session.turns) } }, "now")),
      seenPanel(this.context, { pick: (number) => this.pick(number), said: now ? this.session.tokens : 0 }));
    this.side.scrollTop = top;
  }

  async pick(number) {
    const block = this.blocks.find((each) => each.number === number) ?? null;
    this.timeline.choose(number);
    this.span = block && [block.first_seq, block.last_seq];
    this.rows.redraw();
    if (!block) return this.unpick();
    if (this.body.dataset.part !== "seen" && matchMedia("(max-width: 60rem)").matches) this.tab("seen");
    await this.block.show(this.side, block, this.blocks, () => this.unpick());
  }

  unpick() {
    this.block.shown = null;
    this.span = null;
    this.timeline.choose(null);
    this.rows.redraw();
    if (this.context) this.drawSeen();
  }

  // Keys, and what happens on the server.

  key(key) {
    if (!this.session.turns) return false;
    if (key === "Escape" && this.block.shown) return this.unpick() ?? true;
    if (key === "ArrowLeft" || key === "ArrowRight") return this.slide(Math.max(1, Math.min(this.session.turns, this.at + (key === "ArrowLeft" ? -1 : 1)))) ?? true;
    if (key === "[" || key === "]") return this.stepBlock(key === "[" ? -1 : 1);
    return false;
  }

  stepBlock(by) {
    const shown = this.blocks.filter((each) => each.shown_until === null).sort((one, other) => one.first_seq - other.first_seq);
    if (!shown.length) return false;
    const place = shown.findIndex((each) => each.number === this.block.shown);
    this.pick(shown[place < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.max(0, Math.min(shown.length - 1, place + by))].number);
    return true;
  }

  change(route) {
    if (route.name !== this.name || (route.query.get("owner") || this.owner) !== this.owner) return false;
    const [at, turn] = [Number(route.query.get("at")), Number(route.query.get("turn"))];
    if (at && at !== this.at) this.slide(Math.min(at, this.session.turns));
    if (turn) this.reveal(turn);
    return true;
  }

  heard(event) {
    if (event.session !== this.name && event.kind !== "reset") return;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.refresh(), 300);
  }

  async refresh() {
    const was = this.session;
    const live = this.at === was.turns;
    this.looking = new AbortController();
    const signal = AbortSignal.any([this.looking.signal, this.signal]);
    try {
      const session = await api.get(this.path, { owner: this.owner }, signal);
      const [blocks, summary] = await Promise.all([this.allBlocks(signal), this.summaryOf(session, signal)]);
      Object.assign(this, { session, blocks, summary });
    } catch (error) {
      if (error.name !== "AbortError") tell(sentence(error.message), "wrong");
      return;
    }
    const { session, blocks } = this;
    if (!was.turns) {
      this.begin();
      return;
    }
    this.drawHead();
    put(this.body.querySelector(".about"), this.about());
    this.asked.delete(Math.floor(was.turns / PAGE));
    this.rows.grow(session.turns);
    this.rows.redraw((index) => !this.turns.has(index + 1));
    this.timeline.show(session.turns, blocks);
    this.slide(live ? session.turns : this.at);
  }
}

