// One block: its text, where it comes from and what it cost, the blocks it was made of, and the turns that it stands for.

import * as api from "./api.js";
import { h, put, words } from "./dom.js";
import { count, percent, plural, usd } from "./format.js";
import { exactly, pairs, trouble } from "./parts.js";
import { level } from "./timeline.js";
import { turnRow } from "./turn.js";

const PAGE = 50;

export class BlockPanel {
  constructor({ path, owner, signal, pick, reveal }) {
    Object.assign(this, { path, owner, signal, pick, reveal, shown: null });
  }

  async show(place, block, all, close) {
    this.shown = block.number;
    const turns = h("div", { class: "block-turns" });
    const more = h("button", { type: "button" }, `Show its ${plural(block.last_seq - block.first_seq + 1, "turn")}`);
    let next = block.first_seq;
    more.addEventListener("click", async () => { next = await this.expand(block, next, turns, more); });
    put(place,
      h("div", { class: "heading" }, h("h2", {}, h("span", { class: `swatch ${level(block.level)}` }), ` Block ${block.number}, level ${block.level}`),
        h("button", { type: "button", class: "link", on: { click: close } }, "back to what the model saw")),
      h("div", { class: "said block-text", dir: "auto" }, block.text),
      this.facts(block),
      this.children(block, all),
      h("div", { class: "actions" }, more, h("button", { type: "button", on: { click: () => this.reveal(block.first_seq) } }, `Go to turn ${count(block.first_seq)}`)),
      turns);
    place.scrollTop = 0;
  }

  facts(block) {
    return pairs(
      ["Turns", `${count(block.first_seq)}–${count(block.last_seq)}, `, exactly(block.first_at), " to ", exactly(block.last_at)],
      ["Tokens", `${count(block.span_tokens)} → ${count(block.tokens)} (${percent(block.tokens, block.span_tokens)})`],
      ["Made by", words(block.model), block.extract ? ", as a choice of sentences" : "", block.prompt !== "none" && [" with ", words(block.prompt)]],
      ["Because of", block.reason, ", ", exactly(block.created_at)],
      ["Cost", usd(block.cost_usd), block.input_tokens > 0 && ` · ${count(block.input_tokens)} in, ${count(block.output_tokens)} out`],
      ["Before the model", block.shown_until === null ? `since turn ${count(block.shown_from)}` : `from turn ${count(block.shown_from)} to ${count(block.shown_until - 1)}, then merged`],
      block.lost_count > 0 && ["Lost", `${plural(block.lost_count, "identifier")}: `, words(block.lost.join(", "))]);
  }

  children(block, all) {
    const parents = all.filter((each) => each.children.includes(block.number));
    const link = (number) => h("button", { type: "button", class: "link", on: { click: () => this.pick(number) } }, `block ${number}`);
    const listed = (title, numbers) => numbers.length > 0 && h("p", { class: "children" }, `${title} `, numbers.map((each, place) => [place > 0 && ", ", link(each)]));
    return [listed("Made of", [...block.children]), listed("Merged into", parents.map((each) => each.number))];
  }

  /** The turns behind the block, a page more with each press; where the next page begins. */
  async expand(block, first, turns, more) {
    more.disabled = true;
    try {
      const answer = await api.get(`${this.path}/blocks/${block.number}`, { owner: this.owner(), first, limit: PAGE }, this.signal);
      turns.append(...answer.items.map((turn) => turnRow(turn)));
      more.hidden = answer.next === null;
      more.disabled = false;
      put(more, "Show more of its turns");
      return answer.next;
    } catch (error) {
      const told = trouble(error);
      if (told) turns.append(told);
      more.disabled = false;
      return first;
    }
  }
}
