// The frame of the page: which view is shown, the keyboard, whose memory, and what happens live.

import * as api from "./api.js";
import { h, put } from "./dom.js";
import { HELP, listen } from "./keys.js";
import { Live } from "./live.js";
import { age, attempt, command, empty, sentence, tell, trouble } from "./parts.js";
import { address, go, read } from "./router.js";
import * as theme from "./theme.js";
import * as chat from "./views/chat.js";
import * as digests from "./views/digests.js";
import * as facts from "./views/facts.js";
import * as goals from "./views/goals.js";
import * as overview from "./views/overview.js";
import * as search from "./views/search.js";
import * as session from "./views/session.js";
import * as sessions from "./views/sessions.js";

const VIEWS = { overview, sessions, session, search, facts, digests, goals, chat };
const main = document.getElementById("main");
const owner = document.getElementById("owner");
let open = { view: null, leave: null };
let who = Promise.resolve(null);
let live = null;

async function show() {
  const route = read();
  const name = route.view === "sessions" && route.name !== null ? "session" : route.view;
  if (open.name === name && open.view?.change?.(route)) return mark(route);
  open.leave?.abort();
  const leave = new AbortController();
  open = { name, view: null, leave };
  mark(route);
  try {
    if (!Object.hasOwn(VIEWS, name)) throw new Error("There is no such page; the list beside shows what there is");
    put(main);
    main.className = `view-${name}`;
    main.scrollTop = 0;
    open.view = await VIEWS[name].show(main, { route, signal: leave.signal, owner: route.query.get("owner") ?? "", who });
  } catch (error) {
    if (!leave.signal.aborted && error.name !== "AbortError") put(main, trouble(error, show));
  }
}

/** The list of pages says where one is, and every link in it stays with the same memory. */
function mark(route) {
  const whose = route.query.get("owner") ?? "";
  for (const link of document.querySelectorAll("#nav a")) {
    link.setAttribute("href", address(link.dataset.view === "overview" ? "" : link.dataset.view, null, { owner: whose }));
    link.classList.toggle("here", link.dataset.view === route.view);
    if (link.dataset.view !== route.view) link.removeAttribute("aria-current");
    else {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }
  if (whose && ![...owner.options].some((each) => each.value === whose)) owner.append(h("option", { value: whose }, whose));
  owner.value = whose;
  document.title = `${route.name ?? document.querySelector("#nav a.here")?.firstChild.textContent ?? "Afterglow"} · Afterglow`;
}

owner.addEventListener("change", () => {
  const route = read();
  const query = { ...Object.fromEntries(route.query), owner: owner.value };
  go(route.view === "overview" ? "" : route.view, null, route.name === null ? query : { owner: owner.value });
});

async function listOwners() {
  const { items } = await api.get("owners", { limit: 1000 });
  const known = new Set([...owner.options].map((each) => each.value));
  owner.append(...items.filter((each) => !known.has(each.id)).map((each) => h("option", { value: each.id }, each.id)));
}

function single(key, event) {
  if (document.querySelector("dialog[open]")) return false;
  if (key === "?") return help();
  if (key === "t") return tell(`Colours: ${theme.next()}`) ?? true;
  if (key === "/") return find();
  if (key === "Escape" && !open.view?.key?.(key, event)) return read().name !== null && (history.back() ?? true);
  if (key === "j" || key === "k") return open.view?.rows ? (open.view.rows.step(key === "j" ? 1 : -1) ?? true) : false;
  return open.view?.key?.(key, event) ?? false;
}

function find() {
  const field = main.querySelector("input[type=search]");
  if (!field) return go("search", null, { owner: owner.value }) ?? true;
  field.focus();
  field.select();
  return true;
}

function jump(letter) {
  const link = document.querySelector(`#nav a[data-key="${CSS.escape(letter)}"]:not([hidden])`);
  if (link) location.hash = link.getAttribute("href");
  return Boolean(link);
}

function help() {
  const box = h("dialog", { class: "box", "aria-label": "Keyboard" }, h("h2", {}, "Keyboard"),
    h("dl", { class: "keys" }, HELP.map(([keys, does]) => [h("dt", {}, keys.split(/\s+/).map((each) => h("kbd", {}, each))), h("dd", {}, does)])),
    h("div", { class: "actions" },
      api.session?.csrf && h("button", { type: "button", on: { click: () => { box.close(); leave(); } } }, "Sign out"),
      h("button", { type: "button", on: { click: () => box.close() } }, "Close")));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return true;
}

async function leave() {
  if ((await attempt(api.signOut)) !== null) signedOut();
}

/** After the first paint: who there is, and what happens on the server. */
function settle(signedIn) {
  const place = document.getElementById("live");
  const say = (on) => { place.textContent = on ? "live" : "not live"; place.classList.toggle("on", on); };
  listOwners().catch(() => {});
  live ??= new Live((event) => open.view?.heard?.(event), say);
  if (signedIn) live.anew();
  live.look();
}

/** Nobody is signed in: how to. */
function signedOut() {
  open.leave?.abort();
  open = { name: null, view: null, leave: null };
  main.className = "view-signedout";
  put(main, empty("You are not signed in.", ["Open the link that ", command("afterglow serve"), " printed when it started. It works once."],
    ["For another one, on the machine where it runs: ", command("afterglow token link")]));
}

/** A link that signs in carries its code behind the #, which is sent to no server and is taken away at once. */
async function start() {
  const code = /^#signin=(.+)$/.exec(location.hash)?.[1];
  if (code) history.replaceState(null, "", "#/");
  who = api.signIn(code).catch((error) => { if (code) tell(sentence(error.message), "wrong"); return null; });
  if (code) await who;
  show();
  (window.requestIdleCallback ?? setTimeout)(() => settle(Boolean(code)));
}

document.getElementById("help").addEventListener("click", help);
document.getElementById("theme").addEventListener("click", theme.next);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("signedout", signedOut);
addEventListener("hashchange", () => (/^#signin=/.test(location.hash) ? start() : show()));
listen(single, jump);
theme.apply();
setInterval(age, 30_000);
start();
