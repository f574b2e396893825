// One fact: what it says, the turns around the words that prove it, and what its owner can do with it.

import * as api from "./api.js";
import { h, put, words } from "./dom.js";
import { attempt, confirmed, exactly, heading, pairs, sentence, state, trouble } from "./parts.js";
import { address } from "./router.js";
import { turnRow } from "./turn.js";

export class FactPanel {
  constructor({ place, signal, changed, close }) {
    Object.assign(this, { place, signal, changed, close });
  }

  async show(id, owner) {
    const path = `facts/${api.part(id)}`;
    try {
      const fact = await api.get(path, { owner }, this.signal);
      this.draw(fact);
      if (fact.status === "forgotten") return;
      const proofs = await api.get(`${path}/proofs`, { owner: fact.owner }, this.signal);
      put(this.proofs, proofs.items.map((each, place) => proof(each, place === 0)));
    } catch (error) {
      const told = trouble(error, () => this.show(id, owner));
      if (told) put(this.place, told);
    }
  }

  draw(fact) {
    this.fact = fact;
    this.proofs = h("div", { class: "proofs" }, h("p", { class: "faint" }, "…"));
    this.statement = h("p", { class: "statement", dir: "auto" }, fact.content || "(forgotten)");
    const forgotten = fact.status === "forgotten";
    put(this.place,
      h("div", { class: "heading" }, h("h2", {}, fact.type.replace("_", " ")), state(fact.status, { active: "good", pending: "idle" }[fact.status] ?? "closed"),
        h("button", { type: "button", class: "link only-narrow", on: { click: this.close } }, "back to the list")),
      this.statement,
      fact.status === "pending" && fact.why && h("p", { class: "warning" }, "It waits for you: ", words(sentence(fact.why))),
      !forgotten && h("div", { class: "actions" }, this.actions(fact)),
      pairs(
        ["Said on", fact.source_date], ["Whose word", fact.trust], ["Confidence", fact.confidence], ["Came in", fact.way, ", ", exactly(fact.extracted_at)],
        ["Found by", words(fact.model)], ["Memory of", words(fact.owner, { class: "mono" })],
        fact.supersedes && ["Takes the place of", h("a", { href: address("facts", fact.supersedes, { owner: fact.owner, status: "superseded" }) }, "an earlier fact")],
        fact.superseded_by && ["Gave way to", h("a", { href: address("facts", fact.superseded_by.id, { owner: fact.superseded_by.owner, status: fact.superseded_by.status }) }, words(fact.superseded_by.content))]),
      !forgotten && [heading("Proof"), this.proofs]);
    this.place.scrollTop = 0;
  }

  actions(fact) {
    const button = (text, act, tone) => h("button", { type: "button", class: tone, on: { click: act } }, text);
    return [
      fact.status === "pending" && button("Approve", () => this.act("approve", "It is believed from now on."), "primary"),
      fact.status === "pending" && button("Reject", () => this.act("reject", "It is rejected, and does not come back.")),
      ["active", "pending"].includes(fact.status) && button("Edit", () => this.edit()),
      button("Forget…", () => this.forget(), "danger"),
    ];
  }

  async act(verb, done) {
    const { id, owner } = this.fact;
    const made = await attempt(() => api.post(`facts/${api.part(id)}/${verb}`, {}, { owner }), done);
    if (made) await this.took(made.fact ?? made, id);
  }

  async took(made, from) {
    this.changed(made, from);
    await this.show(made.id, made.owner);
  }

  async forget() {
    const took = this.fact.status === "active" && this.fact.supersedes;
    const returns = took && "The earlier fact that it took the place of counts again, unless another has taken that place since.";
    if (await confirmed("Forget this fact?", this.fact.content, "Forget it", returns)) await this.act("forget", "It is forgotten, and does not come back.");
  }

  edit() {
    const field = h("textarea", { rows: "3", maxlength: "500", dir: "auto", "aria-label": "What is true", value: this.fact.content });
    const save = async () => {
      const { id, owner } = this.fact;
      const made = await attempt(() => api.patch(`facts/${api.part(id)}`, { content: field.value }, { owner }), "It is changed; the earlier wording stays readable.");
      if (made) await this.took(made, id);
    };
    const form = h("form", { class: "edit", on: { submit: (event) => { event.preventDefault(); save(); } } }, field,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Save"), h("button", { type: "button", on: { click: () => this.show(this.fact.id, this.fact.owner) } }, "Cancel")));
    this.statement.replaceWith(form);
    field.focus();
  }
}

/** The words that prove a fact, marked in the turn that holds them, with the turns around it. */
function proof({ evidence, turns }, open) {
  return h("section", { class: "proof" },
    h("blockquote", { dir: "auto" }, evidence.quote),
    h("p", { class: "faint" }, exactly(evidence.at), !evidence.proves && " · says the same in other words", " · ",
      h("a", { href: address("sessions", evidence.session, { owner: turns[0]?.owner, turn: evidence.seq }) }, "in its session")),
    h("details", { open }, h("summary", {}, "The turns around it"), turns.map((turn) => {
      const row = turnRow(turn);
      row.classList.toggle("marked", turn.seq === evidence.seq);
      return row;
    })));
}
