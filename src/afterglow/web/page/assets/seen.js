// What the model saw: how many tokens of what, and the messages themselves.

import { h, put } from "./dom.js";
import { count, percent, plural } from "./format.js";
import { level } from "./timeline.js";

const TEXT = 6000;

/** The panel of one context; `said` is how many tokens the whole session had by then, where that is known. */
export function seenPanel(context, { pick = null, said = 0 } = {}) {
  return [
    meter(context, said),
    h("ul", { class: "portions" }, context.portions.map((portion) => h("li", {},
      h("span", { class: `swatch ${tone(portion)}` }),
      portion.block && pick ? h("button", { type: "button", class: "link", on: { click: () => pick(portion.block) } }, named(portion)) : h("span", {}, named(portion)),
      h("span", { class: "figure" }, count(portion.tokens))))),
    remarks(context),
    h("ol", { class: "messages" }, context.messages.map(message)),
  ];
}

function meter(context, said) {
  const all = Math.max(1, context.portions.reduce((sum, each) => sum + each.tokens, 0));
  const label = `${plural(context.tokens, "token")} at turn ${count(context.at)}`;
  return h("div", { class: "meter" },
    h("div", { class: "meter-figures" }, h("b", {}, count(context.tokens)), ` tokens at turn ${count(context.at)}`,
      said > context.tokens && h("span", { class: "faint" }, ` · ${percent(context.tokens, said)} of ${count(said)} said`)),
    h("div", { class: "meter-bar", role: "img", "aria-label": label }, context.portions.map((portion) => h("i", { class: tone(portion), title: `${named(portion)}: ${count(portion.tokens)}`, vars: { "--share": portion.tokens / all } }))));
}

function tone(portion) {
  if (portion.level !== null) return level(portion.level);
  return portion.name === "tail" ? "tone-tail" : "tone-report";
}

function named(portion) {
  const span = portion.first_seq ? ` · turns ${count(portion.first_seq)}–${count(portion.last_seq)}` : "";
  if (portion.block) return `Block ${portion.block}, level ${portion.level}${span}`;
  return portion.name === "tail" ? `Word for word${span}` : `${portion.name}${span}`;
}

function remarks(context) {
  const found = [
    context.left_out > 0 && `${plural(context.left_out, "turn")} not shown: in no block yet, and did not fit`,
    context.put_away > 0 && `${plural(context.put_away, "turn")} of the last exchange shown shorter`,
    context.invisible > 0 && `${plural(context.invisible, "invisible character")} taken out`,
  ].filter(Boolean);
  return found.length > 0 && h("ul", { class: "remarks" }, found.map((each) => h("li", {}, each)));
}

function message(each) {
  const long = each.text.length > TEXT;
  const text = h("div", { class: "said", dir: "auto" }, long ? `${each.text.slice(0, TEXT)}…` : each.text);
  return h("li", { class: `message message-${each.seq ? each.role : "record"}` },
    h("header", {}, h("b", {}, each.seq ? each.role : "record of what came before"), each.seq > 0 && h("span", { class: "seq" }, `#${each.seq}`), h("span", { class: "figure" }, count(each.tokens))),
    text,
    each.parts.length > 0 && h("pre", {}, JSON.stringify(each.parts, null, 1).slice(0, TEXT)),
    long && h("button", { type: "button", class: "link", on: { click: (event) => { put(text, each.text); event.target.remove(); } } }, "Show all of it"));
}
