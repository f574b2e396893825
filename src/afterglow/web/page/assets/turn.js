// One turn as people read it: who, when, what; tools and what the guard took out named, not run.

import { h, words } from "./dom.js";
import { count, plural } from "./format.js";
import { exactly } from "./parts.js";

const LONG = 1200;
const WHO = { user: "User", assistant: "Assistant", tool: "Tool", system: "System" };

/** `open` says whether a long one is shown whole; `whole` gives the text of one that the list cuts. */
export function turnRow(turn, { open = false, toggle = null, chosen = null } = {}) {
  const long = turn.text.length > LONG || turn.cut;
  const text = long && !open ? `${turn.text.slice(0, LONG)}…` : turn.text;
  return h("article", { class: `turn turn-${turn.role}`, "data-seq": turn.seq },
    h("header", {},
      chosen ? h("button", { type: "button", class: "seq", title: "What the model saw at this turn", on: { click: () => chosen(turn.seq) } }, `#${turn.seq}`) : h("span", { class: "seq" }, `#${turn.seq}`),
      h("b", {}, WHO[turn.role] ?? turn.role), exactly(turn.at), notes(turn),
      h("span", { class: "turn-tokens" }, plural(turn.tokens, "token"))),
    text ? h("div", { class: "said", dir: "auto" }, text) : parts(turn) ?? h("div", { class: "said faint" }, "(nothing is left of this turn: it was forgotten, or was private)"),
    text && parts(turn),
    long && toggle && h("button", { type: "button", class: "link", on: { click: toggle } }, open ? "Show less" : `Show all (${count(turn.bytes || turn.text.length)} bytes)`));
}

function notes(turn) {
  const found = [
    turn.origin !== "person" && turn.origin !== "agent" && turn.origin,
    turn.trust === "external" && turn.role !== "tool" && "external",
    turn.trust === "other" && "somebody else",
    turn.model,
    ...Object.entries(turn.removed ?? {}).map(([kind, times]) => `${times} × ${kind} taken out`),
  ].filter(Boolean);
  return found.map((each) => h("span", { class: "note" }, words(each)));
}

function parts(turn) {
  if (!turn.parts?.length) return null;
  return h("div", { class: "parts" }, turn.parts.map((part) => h("details", {},
    h("summary", {}, words([part.type, part.name].filter(Boolean).join(": ") || "part")),
    h("pre", { dir: "auto" }, JSON.stringify(part, null, 2)))));
}

/** A place for a turn that is on its way. */
export const turnComing = (seq) => h("article", { class: "turn turn-coming", "data-seq": seq }, h("header", {}, h("span", { class: "seq" }, `#${seq}`)));
