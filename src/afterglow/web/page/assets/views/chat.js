// Chat: what is said goes to the agent, its answer is written as it comes, and beside it stands what the model sees.

import * as api from "../api.js";
import { h, put, words } from "../dom.js";
import { empty, sentence, trouble } from "../parts.js";
import { seenPanel } from "../seen.js";
import { turnRow } from "../turn.js";

const BEFORE = 60;
/** Who talks where nobody is chosen and the browser is bound to nobody, as the server has it. */
const ME = "assistant/page/me";

export async function show(place, { signal, owner, who }) {
  const speaker = owner || (await who)?.owner || ME;
  if (signal.aborted) return null;
  const view = new Chat(signal, speaker);
  put(place, h("h1", { class: "visually-hidden" }, "Chat"), h("div", { class: "split chat" }, h("section", { class: "panel talk" }, view.log, view.form), view.side));
  view.recalled = view.recall();
  view.field.focus();
  return view;
}

/** A message that is sent again after a failure has the key of before, so that it is not answered twice. */
const newKey = () => [...crypto.getRandomValues(new Uint32Array(4))].map((each) => each.toString(36)).join("-");

class Chat {
  constructor(signal, owner) {
    Object.assign(this, { signal, owner, session: null, unanswered: null });
    this.log = h("div", { class: "scroll talk-log", role: "log", "aria-label": "Conversation" });
    this.side = h("section", { class: "panel side", "aria-label": "What the model sees" }, empty("What the model sees stands here, once something was said."));
    this.field = h("textarea", { rows: "2", "aria-label": "Message", placeholder: "Say something. Enter sends, Shift+Enter breaks the line.", dir: "auto", on: { keydown: (event) => this.typed(event) } });
    this.form = h("form", { class: "talk-form", on: { submit: (event) => { event.preventDefault(); this.send(); } } }, this.field, h("button", { type: "submit", class: "primary" }, "Send"));
  }

  /** What was said here before, and what the model sees of it. */
  async recall() {
    try {
      await this.before();
    } catch (error) {
      const told = trouble(error);
      if (told) put(this.log, told);
    }
  }

  async before() {
    const { items } = await api.get("sessions", { owner: this.owner, state: "open", limit: 1 }, this.signal);
    if (!items.length) return;
    [this.session] = items;
    const { items: turns } = await api.get(`sessions/${api.part(this.session.id)}/turns`, { owner: this.owner, first: Math.max(1, this.session.turns - BEFORE + 1), limit: BEFORE }, this.signal);
    put(this.log, turns.map((turn) => turnRow(turn)));
    this.log.scrollTop = this.log.scrollHeight;
    this.look();
  }

  typed(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send();
  }

  async send() {
    const text = this.field.value.trim();
    if (!text || this.running) return;
    this.running = true;
    this.field.value = "";
    await this.recalled; // what was said before comes before what is said now
    const answer = h("div", { class: "said", dir: "auto" });
    const tools = h("div", { class: "parts" });
    this.say("user", "You", h("div", { class: "said", dir: "auto" }, text));
    const row = this.say("assistant", "Assistant", tools, answer);
    row.classList.add("writing");
    if (this.unanswered?.text !== text) this.unanswered = { text, key: newKey() };
    try {
      for await (const { event, data } of api.stream("chat", { ...this.unanswered, owner: this.owner }, this.signal)) this.took(event, data, answer, tools);
      if (this.unanswered) throw new Error("The answer broke off. Send the message again: it is not asked twice");
    } catch (error) {
      const told = trouble(error);
      if (told) row.append(told);
      this.field.value ||= text;
    }
    row.classList.remove("writing");
    this.running = false;
    await this.look();
  }

  say(role, who, ...said) {
    const row = h("article", { class: `turn turn-${role}` }, h("header", {}, h("b", {}, who)), ...said);
    this.log.append(row);
    this.follow();
    return row;
  }

  took(event, data, answer, tools) {
    if (event === "text") answer.append(data.text);
    else if (event === "tool") tools.append(h("details", {}, h("summary", {}, "Tool: ", words(data.name)), h("pre", {}, JSON.stringify(data, null, 2))));
    else if (event === "error") throw new Error(sentence(data.message ?? "the answer broke off"));
    else if (event === "done") Object.assign(this, { session: { id: data.session, owner: data.owner }, unanswered: null });
    this.follow();
  }

  /** Stay at the end, unless somebody has scrolled up to read. */
  follow() {
    if (this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 200) this.log.scrollTop = this.log.scrollHeight;
  }

  async look() {
    if (!this.session) return;
    const context = await api.get(`sessions/${api.part(this.session.id)}/context`, { owner: this.session.owner }, this.signal).catch(() => null);
    if (context) put(this.side, h("div", { class: "heading" }, h("h2", {}, "What the model sees now")), seenPanel(context));
  }

  heard(event) {
    if (!this.running && this.session && (event.session === this.session.id || event.kind === "reset")) this.look();
  }
}
