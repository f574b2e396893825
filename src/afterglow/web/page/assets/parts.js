// What several views show in the same way: moments, states, empty places, errors, questions, what was done.

import { h, put, words } from "./dom.js";
import { ago, full, moment } from "./format.js";

/** A moment in the viewer's zone, with all of it in the tooltip. */
export const exactly = (iso) => (iso ? h("time", { datetime: iso, title: full(iso) }, moment(iso)) : never());
export const time = (iso) => (iso ? h("time", { datetime: iso, title: full(iso), "data-ago": "" }, ago(iso)) : never());
const never = () => h("span", { class: "faint" }, "never");

/** Time goes on: what says how long ago something was is written anew. */
export function age() {
  for (const each of document.querySelectorAll("time[data-ago]")) each.textContent = ago(each.dateTime);
}

/** A word for a state, with its colour; the word alone is enough. */
export const state = (word, tone = word) => h("span", { class: `state state-${tone}` }, word);

/** A headline over a part of a view. */
export const heading = (text, ...beside) => h("div", { class: "heading" }, h("h2", {}, text), ...beside);

/** Nothing is here: why, and what to do. */
export function empty(title, ...advice) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), ...advice.map((each) => h("p", {}, each)));
}

/** A command to type, as a part of an advice. */
export const command = (text) => h("code", {}, text);

/** What went wrong, in the server's words. */
export function trouble(error, again = null) {
  if (error.name === "AbortError") return null;
  return h("div", { class: "trouble", role: "alert" },
    h("p", {}, told(sentence(error.message))),
    again && error.name !== "Unchosen" && h("button", { type: "button", on: { click: again } }, "Try again")); // without a choice it would fail again
}

/** A sentence of the server: what stands between backticks is a command. */
export const told = (text) => h("bdi", {}, text.split("`").map((piece, place) => (place % 2 ? command(piece) : piece)));

export const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;

/** Names and values, one to a line. */
export function pairs(...rows) {
  return h("dl", { class: "pairs" }, rows.filter(Boolean).map(([name, ...value]) => [h("dt", {}, name), h("dd", {}, ...value)]));
}

let quiet = 0;

/** Say for a moment what was done, or what went wrong. */
export function tell(text, tone = "done") {
  const place = document.getElementById("told");
  put(place, h("p", { class: `told told-${tone}` }, told(text)));
  clearTimeout(quiet);
  quiet = setTimeout(() => put(place), tone === "wrong" ? 9000 : 4000);
}

/** Do it, and say how it went; null where it went wrong. */
export async function attempt(act, done = "") {
  try {
    const made = await act();
    if (done) tell(done);
    return made;
  } catch (error) {
    if (error.name === "AbortError") return null;
    tell(error.status === 401 ? "To change anything, sign in with the link that `afterglow serve` printed." : sentence(error.message), "wrong");
    return null;
  }
}

/** Ask before something that cannot be undone; whether it is wanted. */
export function confirmed(question, what, verb, besides) {
  return new Promise((answer) => {
    const box = h("dialog", { class: "box", "aria-label": question },
      h("h2", {}, question), what && h("p", { class: "quoted" }, words(what)), besides && h("p", {}, besides),
      h("div", { class: "actions" },
        h("button", { type: "button", on: { click: () => box.close("no") } }, "Keep it"),
        h("button", { type: "button", class: "danger", on: { click: () => box.close("yes") } }, verb)));
    box.addEventListener("close", () => { box.remove(); answer(box.returnValue === "yes"); });
    document.body.append(box);
    box.showModal();
  });
}

/** A choice of a few, one of them taken. */
export function segments(label, options, taken, choose) {
  const buttons = options.map(([value, text]) => h("button", {
    type: "button", "aria-pressed": String(value === taken), "data-value": value,
    on: { click: () => { mark(value); choose(value); } },
  }, text));
  const mark = (value) => buttons.forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.value === value)));
  return h("div", { class: "segments", role: "group", "aria-label": label }, buttons);
}

/** A field to search with: it asks a moment after the last key. */
export function searchField(label, value, changed) {
  let waiting = 0;
  let asked = value;
  const ask = () => {
    clearTimeout(waiting);
    const text = field.value.trim();
    if (text !== asked) changed(asked = text);
  };
  const field = h("input", {
    type: "search", class: "search", "aria-label": label, placeholder: label, value, autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
    on: {
      input: () => { clearTimeout(waiting); waiting = setTimeout(ask, 180); },
      change: ask,
    },
  });
  return field;
}

/** A text with the words that were looked for marked. */
export function marked(text, marks) {
  const pieces = [];
  let from = 0;
  for (const [start, end] of marks) {
    pieces.push(text.slice(from, start), h("mark", {}, text.slice(start, end)));
    from = end;
  }
  return h("bdi", {}, pieces, text.slice(from));
}
